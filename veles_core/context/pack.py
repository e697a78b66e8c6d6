"""Packing: what of each item goes into the budget.

Costs are first added up from parts that were counted alone, which is cheap but for a real
tokenizer only nearly right. So the assembled whole is counted as well: what that leaves
is filled once more, and if it is too much, the last steps are taken back.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from veles_core.context.chunk import Chunk, ceiling, chunks, ends_inside
from veles_core.context.item import Item
from veles_core.context.logs import Log
from veles_core.context.model import ChunkPolicy
from veles_core.context.render import JOINER, Piece, assemble
from veles_core.context.search import last_end_within, most_within
from veles_core.protocols import Tokenizer

_NOTHING: Final = Piece("", 0, False)
_GOOD_ENOUGH: Final = 100  # a hundredth of the budget may stay empty
_HOPELESS: Final = 2  # what would take this many times the room in proportion isn't even counted


def pack(
    items: Sequence[Item], usable: int, policy: ChunkPolicy, tokenizer: Tokenizer
) -> tuple[dict[int, Piece], int]:
    """The pieces that fit into ``usable`` tokens, by item index, and the tokens they take.

    The stable prefix is packed first, as if it were alone, so that no other item can
    change it. Of the rest, critical items come first, then by priority, relevance and
    input order.
    """
    bin_ = _Bin(items, usable, policy, tokenizer)
    cached = [item for item in items if item.cached]
    others = [item for item in items if not item.cached]
    bin_.fill(sorted(cached, key=lambda item: -item.priority))
    bin_.fill(sorted(others, key=lambda item: (not item.critical, -item.priority, -item.weight)))
    return bin_.pieces, bin_.tokens


class _Head:
    """How far a text has been packed, chunk by chunk from its start."""

    def __init__(self, ahead: Iterator[Chunk]) -> None:
        self._ahead = ahead
        self.next = next(ahead, None)
        self.cost: int | None = None  # of the next chunk, once it has been counted
        self.part = 0  # the tokens of it that have been packed already
        self.end = 0  # where the chunks before it end

    def advance(self) -> None:
        assert self.next is not None
        self.end = self.next.end
        self.next, self.cost, self.part = next(self._ahead, None), None, 0


class _Bin:
    def __init__(
        self, items: Sequence[Item], usable: int, policy: ChunkPolicy, tokenizer: Tokenizer
    ) -> None:
        self.pieces: dict[int, Piece] = {}
        self.tokens = 0  # of the assembled whole
        self._items = items
        self._usable = usable
        self._tokenizer = tokenizer
        self._most = ceiling(policy, usable)
        self._boundary = policy.boundary
        self._joiner = tokenizer.count(JOINER)
        self._heads: dict[int, _Head] = {}
        self._steps: list[tuple[int, Piece | None]] = []  # which piece each step replaced

    def fill(self, order: Sequence[Item]) -> None:
        """Pack items in this order into the room there is, and never more than that."""
        self._steps.clear()
        nearly = self._usable - self._usable // _GOOD_ENOUGH
        while self._pack_more(order) and self.tokens < nearly:
            pass  # the whole costs less than its parts: there is room for more
        while self.tokens > self._usable and self._steps:
            self._take_back(self.tokens - self._usable)
            self._measure()

    def _pack_more(self, order: Sequence[Item]) -> bool:
        """Fill the room with whole chunks, then with sentences; whether anything was packed."""
        packed = len(self._steps)
        room = self._offer(order, self._take, self._usable - self.tokens)
        self._offer(order, self._refine, room)
        if len(self._steps) == packed:
            return False
        self._measure()
        return True

    def _offer(self, order: Sequence[Item], put: Callable[[Item, int], int], room: int) -> int:
        """Offer each item in turn what room is left; the room that is left at the end."""
        first = not any(piece.text for piece in self.pieces.values())
        for item in order:
            if self._is_whole(item) or (room <= 0 and item.data):
                continue
            joins = item.mime is None and not first and item.place not in self.pieces
            joiner = self._joiner if joins else 0
            spent = put(item, room - joiner)
            if spent:
                room -= joiner + spent
                first = first and item.mime is not None
        return room

    def _take(self, item: Item, room: int) -> int:
        """Pack all of an item, or of its log or text as much as fits; the tokens it takes."""
        if item.log is not None:
            return self._take_lines(item, item.log, room)
        if not item.data:
            return self._put(item, Piece("", 0, True))
        if item.place not in self.pieces and item.tokens <= room:
            return self._put(item, Piece(item.text, item.tokens, True))
        return self._take_chunks(item, room) if item.mime is None else 0

    def _take_chunks(self, item: Item, room: int) -> int:
        """Pack chunks from where the item stands until one doesn't fit."""
        if len(item.data) <= self._most:
            return 0  # one chunk, and the whole of it didn't fit
        head = self._heads.get(item.place)
        if head is None:
            head = self._heads[item.place] = _Head(chunks(item.text, self._most, self._boundary))
        spent = 0
        while head.next is not None:
            share = item.tokens * (head.next.end - head.next.start) // len(item.text)
            if share > _HOPELESS * (room - spent):
                break
            if head.cost is None:
                head.cost = self._tokenizer.count(item.text[head.next.start : head.next.end])
            if spent + head.cost - head.part > room:
                break
            spent += head.cost - head.part
            head.advance()
        return self._put_head(item, head.end, spent)

    def _refine(self, item: Item, room: int) -> int:
        """Cut the next chunk of a partly packed text at a sentence."""
        head = self._heads.get(item.place)
        if head is None or head.next is None or head.end == 0:
            return 0
        packed = len(self.pieces[item.place].text)
        ends = [end for end in ends_inside(item.text, head.next) if end > packed]
        room += head.part
        end, tokens = last_end_within(self._tokenizer, item.text, head.end, ends, room)
        if end <= packed:
            return 0
        spent, head.part = tokens - head.part, tokens
        return self._put_head(item, end, spent)

    def _take_lines(self, item: Item, log: Log, room: int) -> int:
        """Pack a collapsed log, or the lines of it that rank first."""
        text = log.text()
        share = item.tokens * len(text) // len(item.text)
        if share <= _HOPELESS * room:
            tokens = self._tokenizer.count(text)
            if tokens <= room:
                return self._put(item, Piece(text, tokens, True))
        if item.place in self.pieces or share > _HOPELESS * room * len(log.lines):
            return 0
        ranked = log.ranked()
        count = self._tokenizer.count
        guess = len(ranked) * room // max(1, share)
        kept, tokens = most_within(
            lambda n: count(log.text(sorted(ranked[:n]))), len(ranked), room, guess
        )
        if not kept:
            return 0
        return self._put(item, Piece(log.text(sorted(ranked[:kept])), tokens, False))

    def _put_head(self, item: Item, end: int, spent: int) -> int:
        """Pack a text up to ``end``, which takes ``spent`` tokens more than it did."""
        before = self.pieces.get(item.place, _NOTHING)
        if end > len(before.text):
            piece = Piece(item.text[:end], before.tokens + spent, end == len(item.text))
            self._put(item, piece)
        return spent

    def _put(self, item: Item, piece: Piece) -> int:
        self._steps.append((item.place, self.pieces.get(item.place)))
        self.pieces[item.place] = piece
        return piece.tokens

    def _is_whole(self, item: Item) -> bool:
        return self.pieces.get(item.place, _NOTHING).whole

    def _measure(self) -> None:
        """Count the assembled whole."""
        media = sum(
            item.tokens for item in self._items if item.mime is not None and self._is_whole(item)
        )
        self.tokens = media + self._tokenizer.count(assemble(self._items, self.pieces))

    def _take_back(self, overshoot: int) -> None:
        """Undo the last steps that together took at least ``overshoot`` tokens."""
        while self._steps and overshoot > 0:
            index, before = self._steps.pop()
            after = self.pieces.pop(index)
            if before is not None:
                self.pieces[index] = before
            overshoot -= max(1, after.tokens - (before.tokens if before else 0))
