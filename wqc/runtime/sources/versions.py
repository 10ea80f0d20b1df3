"""The versions by name of a long listing: 20 bytes for each of a million short names; a dict takes 100."""

from array import array
from collections.abc import ItemsView, Iterable, Iterator, Mapping

HEAPS = 8192
"""With so many, one has 120 of a million names: few to look through, and enough to share its overhead."""
VERSION = b"\xfe"
END = b"\xff"
"""Neither is in any text's UTF-8."""


class Versions(Mapping[str, str]):
    """In the order in which they were added. Nothing is added any more once others have it."""

    def __init__(self, entries: Iterable[tuple[str, str]] = ()) -> None:
        self._heaps: dict[int, bytes] = {}
        """By the name's hash: END, and NAME VERSION version END for each, one behind the other."""
        self._order = array("H")
        """Of each name its heap; in that, it is behind those that come before it here."""
        for name, version in entries:
            self.add(name, version)

    def add(self, name: str, version: str) -> bool:
        """False if it has the name already: the version stays the one it is."""
        number, key = _number(name), _key(name)
        heap = self._heaps.get(number, END)
        if key in heap:
            return False
        self._heaps[number] = heap + key[1:] + _bytes(version) + END
        self._order.append(number)
        return True

    def __getitem__(self, name: str) -> str:
        heap, key = self._heaps.get(_number(name), END), _key(name)
        found = heap.find(key)
        if found < 0:
            raise KeyError(name)
        start = found + len(key)
        return _text(heap[start : heap.index(END, start)])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _key(name) in self._heaps.get(_number(name), END)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.items())

    def __len__(self) -> int:
        return len(self._order)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return len(self) == len(other) and not any(True for _ in fresh(other, self))

    def items(self) -> ItemsView[str, str]:
        return _Items(self)

    def entries(self) -> Iterator[tuple[str, str]]:
        return (_pair(entry) for _, entry in self._entries(self._heaps))

    def beyond(self, other: "Versions") -> Iterator[tuple[str, str]]:
        """What the other lacks, or has with another version, in order. Equal heaps aren't looked into."""
        heaps = {
            number: other._heaps.get(number, END)
            for number, heap in self._heaps.items()
            if other._heaps.get(number) != heap
        }
        return (
            _pair(entry) for number, entry in self._entries(heaps) if END + entry + END not in heaps[number]
        )

    def _entries(self, heaps: Mapping[int, bytes]) -> Iterator[tuple[int, bytes]]:
        """Of these heaps, in order."""
        if heaps:
            starts = dict.fromkeys(heaps, len(END))
            for number in self._order:
                if number in starts:
                    heap, start = self._heaps[number], starts[number]
                    end = heap.index(END, start)
                    starts[number] = end + len(END)
                    yield number, heap[start:end]


class _Items(ItemsView[str, str]):
    """Without a question for each."""

    _mapping: Versions

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._mapping.entries()


def fresh(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What `now` has that `before` lacks, or has with another version; in the order of `now`."""
    if isinstance(before, Versions) and isinstance(now, Versions):
        return now.beyond(before)
    return (entry for entry in now.items() if before.get(entry[0]) != entry[1])


def gone(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """The names that `before` has and `now` lacks."""
    return (name for name, _ in fresh(now, before) if name not in now)


def _number(name: str) -> int:
    return hash(name) % HEAPS


def _key(name: str) -> bytes:
    return END + _bytes(name) + VERSION


def _pair(entry: bytes) -> tuple[str, str]:
    name, _, version = entry.partition(VERSION)
    return _text(name), _text(version)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _text(encoded: bytes) -> str:
    return encoded.decode(errors="surrogatepass")
