"""RabbitMQ's management API: the only place that says how many messages are being worked on."""

import base64
import json
from urllib.parse import quote, urlsplit

from wqc.runtime.batch.messages import Count
from wqc.runtime.rabbitmq.connection import Connection
from wqc.runtime.sources.connections import Connections
from wqc.runtime.sources.source import SourceError

KINDS = ("publish", "deliver_get", "ack")


class Management:
    """`broker`: its user, password and virtual host hold here too. `timeout`: seconds."""

    def __init__(self, url: str, broker: Connection, timeout: float) -> None:
        self._path = urlsplit(url).path.rstrip("/")
        self._connections = Connections(url, timeout)
        self._broker = broker

    async def count(self, queue: str) -> Count:
        """Messages that are ready or unacknowledged, and what it has counted since the broker started.

        It takes its samples each five seconds. Raises SourceError.
        """
        broker = self._broker.address()
        user, password = broker.user or "guest", broker.password or "guest"
        host = broker.path.removeprefix("/") or "/"
        target = f"{self._path}/api/queues/{quote(host, safe='')}/{quote(queue, safe='')}"
        login = base64.b64encode(f"{user}:{password}".encode()).decode()
        try:
            answer = await self._connections.request("GET", target, {"Authorization": f"Basic {login}"})
        except SourceError as error:
            raise SourceError(f"RabbitMQ's management API {error}") from None
        if answer.status == 401:
            raise SourceError("RabbitMQ's management API refuses the user or the password")
        if answer.status == 404:
            raise SourceError(f"RabbitMQ has no queue {queue}")
        try:
            counts = json.loads(answer.body)
            left = int(counts["messages_ready"]) + int(counts["messages_unacknowledged"])
            stats = counts.get("message_stats", {})  # there as soon as there is something to count
            return Count(left, tuple(int(stats.get(kind, 0)) for kind in KINDS))
        except (AttributeError, ValueError, KeyError, TypeError):
            raise SourceError(
                f"RabbitMQ's management API answers with status {answer.status}, no counts: "
                "it has none soon after a start, and where its statistics are disabled"
            ) from None

    def close(self) -> None:
        self._connections.close()
