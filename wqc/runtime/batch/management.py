"""RabbitMQ's management API: the only place that says how many messages are being worked on."""

import base64
import json
from urllib.parse import quote, urlsplit

from wqc.runtime.rabbitmq.connection import Connection
from wqc.runtime.sources.connections import Connections
from wqc.runtime.sources.source import SourceError


class Management:
    """`broker`: its user, password and virtual host hold here too. `timeout`: seconds."""

    def __init__(self, url: str, broker: Connection, timeout: float) -> None:
        self._path = urlsplit(url).path.rstrip("/")
        self._connections = Connections(url, timeout)
        self._broker = broker

    async def remaining(self, queue: str) -> int:
        """Messages that are ready or unacknowledged. Raises SourceError."""
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
            return int(counts["messages_ready"]) + int(counts["messages_unacknowledged"])
        except (ValueError, KeyError, TypeError):
            raise SourceError(
                f"RabbitMQ's management API answers with status {answer.status}, no counts"
            ) from None

    def close(self) -> None:
        self._connections.close()
