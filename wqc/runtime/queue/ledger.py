"""The record of finished items: hashes, in pieces that are never changed.

A segment is `wqcl`, a format byte, a level byte, and 12-byte hashes in ascending order. Each flush writes
one of level 0; sixteen of a level become one of the next, the new one first, then the old ones are removed:
a crash between the two leaves hashes twice, which changes nothing. Level 2 is the last. Format and names are
frozen by test vectors.
"""

import hashlib
from base64 import b32encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from wqc.contract.limits import LARGE_ITEM_BYTES
from wqc.contract.names import ITEM_HASH_BYTES
from wqc.runtime.queue.hashes import Hashes
from wqc.runtime.stores.store import JobStore, Kind, Segment

FLUSH_ITEMS = 500
SOON = 1.0
"""Seconds that what is waited for is kept back, for others to be recorded with it."""
AT_MOST = LARGE_ITEM_BYTES // ITEM_HASH_BYTES - 1
"""Hashes in a segment."""
MERGED_AT_ONCE = 16
LAST_LEVEL = 2
_MAGIC = b"wqcl\x01"
_HEADER = len(_MAGIC) + 1


class DamagedLedger(ValueError):
    """A segment isn't one; the queue must not start anything, or it would repeat finished items."""


def write_segment(prefix: str, hashes: Iterable[bytes], level: int) -> Segment:
    """The name is derived from the content, so that writing it twice is writing it once."""
    content = _MAGIC + bytes([level]) + b"".join(sorted(set(hashes)))
    digest = b32encode(hashlib.sha256(content).digest()[:10]).decode().lower()
    return Segment(f"{prefix}-ledger-{digest}", content)


def read_segment(segment: Segment) -> tuple[int, list[bytes]]:
    """Its level and hashes. Raises DamagedLedger."""
    content = segment.content
    if not content.startswith(_MAGIC) or len(content) < _HEADER or (len(content) - _HEADER) % ITEM_HASH_BYTES:
        raise DamagedLedger(f"{segment.name} is not a segment of a ledger")
    starts = range(_HEADER, len(content), ITEM_HASH_BYTES)
    return content[len(_MAGIC)], [content[start : start + ITEM_HASH_BYTES] for start in starts]


