"""RabbitMQ's management API: the only place that says how many messages are being worked on."""

import base64
import json
from urllib.parse import quote, unquote, urlsplit

from wqc.runtime.sources.connections import Connections
from wqc.runtime.sources.options import Credential
from wqc.runtime.sources.source import SourceError


class Management:
    """`broker`: AMQP's address, whose user, password and virtual host hold here too. `timeout`: seconds."""

    def __init__(self, url: str, broker: Credential, timeout: float) -> None:
        self._path = urlsplit(url).path.rstrip("/")
        self._connections = Connections(url, timeout)
        self._broker = broker

    async def remaining(self, queue: str) -> int:
        """Messages that are ready or unacknowledged. Raises SourceError."""
        broker = urlsplit(self._broker())
        user, password = unquote(broker.username or "guest"), unquote(broker.password or "guest")
        host = unquote(broker.path.removeprefix("/")) or "/"
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
