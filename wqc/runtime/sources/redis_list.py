"""The entries of a Redis list, taken from its left end: RPUSH is first in, first out.

KEY                 the list
KEY:OWNER:held      by number, the payload of each entry that was taken and isn't done
KEY:OWNER:last      the last number that was given

One script takes an entry, numbers it and files it, so that it is always in one of the two. The number is its
name: two equal payloads are two items, and what is filed is listed again after a crash.

Numbers are the server's time in microseconds, or one more than the last: they never come again, even if the
server has lost what it knew.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from wqc.runtime.redis.bodies import Bodies
from wqc.runtime.redis.connection import Connection
from wqc.runtime.redis.together import Together
from wqc.runtime.sources.broker import NEVER_AGAIN, Held
from wqc.runtime.sources.notices import Notices
from wqc.runtime.sources.source import NoSuchItem, SourceError

AT_ONCE = 8 << 20
"""Bytes that are taken at a time, and one entry more: nobody else is served meanwhile."""

# KEYS: as above; ARGV: how many may be held, how many bytes may be taken
_TAKE = """
if redis.replicate_commands then redis.replicate_commands() end
local before = redis.call('GET', KEYS[3])
local time = redis.call('TIME')
local number = math.max(time[1] * 1000000 + time[2], (tonumber(before) or 0) + 1)
local bytes, taken = 0, {}
for _ = 1, ARGV[1] - redis.call('HLEN', KEYS[2]) do
  if bytes >= tonumber(ARGV[2]) then break end
  local body = redis.call('LPOP', KEYS[1])
  if not body then break end
  local name = string.format('%.0f', number)
  redis.call('HSET', KEYS[2], name, body)
  redis.call('SET', KEYS[3], name)
  taken[#taken + 1] = name
  taken[#taken + 1] = body
  number = number + 1
  bytes = bytes + #body
end
return {before or '', redis.call('LLEN', KEYS[1]), redis.call('HKEYS', KEYS[2]), taken}
"""


class RedisList:
    """`owner`: whose entries they are; of two with one name, both have all. `timeout`: seconds."""

    def __init__(self, connection: Connection, key: str, owner: str, timeout: float) -> None:
        self._connection = connection
        self._keys = (key, f"{key}:{owner}:held", f"{key}:{owner}:last")
        self._timeout = timeout
        self._client: Any = None
        self._held: set[str] = set()
        self._told: set[str] = set()
        """Of them, those that the server was told to forget, whether or not it has answered."""
        self._orphans: set[str] = set()
        """Entries that were held when the server lost all it had; their bodies are kept."""
        self._bodies: Bodies[bytes] = Bodies()
        self._last = 0
        self._waiting = 0
        self._notices = Notices()
        self._forgetting = Together(self._forget)

    @property
    def notice(self) -> str:
        return self._notices.text

    async def hold(self, limit: int) -> Held:
        before, waiting, held, taken = await self._run(_TAKE, limit - len(self._orphans), AT_ONCE)
        fresh = dict(zip(map(_text, taken[::2]), taken[1::2], strict=True))
        names = sorted(map(_text, held), key=int)
        self._compare(int(before or 0), set(names), waiting)
        for name in self._held.difference(names, self._orphans):
            self._bodies.drop(name)
        for name, body in fresh.items():
            self._bodies.put(name, body)
        self._held = set(names)
        self._told &= self._held
        self._last = max([int(before or 0), *map(int, fresh)])
        self._waiting = waiting
        listed = [*sorted(self._orphans, key=int), *names]
        return Held(dict.fromkeys(listed, ""), waiting > 0, NEVER_AGAIN)

    async def body(self, name: str) -> bytes:
        kept = self._bodies.get(name)
        if kept is not None:
            return kept
        with self._connection.told():
            body: bytes | None = await self._open().hget(self._keys[1], name)
        if body is None:
            raise NoSuchItem(f"{self._keys[0]} has no entry {name} that was taken")
        return body

    async def done(self, name: str) -> None:
        self._told.add(name)
        await self._forgetting.add(name)
        self._orphans.discard(name)
        self._bodies.drop(name)

    async def close(self) -> None:
        """What is filed stays there, for whoever asks next in this name."""
        if self._client:
            client, self._client = self._client, None
            await client.aclose()

    async def _forget(self, names: Sequence[str]) -> None:
        with self._connection.told():
            await self._open().hdel(self._keys[1], *names)

    def _compare(self, last: int, held: set[str], waiting: int) -> None:
        """Say what the server has lost: it knows fewer numbers than it gave, or not all that was filed."""
        lost = self._held - held - self._told
        if last < self._last:
            gone = max(0, self._waiting - waiting)
            if last:
                left = f"its data is that of {_time(last)}; what was done since then may come again"
                kept = set[str]()  # they come again
            else:
                left = "nothing is left of it"
                kept = {name for name in lost if self._bodies.get(name) is not None}
                self._orphans |= kept
            self._notices.say(
                f"the Redis server {self._connection.address} has lost data, as after a restart without "
                f"persistence; {left}. Of {self._keys[0]}, {len(lost) - len(kept)} entries that were held "
                f"are lost, {len(kept)} are kept, and {gone} or more that waited are lost"
            )
        elif lost:
            self._notices.say(
                f"{len(lost)} entries that were held were deleted from {self._keys[1]} by somebody else"
            )

    async def _run(self, script: str, *arguments: Any) -> Any:
        from redis.exceptions import ResponseError

        with self._connection.told():
            try:
                return await self._open().eval(script, len(self._keys), *self._keys, *arguments)
            except ResponseError as error:
                if "WRONGTYPE" in str(error):
                    raise SourceError(f"{self._keys[0]} on {self._connection.address} is no list") from None
                raise

    def _open(self) -> Any:
        if self._client is None:
            self._client = self._connection.client(self._timeout)
        return self._client


def _text(name: bytes) -> str:
    return name.decode()


def _time(number: int) -> str:
    return f"{datetime.fromtimestamp(number / 1e6, UTC):%Y-%m-%d %H:%M:%S} UTC"
