"""``make bench`` runs what there is, and what it measures with is the same every time."""

import ast
from collections import Counter
from pathlib import Path

from benchmarks import corpus
from benchmarks.__main__ import OTHERS, SCRIPTS
from veles_core.ids import fact_id
from veles_core.memory.transfer import read_items
from veles_core.records import Edge, Fact

FOLDER = Path(corpus.__file__).parent


def defines_main(file: Path) -> bool:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.If) and "__name__" in ast.dump(node) for node in tree.body)


def test_every_script_is_run_or_named_as_another() -> None:
    scripts = {file.stem for file in FOLDER.glob("*.py") if defines_main(file)} - {"__main__"}
    assert scripts == {script.name for script in SCRIPTS} | set(OTHERS)


def test_a_corpus_is_the_beginning_of_a_larger_one() -> None:
    some = list(corpus.entries(200))
    assert list(corpus.entries(50, first=150)) == some[150:]
    assert len({each.text for each in some}) == 200
    assert all(target < each.number for each in some for target, _ in each.links)
    assert fact_id(some[7].text) == 17470815753752833733
    assert corpus.question(7) == "what do we know about customer gudatuka only crash zebigibi"


def test_words_follow_zipfs_law_roughly() -> None:
    words = Counter(word for each in corpus.entries(500) for word in each.text[:-1].lower().split())
    counts = [count for _, count in words.most_common()]
    assert counts[0] > 8 * counts[20]
    assert sum(count == 1 for count in counts) > len(counts) / 2


def test_its_export_can_be_imported() -> None:
    some = list(corpus.entries(100))
    ids = {each.number: fact_id(each.text) for each in some}
    items = [item for _, item in read_items(corpus.export_lines(some, ids))]
    facts = [item for item in items if isinstance(item, Fact)]
    assert [fact.content for fact in facts] == [each.text for each in some]
    assert sum(isinstance(item, Edge) for item in items) == sum(len(each.links) for each in some)
