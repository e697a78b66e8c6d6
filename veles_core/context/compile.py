"""The compiler: validate, examine, dedupe, pack, decide, render."""

from collections.abc import Sequence
from dataclasses import replace

from veles_core import ids
from veles_core.context import decide as deciding
from veles_core.context.dedupe import duplicates, superseded_screenshots
from veles_core.context.insights import insights
from veles_core.context.item import examine
from veles_core.context.model import (
    Compilation,
    CompiledContext,
    CompileRequest,
    Decision,
    PulledMemory,
    TranscriptCompilation,
    TranscriptRequest,
)
from veles_core.context.pack import pack
from veles_core.context.render import sections
from veles_core.context.segment import segment
from veles_core.context.validate import (
    check_no_paths,
    check_request,
    check_transcript,
    usable_budget,
)
from veles_core.errors import InvalidInput, NotFound
from veles_core.protocols import Tokenizer


def compile_context(
    request: CompileRequest, tokenizer: Tokenizer, pulled: Sequence[PulledMemory] = ()
) -> Compilation:
    """Compile fragments and pulled memories into at most ``token_budget`` tokens.

    Raises InvalidInput or ContextOverLimit if the request is refused.
    """
    check_request(request)
    check_no_paths(request)
    return _compile(request, tokenizer, pulled)


def compile_transcript(request: TranscriptRequest, tokenizer: Tokenizer) -> TranscriptCompilation:
    """Cut a session transcript into turns and segments, and compile those.

    Raises InvalidInput or ContextOverLimit if the request is refused.
    """
    transcript = check_transcript(request)
    fragments, segmentation = segment(transcript, request.segmentation)
    policy = request.policy
    if policy.normalize_log_timestamps is None:
        policy = replace(policy, normalize_log_timestamps=True)
    compilation = _compile(
        CompileRequest(
            query=request.query,
            fragments=fragments,
            token_budget=request.token_budget,
            project=request.project,
            target_model=request.target_model,
            policy=policy,
        ),
        tokenizer,
        (),
    )
    return TranscriptCompilation(compilation, segmentation)


def explain(
    request: CompileRequest,
    tokenizer: Tokenizer,
    pulled: Sequence[PulledMemory] = (),
    *,
    fragment_id: int | str | None = None,
    fragment_index: int | None = None,
) -> Decision:
    """The decision on one fragment of a compilation, found by its index or else by its id.

    An id that several fragments share finds the one that was not dropped. Raises
    InvalidInput for an index out of range, NotFound for an id that no fragment has.
    """
    if fragment_index is not None and not 0 <= fragment_index < len(request.fragments):
        raise InvalidInput(
            f"fragment_index {fragment_index} is out of range: the request has "
            f"{len(request.fragments)} fragments, counted from 0",
            field="fragment_index",
            limit=len(request.fragments) - 1,
            actual=fragment_index,
        )
    wanted = None if fragment_index is not None else ids.parse_id(fragment_id, "fragment_id")
    whole = replace(request, policy=replace(request.policy, slim_response=False))
    decisions = compile_context(whole, tokenizer, pulled).context.decisions
    if fragment_index is not None:
        return decisions[fragment_index]
    found = [each for each in decisions if each.fragment_id == wanted]
    if not found:
        raise NotFound(
            f"fragment_id {wanted} is not in this request: relay one that its compilation "
            "answered, or give fragment_index",
            field="fragment_id",
            actual=str(wanted),
        )
    return next((each for each in found if each.action != "drop"), found[0])


def _compile(
    request: CompileRequest, tokenizer: Tokenizer, pulled: Sequence[PulledMemory]
) -> Compilation:
    policy = request.policy
    items = examine(request, pulled, tokenizer)
    superseded = frozenset(superseded_screenshots(items))
    current = [item for item in items if item.place not in superseded]
    twins = duplicates(current, policy.near_dup_dedup)
    distinct = [item for item in current if item.place not in twins]
    pieces, tokens = pack(distinct, usable_budget(request), policy.chunk, tokenizer)
    outcome = deciding.Outcome(pieces, twins, superseded)
    decisions = tuple(deciding.decide(item, items, outcome) for item in items)
    refs, stored = deciding.sources(items)
    parts = sections(distinct, pieces)
    context = CompiledContext(
        content="".join(part.content for part in parts),
        sections=() if policy.slim_response else parts,
        decisions=() if policy.slim_response else decisions,
        sources=refs,
        retrieval_handles=deciding.retrieval_handles(items, outcome),
        insights=insights(items, decisions, pieces, tokens, policy.pricing, request.target_model),
        risk=deciding.overall_risk(decisions),
        warnings=deciding.warnings(decisions),
    )
    return Compilation(context, stored)
