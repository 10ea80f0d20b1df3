"""The entries of a Redis list: taken from its head, and held on a lease.

KEY:processing   by number, the payload of an entry that somebody has taken
KEY:leases       until when (ms), by number; who holds one puts that off again and again
KEY:deliveries   how often it was taken, by number
KEY:taken        the last number that was given
KEY.failed       what was given up
"""

from typing import Any

from redis.asyncio import Redis

from wqc.runtime.batch.keeping import Keeping
from wqc.runtime.batch.messages import Failure, Lost, Message
from wqc.runtime.batch.redis_connection import told

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
_ACKNOWLEDGE = _MINE + _FORGET
_FAIL = _MINE + "redis.call('RPUSH', KEYS[6], redis.call('HGET', KEYS[2], ARGV[1]))\n" + _FORGET
_REMAINING = "return redis.call('LLEN', KEYS[1]) + redis.call('HLEN', KEYS[2])"


class RedisListQueue:
    """`hold`: seconds after which a message of who gives no sign of life is another's."""

    def __init__(self, server: Redis, key: str, hold: float) -> None:
        self._server = server
        self._keys = [key, *(f"{key}:{what}" for what in ("processing", "leases", "deliveries", "taken"))]
        self._keys.append(f"{key}.failed")
        self._hold = round(hold * 1000)
        self._kept = Keeping(hold / 3)

    async def open(self) -> None:
        await self.remaining()

    async def take(self) -> Message | None:
        taken = await self._run(_TAKE, self._hold)
        if taken is None:
            return None
        id, deliveries, body = taken
        message = Message(body, deliveries, (id, deliveries))
        self._kept.start(lambda: self._run(_LEASE, id, deliveries, self._hold))
        return message

    async def acknowledge(self, message: Message) -> None:
        await self._settle(_ACKNOWLEDGE, message)

    async def fail(self, message: Message, failure: Failure) -> None:
        await self._settle(_FAIL, message)

    async def give_back(self, message: Message) -> None:
        self._kept.stop()
        await self._run(_LEASE, *message.receipt, -1)

    async def remaining(self) -> int:
        return int(await self._run(_REMAINING))

    async def close(self) -> None:
        self._kept.stop()
        await self._server.aclose()

    async def _settle(self, script: str, message: Message) -> None:
        self._kept.stop()
        if not await self._run(script, *message.receipt):
            raise Lost("the server was without a sign of life of this pod for too long, or has lost its data")

    async def _run(self, script: str, *arguments: Any) -> Any:
        with told():
            return await self._server.eval(script, len(self._keys), *self._keys, *arguments)
