"""A set of items' hashes that takes 18 bytes for each of a million; one of Python's takes 80."""

from collections.abc import Iterable, Iterator, MutableSet
from typing import Self

from wqc.contract.names import ITEM_HASH_BYTES

_WIDTH = ITEM_HASH_BYTES - 1


class Hashes(MutableSet[bytes]):
    """Of ITEM_HASH_BYTES each, evenly distributed as hashes are; in ascending order."""

    def __init__(self, hashes: Iterable[bytes] = ()) -> None:
        self._heaps: dict[int, bytes] = {}
        """By their first twelve bits; of each hash all but the first byte, one behind the other."""
        self._count = 0
        self.update(hashes)

    def copy(self) -> Self:
        """What neither changes from then on, they share."""
        other = type(self)()
        other._heaps, other._count = self._heaps.copy(), self._count
        return other

    def __contains__(self, key: object) -> bool:
        return isinstance(key, bytes) and self._place(key) >= 0

    def __iter__(self) -> Iterator[bytes]:
        for bits in sorted(self._heaps):
            first, heap = bytes([bits >> 4]), self._heaps[bits]
            for rest in sorted(heap[at : at + _WIDTH] for at in range(0, len(heap), _WIDTH)):
                yield first + rest

    def __len__(self) -> int:
        return self._count

    def add(self, value: bytes) -> None:
        if self._place(value) < 0:
            bits = _bits(value)
            self._heaps[bits] = self._heaps.get(bits, b"") + value[1:]
            self._count += 1

    def discard(self, value: bytes) -> None:
        at = self._place(value)
        if at >= 0:
            bits = _bits(value)
            heap = self._heaps[bits]
            self._heaps[bits] = heap[:at] + heap[at + _WIDTH :]
            self._count -= 1

    def update(self, hashes: Iterable[bytes]) -> None:
        for each in hashes:
            self.add(each)

    def difference_update(self, hashes: Iterable[bytes]) -> None:
        for each in hashes:
            self.discard(each)

    def _place(self, key: bytes) -> int:
        """Where it is in its heap; -1 if it isn't."""
        heap, rest = self._heaps.get(_bits(key), b""), key[1:]
        at = heap.find(rest)
        while at > 0 and at % _WIDTH:  # the end of one and the beginning of the next
            at = heap.find(rest, at + 1)
        return at


def _bits(key: bytes) -> int:
    return key[0] << 4 | key[1] >> 4
