"""How far the reading of a partition is: what is committed for it, and what that means later.

Offsets may be missing (compaction, the marks of transactions), so that only what was seen counts. Committed
is the lowest offset that isn't finished; which ones after it are finished goes along as the commit's
metadata, so that they aren't read again although others before them are still held.
"""

from collections.abc import Set
from dataclasses import dataclass, field

LONGEST = 2000
"""Characters that say what isn't finished; brokers take 4096 in all unless they are told otherwise."""
_OURS = "wqc1"
_UNKNOWN = "-"


@dataclass(slots=True)
class Progress:
    position: int
    """The next offset to read: all before it are finished or in `unfinished`."""
    unfinished: set[int] = field(default_factory=set)
    finished_before: int = 0
    """What an earlier reader had seen: of the offsets before it, only `left` isn't finished."""
    left: Set[int] = frozenset()

    def is_finished(self, offset: int) -> bool:
        """Whether an earlier reader has finished it."""
        return offset < self.finished_before and offset not in self.left

    def seen(self, offset: int) -> None:
        """It is held from now on."""
        self.passed(offset + 1)
        self.unfinished.add(offset)

    def passed(self, position: int) -> None:
        """Nothing before it is left to read."""
        self.position = max(self.position, position)

    def commit(self, topic: str) -> tuple[int, str]:
        """The offset and the metadata. `topic` is its id: one that is made anew has another."""
        seen = max(self.position, self.finished_before)
        left = sorted(self.unfinished | {offset for offset in self.left if offset >= self.position})
        low = left[0] if left else seen
        return low, f"{_OURS} {topic or _UNKNOWN} {_written(low, seen, left)}"


def topic_of(metadata: str) -> str:
    """The id of the topic that was read; "" where that isn't known."""
    ours, _, rest = metadata.partition(" ")
    topic = rest.partition(" ")[0]
    return topic if ours == _OURS and topic != _UNKNOWN else ""


def resumed(offset: int, metadata: str) -> Progress:
    """From what was committed. Metadata that isn't ours means nothing here."""
    try:
        ours, _, finished = metadata.split(" ")
        seen, *gaps = (int(part, 36) for part in finished.split(","))
    except ValueError:
        ours = ""
    if ours != _OURS:
        return Progress(offset)
    left = set()
    at = offset
    for gap in gaps:
        at += gap
        left.add(at)
    return Progress(offset, finished_before=offset + seen, left=left)


def _written(low: int, seen: int, left: list[int]) -> str:
    """As many of the unfinished ones as there is room for; what comes after them is read again."""
    parts: list[str] = []
    length = 0
    before = low
    for offset in left:
        part = _base36(offset - before)
        length += len(part) + 1
        if length > LONGEST:
            seen = offset
            break
        parts.append(part)
        before = offset
    return ",".join([_base36(seen - low), *parts])


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits
