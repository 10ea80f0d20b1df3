"""The entries of a Redis list: taken from its head, and held on a lease.

KEY:OWNER:taken        by number, the payload of an entry that a pod of the batch has
KEY:OWNER:leases       until when (ms), by number; who has one puts that off again and again
KEY:OWNER:deliveries   how often it was taken, by number
KEY:OWNER:number       the last number that was given
KEY.failed             what was given up
"""

from typing import Any

from wqc.runtime.batch.keeping import Keeping
from wqc.runtime.batch.messages import Count, Failure, Lost, Message
from wqc.runtime.redis.connection import Connection

_NOW = "local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
_TAKE = (
    _NOW
    + """
local id = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 1)[1]
local body
if id then
  body = redis.call('HGET', KEYS[2], id)
else
  body = redis.call('LPOP', KEYS[1])
  if not body then return false end
  id = redis.call('INCR', KEYS[5])
  redis.call('HSET', KEYS[2], id, body)
end
redis.call('ZADD', KEYS[3], now + ARGV[1], id)
return {tostring(id), redis.call('HINCRBY', KEYS[4], id, 1), body}
"""
)
# What follows is asked by who has the delivery number ARGV[2] of the entry ARGV[1], and nobody else.
_MINE = "if redis.call('HGET', KEYS[4], ARGV[1]) ~= ARGV[2] then return 0 end\n"
_LEASE = _MINE + _NOW + "redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[1]); return 1"
_FORGET = (
    "redis.call('HDEL', KEYS[2], ARGV[1]); redis.call('HDEL', KEYS[4], ARGV[1])"
    " redis.call('ZREM', KEYS[3], ARGV[1]); return 1"
)
_GIVE_BACK = (
    _MINE + "redis.call('HINCRBY', KEYS[4], ARGV[1], -1); redis.call('ZADD', KEYS[3], 0, ARGV[1]); return 1"
)
_ACKNOWLEDGE = _MINE + _FORGET
_FAIL = _MINE + "redis.call('RPUSH', KEYS[6], redis.call('HGET', KEYS[2], ARGV[1]))\n" + _FORGET
_COUNT = """
local left = redis.call('LLEN', KEYS[1]) + redis.call('HLEN', KEYS[2])
return {left, tonumber(redis.call('GET', KEYS[5]) or 0)}
"""


class RedisListQueue:
    """`hold`: after how long the message of a pod without a sign of life is another's; `timeout`: for an
    answer. Both in seconds.
    """

    def __init__(self, connection: Connection, key: str, owner: str, hold: float, timeout: float) -> None:
        self._connection = connection
        self._server = connection.client(timeout)
        own = (f"{key}:{owner}:{what}" for what in ("taken", "leases", "deliveries", "number"))
        self._keys = (key, *own, f"{key}.failed")
        self._hold = round(hold * 1000)
        self._kept = Keeping(hold / 3)

    async def open(self) -> None:
        await self.count()

    async def take(self) -> Message | None:
        taken = await self._run(_TAKE, self._hold)
        if taken is None:
            return None
        id, deliveries, body = taken
        message = Message(id.decode(), body, deliveries, (id, deliveries))
        self._kept.start(lambda: self._run(_LEASE, id, deliveries, self._hold))
        return message

    async def acknowledge(self, message: Message) -> None:
        await self._settle(_ACKNOWLEDGE, message)

    async def fail(self, message: Message, failure: Failure) -> None:
        await self._settle(_FAIL, message)

    async def give_back(self, message: Message) -> None:
        self._kept.stop()
        await self._run(_GIVE_BACK, *message.receipt)

    async def count(self) -> Count:
        left, number = await self._run(_COUNT)
        return Count(left, (number,))

    async def close(self) -> None:
        self._kept.stop()
        await self._server.aclose()

    async def _settle(self, script: str, message: Message) -> None:
        self._kept.stop()
        if not await self._run(script, *message.receipt):
            raise Lost("the server was without a sign of life of this pod for too long, or has lost its data")

    async def _run(self, script: str, *arguments: Any) -> Any:
        with self._connection.told():
            return await self._server.eval(script, len(self._keys), *self._keys, *arguments)
