"""What a source lists and wasn't sent to anybody yet, and where it is likely to go."""

import asyncio
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from wqc.runtime.graph.graph import Delivery
from wqc.runtime.sources.versions import Versions

IN_ONE_GO = 500
"""Items that are sent before others have a turn: a twentieth of a second on a busy machine."""
LATELY = 1000
"""Items by which it is judged where the rest will go: those that were listed first are often done."""


class Unsent:
    """Its length counts what isn't listed any more too: that shows when its turn comes, or in `keep`."""

    def __init__(self) -> None:
        self._entries: deque[Iterator[tuple[str, str]]] = deque()
        """The oldest first. Of a long listing nothing is kept but the listing."""
        self._count = 0
        self._sent: Counter[tuple[str, str]] = Counter()
        """How many items came to each lane of each station to wait, of so many that were sent lately."""
        self._sent_items = 0

    def __len__(self) -> int:
        return self._count

    def add(self, versions: Mapping[str, str]) -> None:
        """Versions by name, in order; that doesn't change any more."""
        self._entries.append(iter(versions.items()))
        self._count += len(versions)

    async def keep(self, listed: Mapping[str, str]) -> None:
        """Only what is listed like this, each once. Others go on meanwhile."""
        kept = Versions()
        for number, (name, version) in enumerate(chain.from_iterable(self._entries), 1):
            if listed.get(name) == version:
                kept.add(name, version)
            if number % IN_ONE_GO == 0:
                await asyncio.sleep(0)
        self._entries.clear()
        self._count = 0
        self.add(kept)

    def take(self) -> list[tuple[str, str]]:
        """Names and versions of those that come next."""
        taken: list[tuple[str, str]] = []
        while self._entries and len(taken) < IN_ONE_GO:
            more = list(islice(self._entries[0], IN_ONE_GO - len(taken)))
            taken += more
            if not more:
                self._entries.popleft()
        self._count -= len(taken)
        return taken

    def sent(self, waiting: Sequence[Delivery]) -> None:
        """An item was, and waits there; nowhere, if everyone is done with it already."""
        if self._sent_items == LATELY:
            self._sent_items //= 2
            self._sent = Counter({reached: count // 2 for reached, count in self._sent.items()})
        self._sent.update((each.station, each.lane) for each in waiting)
        self._sent_items += 1

    def likely(self, station: str, lane: str) -> int:
        """How many items will wait there if the rest goes as those before it went."""
        return round(self._count * self._sent[station, lane] / max(1, self._sent_items))
