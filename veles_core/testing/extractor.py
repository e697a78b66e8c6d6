"""What an extractor promises: records in the passage's order, and typed refusals."""

import json

import pytest

from veles_core.errors import InvalidInput
from veles_core.protocols import Extractor
from veles_core.records import Extraction


class ExtractorContract:
    """Every promise of ``veles_core.protocols.Extractor``.

    Subclass it and give ``extractor``, ``passage`` and ``found``; ``malformed`` too if the
    extractor reads a syntax of its own.
    """

    @pytest.fixture
    def extractor(self) -> Extractor:
        """The extractor, open."""
        raise NotImplementedError("give an extractor fixture")

    @pytest.fixture
    def passage(self) -> str:
        """A text in which there are facts, relations and attributes."""
        raise NotImplementedError("give a passage fixture")

    @pytest.fixture
    def found(self) -> Extraction:
        """All that is in the passage."""
        raise NotImplementedError("give a found fixture: what the passage holds")

    @pytest.fixture
    def malformed(self) -> str | None:
        """A text that the extractor must refuse; None if it takes any."""
        return None

    def test_everything_is_found_in_order(
        self, extractor: Extractor, passage: str, found: Extraction
    ) -> None:
        assert extractor.extract(passage) == found

    def test_what_is_found_is_text_and_json(self, extractor: Extractor, passage: str) -> None:
        extraction = extractor.extract(passage)
        texts = [
            *(text for fact in extraction.facts for text in (fact.content, *fact.topics)),
            *(t for r in extraction.relations for t in (r.subject, r.predicate, r.object)),
            *(text for a in extraction.attributes for text in (a.entity, a.key)),
        ]
        assert texts
        assert [text for text in texts if not text or text != text.strip()] == []
        for attribute in extraction.attributes:
            json.dumps(attribute.value, allow_nan=False)

    def test_the_records_can_be_kept_and_compared(self, extractor: Extractor, passage: str) -> None:
        hash(extractor.extract(passage).facts)
        assert extractor.extract(passage) == extractor.extract(passage)

    def test_a_malformed_text_is_refused(self, extractor: Extractor, malformed: str | None) -> None:
        if malformed is None:
            return
        with pytest.raises(InvalidInput) as refusal:
            extractor.extract(malformed)
        assert refusal.value.message

    def test_it_can_be_closed(self, extractor: Extractor) -> None:
        extractor.close()
