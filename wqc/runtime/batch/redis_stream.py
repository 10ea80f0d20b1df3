"""The entries of a Redis stream, for a consumer of this pod's own in the source's group."""

from typing import Any

from redis.exceptions import ResponseError

from wqc.runtime.batch.keeping import Keeping
from wqc.runtime.batch.messages import Count, Failure, Lost, Message
from wqc.runtime.redis.connection import Connection

# KEYS: the stream, its `.failed`; ARGV: the group, the consumer, then what the script is about
_MINE = """
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1)[1]
if not pending or pending[2] ~= ARGV[2] then return 0 end
"""
_CLAIM = "redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'JUSTID'"
_KEEP = f"{_MINE} {_CLAIM}); return 1"
_GIVE_BACK = f"{_MINE} {_CLAIM}, 'IDLE', ARGV[4], 'RETRYCOUNT', pending[4] - 1); return 1"
_ACKNOWLEDGE = _MINE + "return redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])"
_FAIL = (
    _MINE
    + """
redis.call('XADD', KEYS[2], '*', unpack(redis.call('XRANGE', KEYS[1], ARGV[3], ARGV[3])[1][2]))
return redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])
"""
)
_TAKE = """
local entry = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], '0', 'COUNT', 1)[2][1]
if not entry then
  local read = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', 1, 'STREAMS', KEYS[1], '>')
  if not read then return false end
  entry = read[1][2][1]
end
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], entry[1], entry[1], 1)[1]
return {entry[1], pending[4], entry[2]}
"""
# A consumer that is gone is forgotten, unless it has entries: they would go with it.
_LEAVE = """
if redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2])[1] then return 0 end
return redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
"""


class RedisStreamQueue:
    """`hold`: after how long the message of a pod without a sign of life is another's; `timeout`: for an
    answer. Both in seconds.
    """

    def __init__(
        self, connection: Connection, key: str, group: str, consumer: str, hold: float, timeout: float
    ) -> None:
        self._connection = connection
        self._server = connection.client(timeout)
        self._key = key
        self._group = group
        self._consumer = consumer
        self._hold = round(hold * 1000)
        self._kept = Keeping(hold / 3)

    async def open(self) -> None:
        await self.count()

    async def take(self) -> Message | None:
        taken = await self._run(_TAKE, self._hold)
        if taken is None:
            return None
        id, deliveries, pairs = taken
        body = dict(zip(pairs[::2], pairs[1::2], strict=True))
        self._kept.start(lambda: self._run(_KEEP, id))
        return Message(id.decode(), body, deliveries, id)

    async def acknowledge(self, message: Message) -> None:
        await self._settle(_ACKNOWLEDGE, message)

    async def fail(self, message: Message, failure: Failure) -> None:
        await self._settle(_FAIL, message)

    async def give_back(self, message: Message) -> None:
        self._kept.stop()
        await self._run(_GIVE_BACK, message.receipt, self._hold)

    async def count(self) -> Count:
        with self._connection.told():
            try:
                groups = await self._server.xinfo_groups(self._key)
            except ResponseError as error:
                if "no such key" not in str(error):
                    raise
                return Count(0)  # nothing was ever added
            for group in groups:
                if group["name"] in (self._group, self._group.encode()):
                    left = int(group["pending"]) + await self._unread(group)
                    return Count(left, tuple(map(int, group["last-delivered-id"].split(b"-"))))
            return Count(await self._server.xlen(self._key))  # the group begins with the first

    async def close(self) -> None:
        self._kept.stop()
        try:
            await self._run(_LEAVE)
        finally:
            await self._server.aclose()

    async def _unread(self, group: dict[str, Any]) -> int:
        """Entries that nobody was given; where the server doesn't say how many, 1 if there are any."""
        if group.get("lag") is not None:
            return int(group["lag"])
        after = group["last-delivered-id"].decode()
        return len(await self._server.xrange(self._key, min=f"({after}", count=1) or ())

    async def _settle(self, script: str, message: Message) -> None:
        self._kept.stop()
        if not await self._run(script, message.receipt):
            raise Lost("the server was without a sign of life of this pod for too long, or has lost its data")

    async def _run(self, script: str, *arguments: Any) -> Any:
        keys = (self._key, f"{self._key}.failed")
        with self._connection.told():
            try:
                return await self._server.eval(script, 2, *keys, self._group, self._consumer, *arguments)
            except ResponseError as error:
                if "NOGROUP" not in str(error):
                    raise
                await self._server.xgroup_create(self._key, self._group, id="0", mkstream=True)
                return await self._server.eval(script, 2, *keys, self._group, self._consumer, *arguments)