def mergeable(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments to merge now, by name; none if no level has enough of them."""
    for level in range(LAST_LEVEL):
        same = sorted((each for each in segments if read_segment(each)[0] == level), key=lambda s: s.name)
        if len(same) < MERGED_AT_ONCE:
            continue
        chosen: list[Segment] = []
        size = 0
        for segment in same[:MERGED_AT_ONCE]:
            size += len(segment.content)
            if size <= LARGE_ITEM_BYTES:
                chosen.append(segment)
        return tuple(chosen)
    return ()


class Ledger:
    """One queue's. Only its queue's task changes it. `failures` says which of its items failed: a ledger too,
    of kind `failed`.
    """

    def __init__(
        self,
        queue: str,
        prefix: str,
        store: JobStore,
        flush_after: float,
        kind: Kind = "ledger",
        failures: "Ledger | None" = None,
    ) -> None:
        self._queue = queue
        self._prefix = prefix
        self._store = store
        self._flush_after = flush_after
        self._kind = kind
        self._failures = failures
        self._unmerged: dict[str, Segment] = {}
        """Those that aren't of the last level."""
        self._recorded = Hashes()
        self._pending: dict[bytes, float] = {}
        """With the time when each was added, in that order."""
        self._batch: frozenset[bytes] = frozenset()
        """What the last flush was to record, if it was refused."""

    async def load(self) -> None:
        """Raises Refused, DamagedLedger."""
        if self._failures is not None:
            await self._failures.load()
        for segment in await self._store.segments(self._queue, self._kind):
            if not segment.name.startswith(f"{self._prefix}-ledger-"):
                segment = await self._renamed(segment)
            self._recorded.update(read_segment(segment)[1])
            self._note(segment)

    def __len__(self) -> int:
        return len(self._recorded) + len(self._pending)

    def __contains__(self, key: object) -> bool:
        return key in self._recorded

    @property
    def recorded(self) -> Hashes:
        return self._recorded

    @property
    def failed(self) -> int:
        """How many of its items failed."""
        return min(len(self._failures), len(self)) if self._failures is not None else 0

    def add(self, key: bytes, now: float, failed: bool = False) -> None:
        """To be recorded by the next flush."""
        if failed and self._failures is not None:
            self._failures.add(key, now)
        if key not in self._recorded:
            self._pending.setdefault(key, now)

    def add_again(self, keys: Mapping[bytes, bytes], now: float) -> None:
        """To be recorded under other keys too; `keys`: those, by the ones that they have."""
        failures = self._failures.recorded if self._failures is not None else ()
        for known, key in keys.items():
            self.add(key, now, failed=known in failures)

    def hasten(self, now: float) -> None:
        """What is to be recorded is waited for."""
        if self._pending:
            first, since = next(iter(self._pending.items()))
            self._pending[first] = min(since, now + SOON - self._flush_after)

    def will_have(self, key: bytes) -> bool:
        """The next flush records it."""
        return key in self._pending

    def due(self) -> float | None:
        """When the next flush is to be: seconds on the clock of `add`; None if nothing waits for it."""
        if not self._pending:
            return None
        since = next(iter(self._pending.values()))
        return since if len(self._pending) >= FLUSH_ITEMS else since + self._flush_after

    async def flush(self) -> None:
        """What waits when it begins. Raises Refused; then everything still waits for the next flush.

        That begins with the very segment that was refused: it may be there all the same.
        """
        left = len(self._pending)
        if self._failures is not None and left:
            await self._failures.flush()
        while left > 0:
            self._batch = self._batch or frozenset(islice(self._pending, min(AT_MOST, left)))
            await self._add(write_segment(self._prefix, self._batch, level=0))
            self._recorded.update(self._batch)
            for key in self._batch:
                del self._pending[key]
            left -= len(self._batch)
            self._batch = frozenset()
        while chosen := mergeable(list(self._unmerged.values())):
            await self._merge(chosen)

    async def _renamed(self, old: Segment) -> Segment:
        """A segment of the queue's former name, as one of its own."""
        level, hashes = read_segment(old)
        new = write_segment(self._prefix, hashes, level)
        await self._store.add_segment(self._queue, new, self._kind)
        await self._store.remove_segment(self._queue, old.name, self._kind)
        return new

    async def forget(self, keys: Collection[bytes]) -> None:
        """Each segment that has some of them is written anew without them, then removed. Raises Refused."""
        if self._failures is not None:
            await self._failures.forget(keys)
        for segment in await self._store.segments(self._queue, self._kind):
            level, hashes = read_segment(segment)
            kept = [each for each in hashes if each not in keys]
            if len(kept) < len(hashes):
                if kept:
                    await self._add(write_segment(self._prefix, kept, level))
                await self._remove(segment)
        self._recorded.difference_update(keys)

    async def _merge(self, chosen: Sequence[Segment]) -> None:
        level = read_segment(chosen[0])[0] + 1
        await self._add(
            write_segment(self._prefix, (key for each in chosen for key in read_segment(each)[1]), level)
        )
        for segment in chosen:
            await self._remove(segment)

    async def _add(self, segment: Segment) -> None:
        await self._store.add_segment(self._queue, segment, self._kind)
        self._note(segment)

    async def _remove(self, segment: Segment) -> None:
        await self._store.remove_segment(self._queue, segment.name, self._kind)
        self._unmerged.pop(segment.name, None)

    def _note(self, segment: Segment) -> None:
        if read_segment(segment)[0] < LAST_LEVEL:
            self._unmerged[segment.name] = segment
