"""Items on their way: each is offered to the stations that the graph sends it to."""

from collections.abc import Callable, Collection, Mapping, Sequence

from wqc.contract.names import LABEL_LIMIT, item_hash
from wqc.patterns.item import Item
from wqc.runtime.graph.graph import Delivery, Graph, Port
from wqc.runtime.graph.origin import Offer, Origin
from wqc.runtime.queue.holder import fails_in
from wqc.runtime.queue.judge import Fetch
from wqc.runtime.queue.station import Station
from wqc.runtime.stores.job import Job
from wqc.runtime.text import decode_known

DROPPED = "--dropped"
"""After a source's name, what isn't handed to anybody; no name of the language has two hyphens in a row."""
GONE = "it isn't in the workflow any more; discard lets go of what it holds"


class Routing:
    """`stations`: by name; there are all before the first item comes."""

    def __init__(self, graph: Graph, sources: Collection[Port], stations: Mapping[str, Station]) -> None:
        self._graph = graph
        self._sources = {str(port): port for port in sources}
        self._stations = stations

    def is_node(self, name: str) -> bool:
        """A pattern node or a source, or a member of one."""
        return self._graph.has_pattern(name) or name in self._sources

    def deliver(self, port: Port, item: Item, origin: Origin, failure: str) -> None:
        """A source's item. `failure`: why it failed in the source already; "" if it didn't."""
        deliveries = self._graph.fail(port, item, failure) if failure else self._graph.route([port], item)
        if not deliveries and origin.until_told:
            origin.is_dropped = True
            deliveries = (Delivery(dropped_name(port), "", item.name, item.version),)
        self._send(deliveries, origin)

    def withdraw(self, origin: Origin) -> None:
        """It isn't there any more."""
        for offer in origin.offers:
            if not offer.taken:
                self._stations[offer.delivery.station].withdraw(offer)

    def hand_on(
        self, ports: Sequence[Port], job: Job, data: str, fetch: Fetch | None, complete: Callable[[], None]
    ) -> Origin:
        """What a queue finished."""
        origin = _of_job(data, fetch, complete)
        reads_data = any(map(self._graph.reads_data, ports))
        item = Item(job.name, job.version, decode_known(data) if reads_data else None)
        self._send(self._graph.route(ports, item), origin)
        return origin

    def again(
        self, node: str, job: Job, data: str, fetch: Fetch | None, complete: Callable[[], None]
    ) -> Origin | str:
        """What a node failed enters it once more. A text: why it fails again."""
        if not self.is_node(node):
            return GONE
        item = Item(job.name, job.version, decode_known(data))
        port = self._sources.get(node)
        deliveries = self._graph.fail(port, item, job.reason) if port else self._graph.again(node, item)
        if failure := fails_in(node, deliveries):
            return failure
        origin = _of_job(data, fetch, complete)
        self._send(deliveries, origin)
        return origin

    def _send(self, deliveries: Sequence[Delivery], origin: Origin) -> None:
        origin.offers = [Offer(delivery, origin) for delivery in deliveries]
        origin.left = len(origin.offers)
        if not origin.offers:
            origin.settle()
        for offer in list(origin.offers):
            self._stations[offer.delivery.station].offer(offer)


def dropped_name(port: Port) -> str:
    """The station where what nobody gets of a source is recorded.

    It becomes a label, for which a source's name may be too long; two of them stay two.
    """
    name = str(port)
    if len(name) > LABEL_LIMIT - len(DROPPED):
        name = item_hash(name, "").hex()
    return name + DROPPED


def _of_job(data: str, fetch: Fetch | None, complete: Callable[[], None]) -> Origin:
    """A finished Job's item, or one that it holds; a Job doesn't change its mind."""

    async def same() -> str:
        return data

    return Origin(fetch or same, is_open=lambda: True, complete=complete)
