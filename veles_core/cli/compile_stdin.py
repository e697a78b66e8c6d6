"""``veles-memory compile-stdin``: the context compiler as a filter, without a memory.

Starts fast enough to run in a hook on every tool call: it imports the compiler and the
built-in tokenizer, and nothing else.
"""

import json
import sys
from dataclasses import asdict
from typing import Final

import click

from veles_core.builtin.heuristic_tokenizer import HeuristicTokenizer
from veles_core.context.compile import compile_transcript
from veles_core.context.model import TranscriptRequest
from veles_core.errors import InvalidInput
from veles_core.limits import MAX_TRANSCRIPT_BYTES

DEFAULT_BUDGET: Final = 4000
UNKEPT: Final = ("sources", "retrieval_handles")  # they lead to a memory that there is none of


@click.command()
@click.option("--budget", default=DEFAULT_BUDGET, show_default=True, help="Tokens at most.")
@click.option("--query", default="", help="What the reader is working on.")
def command(budget: int, query: str) -> None:
    """Compile the text on standard input into at most --budget tokens.

    Prints one JSON object: content, sections, decisions, insights, risk, warnings. An
    empty compilation is an error: use the original then, and also where risk is high.
    """
    text = _input()
    request = TranscriptRequest(query=query, token_budget=budget, transcript=text)
    context = compile_transcript(request, HeuristicTokenizer()).compilation.context
    if not context.content.strip():
        raise InvalidInput(f"nothing of the input fits a budget of {budget} tokens")
    answer = {key: value for key, value in asdict(context).items() if key not in UNKEPT}
    click.echo(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def _input() -> str:
    data = sys.stdin.buffer.read(MAX_TRANSCRIPT_BYTES + 1)
    if len(data) > MAX_TRANSCRIPT_BYTES:
        raise InvalidInput(f"the input is over {MAX_TRANSCRIPT_BYTES} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the input is not UTF-8 text (byte {error.start})") from None
    if not text.strip():
        raise InvalidInput("the input is empty")
    return text
