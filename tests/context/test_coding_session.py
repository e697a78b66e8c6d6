"""A coding session of twelve turns: what compression must not lose, and what it must save."""

from pathlib import Path

from veles_core.builtin.heuristic_tokenizer import HeuristicTokenizer
from veles_core.context.compile import compile_transcript
from veles_core.context.model import TranscriptRequest

DATA = Path(__file__).parents[2] / "benchmarks/data"


def test_the_session_shrinks_and_what_must_survive_does():
    transcript = (DATA / "coding_session.txt").read_text("utf-8")
    must_survive = (DATA / "coding_session_must_survive.txt").read_text("utf-8").splitlines()
    request = TranscriptRequest("vans over capacity after a release", 8000, transcript)
    done = compile_transcript(request, HeuristicTokenizer())
    context = done.compilation.context
    assert len({segment.turn for segment in done.segmentation.segments}) == 12
    assert [line for line in must_survive if line not in context.content] == []
    assert context.insights.tokens_saved >= 0.825 * context.insights.tokens_in
    assert context.risk == "medium"
