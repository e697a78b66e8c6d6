"""Insights: what the compilation saved, by rule and in money."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from veles_core.context.item import Item
from veles_core.context.model import Decision, Insights, Pricing
from veles_core.context.render import Piece

_MILLION: Final = 1_000_000


def insights(
    items: Sequence[Item],
    decisions: Sequence[Decision],
    pieces: Mapping[int, Piece],
    tokens_out: int,
    pricing: Pricing | None,
    model: str | None,
) -> Insights:
    """Tokens before and after, each saved one credited to one rule, and their price."""
    tokens_in = sum(item.tokens for item in items)
    saved = max(0, tokens_in - tokens_out)
    credit: Counter[str] = Counter()
    for item, decision in zip(items, decisions, strict=True):
        piece = pieces.get(item.place)
        credit[decision.rule_id] += item.tokens - (piece.tokens if piece else 0)
    by_rule = share_out(saved, +credit or Counter(each.rule_id for each in decisions))
    price = pricing.models.get(model) if pricing and model is not None else None
    if pricing is None or price is None:
        return Insights(tokens_in, tokens_out, saved, by_rule)
    cost = saved * price.input_micros_per_million_tokens // _MILLION
    return Insights(tokens_in, tokens_out, saved, by_rule, cost, pricing.currency, pricing.version)


def share_out(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """``total`` split in proportion to the weights, in whole numbers that sum to it.

    Joiners make the whole cost other than its parts, so what the rules saved one by one
    doesn't add up to what was saved. Remainders go to the largest fractions, then by name;
    shares of nothing are left out.
    """
    if not total:
        return {}
    whole = sum(weights.values())
    parts = {name: divmod(total * weight, whole) for name, weight in weights.items()}
    left = total - sum(share for share, _ in parts.values())
    by_fraction = sorted(parts, key=lambda name: (-parts[name][1], name))
    lucky = frozenset(by_fraction[:left])
    shares = {name: parts[name][0] + (name in lucky) for name in sorted(parts)}
    return {name: share for name, share in shares.items() if share}
