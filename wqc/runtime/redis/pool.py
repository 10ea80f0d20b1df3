"""Connections to a Redis server, kept for the next command."""

from typing import Any

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError as Lost


class Pool(ConnectionPool):
    """Makes a new connection where one was closed while nobody used it.

    redis-py's own does so while it handles that it was closed ("Connection has data"), and if the server
    can't be reached, that is all that is left of the reason.
    """

    async def ensure_connection(self, connection: Any) -> None:
        try:
            closed = connection.is_connected and await connection.can_read()
        except (Lost, OSError):
            closed = True
        if closed:
            await connection.disconnect()
        await connection.connect()
