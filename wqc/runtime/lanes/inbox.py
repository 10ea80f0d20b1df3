"""The items that a queue could start next, by lane; where a merger is before it, each input in turn."""

from collections import OrderedDict
from collections.abc import Callable
from itertools import islice

from wqc.runtime.graph.graph import Line
from wqc.runtime.graph.origin import Offer

AT_ONCE = 16
"""Items of one line whose data is on its way, while the others of that line aren't asked for."""


class Inbox:
    def __init__(self, lanes: tuple[str, ...]) -> None:
        self._lanes: dict[str, OrderedDict[tuple[str, ...], OrderedDict[bytes, Offer]]] = {
            lane: OrderedDict() for lane in lanes
        }
        self._keys: dict[bytes, Offer] = {}

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def keys(self) -> list[bytes]:
        return list(self._keys)

    @property
    def since(self) -> list[float]:
        """When the items came that are first in their lines, on the monotonic clock."""
        return [next(iter(line.values())).since for lines in self._lanes.values() for line in lines.values()]

    def in_lane(self, lane: str) -> int:
        return sum(map(len, self._lanes[lane].values()))

    def in_line(self, line: Line) -> int:
        return len(self._lanes[line.lane].get(line.inputs, ()))

    def put(self, key: bytes, offer: Offer) -> None:
        """At the end of its input's line; in place of an earlier offer of the same item."""
        self.discard(key)
        self._keys[key] = offer
        line = self._lanes[offer.delivery.lane].setdefault(offer.delivery.inputs, OrderedDict())
        line[key] = offer

    def items(self, lane: str) -> list[tuple[bytes, Offer]]:
        """A lane's, with their keys; the first is one that comes next."""
        return [each for line in self._lanes[lane].values() for each in line.items()]

    def discard(self, key: bytes) -> Offer | None:
        offer = self._keys.pop(key, None)
        if offer:
            lines = self._lanes[offer.delivery.lane]
            line = lines[offer.delivery.inputs]
            del line[key]
            if not line:
                del lines[offer.delivery.inputs]
        return offer

    def put_back(self, key: bytes, offer: Offer) -> None:
        """What `next` gave, for it to give that again."""
        self.put(key, offer)
        self._lanes[offer.delivery.lane][offer.delivery.inputs].move_to_end(key, last=False)

    def next(
        self, lane: str, holds_up: Callable[[bytes, Offer], bool] = lambda key, offer: False
    ) -> tuple[bytes, Offer] | None:
        """The next item of a lane, taken out; None if there is none that may be started now. In a line, what
        is held up is passed over, but no more than are held up by themselves.
        """
        lines = self._lanes[lane]
        for inputs in list(lines):
            lines.move_to_end(inputs)
            for key, offer in list(islice(lines[inputs].items(), AT_ONCE + 1)):
                if offer.withdrawn:
                    self.discard(key)
                    return self.next(lane, holds_up)
                if offer.origin.is_open() and not holds_up(key, offer):
                    self.discard(key)
                    return key, offer
        return None
