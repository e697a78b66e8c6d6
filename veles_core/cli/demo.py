"""``veles-memory demo``: the main job, for real, in a minute's reading.

Starts the server as a client would, as a process over standard input and output, in a
temporary directory, and drives it with the MCP library's own client.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from mcp.client import Client

QUESTION: Final = "why does recall use pairs of characters for Chinese text"
WHY: Final = "We chose apsw as the database driver"
PASSAGE: Final = """
fact: The nightly export failed twice in March | export job
edge: export job | writes to | archive bucket
edge: archive bucket | is owned by | platform team
attr: archive bucket | region | "north"
fact: Credentials of the platform team are rotated by hand | platform team
"""
SYMPTOM: Final = "the nightly export failed"
SERVER: Final = ("-m", "veles_core.cli", "serve")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a log: a fact with its date, and links to other lines by key."""

    key: str
    date: int
    text: str
    links: tuple[tuple[str, str], ...] = ()


@click.command()
@click.option(
    "--locomo",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Load a LoCoMo conversation (a JSON file of that data set) instead of the built-in log.",
)
def command(locomo: Path | None) -> None:
    """Load a real log into a real server and show what recall, why and feedback do."""
    entries = conversation(locomo) if locomo else decisions()
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_drive(Path(directory), entries, told=locomo is None))


def decisions() -> list[Entry]:
    """The project's own decision log, causes before the decisions that point at them."""
    text = files("veles_core.cli").joinpath("decisions.txt").read_text(encoding="utf-8")
    found: dict[str, Entry] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, date, fact, *rest = (part.strip() for part in line.split("|"))
        pairs = [link.split(">") for link in (rest[0] if rest else "").split(", ") if link]
        found[key] = Entry(key, int(date), fact, tuple((rel, to) for rel, to in pairs))
    return list(found.values())


def conversation(path: Path) -> list[Entry]:
    """The turns of a LoCoMo conversation, each linked to the turn it replies to."""
    data = json.loads(path.read_text(encoding="utf-8"))
    entries: list[Entry] = []
    for number in range(1, 100):
        turns = data.get(f"session_{number}", ())
        when = data.get(f"session_{number}_date_time")
        day = datetime.strptime(when.split(" on ")[1], "%d %B, %Y") if when else None
        date = int(day.strftime("%Y%m%d")) if day else 0
        earlier: Entry | None = None
        for turn in turns:
            links = (("replies_to", earlier.key),) if earlier else ()
            text = f"{turn['speaker']}: {turn['text']}"
            earlier = Entry(turn["dia_id"], date, text, links)
            entries.append(earlier)
    return entries


async def _drive(directory: Path, entries: Sequence[Entry], told: bool) -> None:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    environment = {"VELESDB_MEMORY_PATH": str(directory / "memory")}
    server = StdioServerParameters(command=sys.executable, args=list(SERVER), env=environment)
    async with Client(stdio_client(server)) as client:
        _title("A memory server, started as a client starts it")
        names = [tool.name for tool in (await client.list_tools()).tools]
        click.echo(f"  {len(names)} tools: {', '.join(names)}")
        await _load(client, entries)
        if told:
            await _tell(client)
        else:
            await _ask(client, entries)
    _title("Everything remembered is yours: an export, read after the server has gone")
    await _export(directory, environment)


async def _load(client: "Client", entries: Sequence[Entry]) -> None:
    ids: dict[str, str] = {}
    for entry in _targets_first(entries):
        links = [{"target": ids[to], "relation": rel} for rel, to in entry.links if to in ids]
        answer = await _call(
            client,
            "remember",
            fact=entry.text[:2000],
            links=links,
            metadata={"source": entry.key} | ({"_veles_date": entry.date} if entry.date else {}),
        )
        ids[entry.key] = answer["id_str"]
    size = (await _call(client, "memory_status"))["memory"]
    click.echo(f"  remembered {size['facts']} facts with {size['edges']} typed links")


