"""A number in a file by which a process sees that another has written since it last looked.

It is odd while a write is under way, or after one whose process died in it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Generation:
    """Writers pass it on while they hold the writers' lock; readers only look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.followed = -1  # the generation that this process has seen all of

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Around a write. It counts as followed only if all before it was."""
        before = self._read()
        during = before + 1 + before % 2
        self._path.write_bytes(b"%d" % during)
        try:
            yield
        finally:
            self._path.write_bytes(b"%d" % (during + 1))
            if self.followed == before:
                self.followed = during + 1

    def news(self) -> int | None:
        """The generation to follow to; None if this process has."""
        found = self._read()
        return None if found == self.followed and found % 2 == 0 else found

    def _read(self) -> int:
        try:
            return int(self._path.read_bytes() or b"1")  # empty: caught while being written
        except FileNotFoundError:
            return 0
