"""Ids: one space a kind, unsigned 64 bits, strict on the way in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core import ids
from veles_core.errors import InvalidInput
from veles_core.limits import MAX_ID

texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(texts)
def test_composed_and_decomposed_text_is_one_memory(text: str) -> None:
    assert ids.fact_id(unicodedata.normalize("NFD", text)) == ids.fact_id(
        unicodedata.normalize("NFC", text)
    )


@given(texts)
def test_ids_fit_64_unsigned_bits(text: str) -> None:
    for id in (ids.fact_id(text), ids.entity_id(text), ids.source_id(text.encode())):
        assert 0 <= id <= MAX_ID


def test_inner_whitespace_and_case_count_but_the_edges_do_not() -> None:
    assert ids.fact_id(" a b ") == ids.fact_id("a b")
    assert len({ids.fact_id("a b"), ids.fact_id("a  b"), ids.fact_id("A b")}) == 3


def test_one_text_has_another_id_in_every_space() -> None:
    text = "edge gateway"
    spaces = {ids.fact_id(text), ids.entity_id(text), ids.source_id(text.encode())}
    assert len(spaces) == 3


def test_ids_are_fixed_for_all_time() -> None:
    assert ids.fact_id("we chose parking_lot to avoid lock poisoning") == 171580055282215716
    assert ids.entity_id("Theo Durand") == 2400913353272052173


@pytest.mark.parametrize("name", ["EDGE Gateway", " edge   gateway ", "ＥＤＧＥ gateway"])
def test_an_entity_is_one_whatever_its_case_width_and_spacing(name: str) -> None:
    assert ids.entity_id(name) == ids.entity_id("edge gateway")


def test_an_edge_is_told_by_its_direction_and_trimmed_relation() -> None:
    assert ids.edge_id(1, " see ", 2) == ids.edge_id(1, "see", 2)
    assert ids.edge_id(1, "see", 2) != ids.edge_id(2, "see", 1)


def test_a_working_context_is_told_by_the_pair_not_by_its_joining() -> None:
    assert ids.working_id("p\x1fq", "r") != ids.working_id("p", "q\x1fr")


@given(st.integers(0, MAX_ID))
def test_an_id_is_read_from_both_its_forms(id: int) -> None:
    assert ids.parse_id(id, "id") == ids.parse_id(f" {id} ", "id") == id


@pytest.mark.parametrize(
    "value",
    [1.8446744e19, 6.0, True, None, [], {}, "", "-1", "+5", "1e3", "0x1f", "١٢", "1 2", -1, 2**64,
     "18446744073709551616", "9" * 5000],
)  # fmt: skip
def test_anything_else_is_no_id(value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        ids.parse_id(value, "target")
    assert caught.value.field == "target"
    assert len(caught.value.message) < 300