async def _tell(client: "Client") -> None:
    _title(f"recall: {WHY!r}, five best")
    best = (await _call(client, "recall", query=WHY, k=5))["memories"]
    _memories(best)
    trail = await _call(client, "why", decision=WHY, max_hops=3)
    _title("why: the same words, three hops along the links")
    _trail(trail)
    seen = {memory["id_str"] for memory in best}
    missed = [node for node in trail["nodes"] if node["id_str"] not in seen]
    click.echo(
        f"  {len(missed)} of these recall did not find: they share no words with the question"
    )

    _title("feedback: a fact that helped moves up")
    query = "which index is used for search"
    before = (await _call(client, "recall", query=query, k=10))["memories"]
    chosen = before[4]
    for _ in range(3):
        result = await _call(client, "feedback", id=chosen["id_str"], success=True)
    after = (await _call(client, "recall", query=query, k=10))["memories"]
    places = [
        [m["id_str"] for m in answer].index(chosen["id_str"]) + 1 for answer in (before, after)
    ]
    click.echo(f"  “{chosen['content']}”")
    click.echo(f"  place {places[0]} → {places[1]}, confidence 0.5 → {result['confidence']}")

    _title("recall_fused: a dated timeline of what a question and its links reach")
    fused = await _call(client, "recall_fused", query=QUESTION, k=6, date_field="_veles_date")
    click.echo(_indented(fused["dated_context"]))

    _title(f"the graph from text: {SYMPTOM!r} leads to what shares no word with it")
    receipt = await _call(client, "remember_extracted", text=PASSAGE, extractor="outline")
    await _committed(client, receipt["request_id"])
    _trail(await _call(client, "why", decision=SYMPTOM, max_hops=4))

    _title("recall_where: only what was decided on one day")
    day = [{"field": "_veles_date", "op": "eq", "value": 20261130}]
    found = await _call(client, "recall_where", query="durable memory", filters=day, k=3)
    _memories(found["memories"])


async def _committed(client: "Client", request_id: str) -> None:
    """Poll a receipt, as a client does, until its passage is stored."""
    while True:
        job = await _call(client, "extraction_status", request_id=request_id)
        if job["state"] == "committed":
            return
        if job["state"] == "failed":
            raise click.ClickException(f"the extraction failed: {job['error']}")
        await asyncio.sleep(0.05)


async def _ask(client: "Client", entries: Sequence[Entry]) -> None:
    question = max(entries[: len(entries) // 2], key=lambda entry: entry.text.count("?")).text
    _title(f"recall: {question[:90]!r}")
    _memories((await _call(client, "recall", query=question, k=5))["memories"])
    _title("why: the turns it replied to")
    _trail(await _call(client, "why", decision=question, max_hops=3))


async def _export(directory: Path, environment: dict[str, str]) -> None:
    output = directory / "memories.jsonl"
    arguments = [*SERVER[:2], "export", "--output", str(output)]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, env=environment)
    if await process.wait() != 0:
        raise click.ClickException("the export failed")
    lines = output.read_text(encoding="utf-8").splitlines()
    click.echo(_indented("\n".join(line[:110] for line in (lines[0], lines[-1]))))


async def _call(client: "Client", tool: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = (await client.call_tool(tool, arguments)).structured_content
    return answer


def _targets_first(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Each entry after those it links to, otherwise in the order given."""
    by_key = {entry.key: entry for entry in entries}
    done: set[str] = set()

    def visit(entry: Entry) -> Iterator[Entry]:
        if entry.key in done:
            return
        done.add(entry.key)
        for _, target in entry.links:
            yield from visit(by_key[target])
        yield entry

    for entry in entries:
        yield from visit(entry)


def _title(text: str) -> None:
    click.echo(f"\n{text}")


def _memories(memories: Sequence[dict[str, Any]]) -> None:
    for place, memory in enumerate(memories, start=1):
        click.echo(f"  {place}. [{memory['score']:.2f}] {memory['content'][:110]}")


def _trail(trail: dict[str, Any]) -> None:
    leading = {edge["to_str"]: edge["relation"] for edge in trail["edges"]}
    for node in trail["nodes"]:
        arrow = f"{leading[node['id_str']]} → " if node["hop"] else ""
        click.echo(f"  {'   ' * node['hop']}{arrow}{node['content'][:110]}")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
