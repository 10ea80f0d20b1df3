"""From a source's settings to one pod's share of its queue."""

import socket
from collections.abc import Callable, Mapping
from secrets import token_hex

from wqc.contract.settings import SourceSettings
from wqc.runtime.batch.messages import MessageQueue
from wqc.runtime.periods import Periods
from wqc.runtime.sources.body import FORMATS
from wqc.runtime.sources.options import Options
from wqc.runtime.sources.source import SourceError


def open_queue(settings: SourceSettings, periods: Periods) -> tuple[MessageQueue, str]:
    """The queue and the format of its messages; nothing is connected yet. Raises SourceError."""
    open_kind = KINDS.get(settings.kind)
    if open_kind is None:
        raise SourceError(f"{settings.source}: a source of kind {settings.kind} has no messages for a batch")
    options = Options(settings.source, settings.options, settings.workflow)
    queue = open_kind(options, periods)
    format = options.word("format", FORMATS)
    options.value("ack")  # a batch acknowledges what is done
    options.none_left()
    return queue, format


def _rabbitmq(options: Options, periods: Periods) -> MessageQueue:
    from wqc.runtime.batch.management import Management
    from wqc.runtime.batch.rabbitmq import RabbitQueue
    from wqc.runtime.rabbitmq.connection import connection

    options.value("identity")  # of two deliveries of one message it makes no difference here
    reached, management = connection(options), options.text("management", "")
    counts = Management(management, reached, periods.request) if management else None
    return RabbitQueue(reached, options.text("queue"), options.owner, counts, periods.request)


def _redis_list(options: Options, periods: Periods) -> MessageQueue:
    from wqc.runtime.batch.redis_list import RedisListQueue
    from wqc.runtime.redis.connection import connection

    reached, key = connection(options), options.text("key")
    return RedisListQueue(reached, key, options.owner, periods.hold, periods.request)


def _redis_stream(options: Options, periods: Periods) -> MessageQueue:
    from wqc.runtime.batch.redis_stream import RedisStreamQueue
    from wqc.runtime.redis.connection import connection

    reached, key, group = connection(options), options.text("key"), options.text("group", options.owner)
    # for people, the pod; and what no other process has been
    consumer = f"{socket.gethostname()}-{token_hex(4)}"
    return RedisStreamQueue(reached, key, group, consumer, periods.hold, periods.request)


KINDS: Mapping[str, Callable[[Options, Periods], MessageQueue]] = {
    "rabbitmq": _rabbitmq,
    "redis_list": _redis_list,
    "redis_stream": _redis_stream,
}
