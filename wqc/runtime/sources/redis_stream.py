"""The entries of a Redis stream, read as one consumer of a group: what is pending is held.

An entry's name is its id. The consumer has the same name after a restart, so what was pending is its own
again; what other consumers of the group have left behind is claimed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from wqc.runtime.redis.bodies import Bodies, body_size
from wqc.runtime.redis.connection import Connection
from wqc.runtime.redis.together import Together
from wqc.runtime.sources.broker import NEVER_AGAIN, Held
from wqc.runtime.sources.notices import Notices
from wqc.runtime.sources.source import NoSuchItem, SourceError

AT_ONCE = 16
"""Entries that are read at a time, before it is known how large they are."""
MOST_BYTES = 8 << 20
"""That are read for one listing, and the entries of one reading more."""
MOST_PENDING = 10_000
LEFT_BEHIND = 300_000
"""Milliseconds without a sign of life from the consumer that has an entry, after which it is claimed."""

Entry = tuple[str, Mapping[bytes, bytes]]


class RedisStream:
    """`owner`: the consumer's name in the group. `timeout`: seconds for an answer."""

    def __init__(self, connection: Connection, key: str, group: str, owner: str, timeout: float) -> None:
        self._connection = connection
        self._key = key
        self._group = group
        self._owner = owner
        self._timeout = timeout
        self._client: Any = None
        self._held: set[str] = set()
        self._orphans: set[str] = set()
        """Entries that were pending when the server lost the stream; their bodies are kept."""
        self._bodies: Bodies[Mapping[bytes, bytes]] = Bodies()
        self._delivered = ""
        """The id up to which the group has been given entries; "" if it wasn't looked at yet."""
        self._claimed = "0-0"
        self._deleted = 0
        self._missing = ""
        self._notices = Notices()
        self._acknowledging = Together(self._acknowledge)

    @property
    def notice(self) -> str:
        return self._notices.text or self._missing

    async def hold(self, limit: int) -> Held:
        with self._connection.told():
            group = await self._find_group()
            if group is None:
                return Held(dict.fromkeys(sorted(self._orphans, key=_order), ""), False)
            self._compare(_text(group["last-delivered-id"]))
            await self._claim(limit)
            held = await self._pending()
            exhausted = await self._read(limit - len(self._orphans.union(held)), held)
            self._held = set(held)
            names = [*sorted(self._orphans.difference(held), key=_order), *held]
            return Held(dict.fromkeys(names, ""), not exhausted, NEVER_AGAIN)

    async def body(self, name: str) -> Mapping[bytes, bytes]:
        kept = self._bodies.get(name)
        if kept is not None:
            return kept
        with self._connection.told():
            entries = await self._open().xrange(self._key, name, name) if name in self._held else []
            if entries:
                fields: Mapping[bytes, bytes] = entries[0][1]
                return fields
            if name in self._held:
                await self._open().xack(self._key, self._group, name)
                self._held.discard(name)
                self._note_deleted(1)
        raise NoSuchItem(f"{self._key} has no entry {name} that is pending")

    async def done(self, name: str) -> None:
        await self._acknowledging.add(name)
        self._held.discard(name)
        self._orphans.discard(name)
        self._bodies.drop(name)

    async def close(self) -> None:
        """What is pending stays so, for whoever asks next as the same consumer."""
        if self._client:
            client, self._client = self._client, None
            await client.aclose()

    async def _acknowledge(self, names: Sequence[str]) -> None:
        with self._connection.told():
            await self._open().xack(self._key, self._group, *names)

    async def _find_group(self) -> Mapping[str, Any] | None:
        """Made where it isn't there; None while there is no stream."""
        from redis.exceptions import ResponseError

        client = self._open()
        try:
            groups = await client.xinfo_groups(self._key)
        except ResponseError as error:
            if "no such key" in str(error):
                self._compare("")
                self._missing = f"there is no stream {self._key} on {self._connection.address}"
                return None
            if "WRONGTYPE" in str(error):
                raise SourceError(f"{self._key} on {self._connection.address} is no stream") from None
            raise
        self._missing = ""
        for group in groups:
            if _text(group["name"]) == self._group:
                found: Mapping[str, Any] = group
                return found
        try:
            await client.xgroup_create(self._key, self._group, id="0")
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
        return {"last-delivered-id": b"0-0"}

    def _compare(self, delivered: str) -> None:
        """Say what the server has lost: the group was further than it is now."""
        if self._delivered and _order(delivered) < _order(self._delivered):
            left = f"it is read again after {delivered}" if delivered else "nothing is left of it"
            kept = {name for name in self._held if self._bodies.get(name) is not None}
            self._notices.say(
                f"the Redis server {self._connection.address} has lost data, as after a restart without "
                f"persistence, or the stream {self._key} was deleted: {left}"
                + (
                    f". Of {len(self._held)} entries that were pending, {len(kept)} are kept"
                    if self._held
                    else ""
                )
            )
            self._claimed = "0-0"
            self._orphans |= kept
            self._held.clear()
        self._delivered = delivered

    async def _claim(self, limit: int) -> None:
        from redis.exceptions import ResponseError

        try:
            answer = await self._open().xautoclaim(
                self._key, self._group, self._owner, LEFT_BEHIND, self._claimed, count=limit, justid=False
            )
        except ResponseError as error:
            if "unknown command" not in str(error):  # before Redis 6.2
                raise
        else:
            self._claimed = _text(answer[0])
            if answer[2:] and answer[2]:  # since Redis 7
                self._note_deleted(len(answer[2]))

    async def _pending(self) -> dict[str, None]:
        pending = await self._open().xpending_range(
            self._key, self._group, "-", "+", MOST_PENDING, consumername=self._owner
        )
        held = dict.fromkeys(_text(each["message_id"]) for each in pending)
        for name in self._held.difference(held):
            self._bodies.drop(name)
        return held

    async def _read(self, room: int, held: dict[str, None]) -> bool:
        """Add up to `room` entries to what is held. Whether none is left."""
        size = entries = 0
        while room > 0 and size < MOST_BYTES:
            fitting = (MOST_BYTES - size) * entries // size if size else AT_ONCE
            count = max(1, min(room, fitting, AT_ONCE * 16))
            read = await self._open().xreadgroup(self._group, self._owner, {self._key: ">"}, count)
            found = [(_text(name), fields or {}) for name, fields in (read[0][1] if read else ())]
            for name, fields in found:
                held[name] = None
                self._bodies.put(name, fields)
                size += body_size(fields)
                self._delivered = name
            entries += len(found)
            room -= len(found)
            if len(found) < count:
                return True
        return False

    def _note_deleted(self, count: int) -> None:
        self._deleted += count
        self._notices.say(
            f"{self._deleted} entries of {self._key} were deleted or trimmed before they were done"
        )

    def _open(self) -> Any:
        if self._client is None:
            self._client = self._connection.client(self._timeout)
        return self._client


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _order(id: str) -> tuple[int, ...]:
    return tuple(map(int, id.split("-"))) if id else ()
