"""From a source's settings to what fills the queue that it reads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wqc.contract.settings import SourceSettings
from wqc.runtime.filling.filler import Filler
from wqc.runtime.sources.body import FORMATS
from wqc.runtime.sources.options import Options
from wqc.runtime.sources.source import SourceError


@dataclass(frozen=True, slots=True)
class Filling:
    """`place`: the queue, topic or key, for people. `format`: of its messages' bodies."""

    filler: Filler
    place: str
    format: str


def open_filler(settings: SourceSettings, member: str, *, create: bool, timeout: float) -> Filling:
    """`create`: make the queue or topic if it isn't there; `timeout`: seconds for an answer. Nothing is
    connected yet. Raises SourceError.
    """
    open_kind = KINDS.get(settings.kind)
    if open_kind is None:
        known = ", ".join(KINDS)
        raise SourceError(
            f"{settings.source} is a source of kind {settings.kind}, which has no queue to fill; {known} have"
        )
    options = Options(settings.source, settings.members[member] if member else settings.options)
    format = options.word("format", FORMATS)
    filler, place = open_kind(options, format, create, timeout)
    return Filling(filler, place, format)


Opened = tuple[Filler, str]


def _rabbitmq(options: Options, format: str, create: bool, timeout: float) -> Opened:
    from wqc.runtime.filling.rabbitmq import RabbitFiller
    from wqc.runtime.rabbitmq.connection import connection

    queue = options.text("queue")
    return RabbitFiller(connection(options), queue, create, timeout), f"the queue {queue}"


def _redis_list(options: Options, format: str, create: bool, timeout: float) -> Opened:
    from wqc.runtime.filling.redis import RedisListFiller
    from wqc.runtime.redis.connection import connection

    key = options.text("key")
    return RedisListFiller(connection(options), key, timeout), f"the list {key}"


def _redis_stream(options: Options, format: str, create: bool, timeout: float) -> Opened:
    from wqc.runtime.filling.redis import RedisStreamFiller
    from wqc.runtime.redis.connection import connection

    key = options.text("key")
    return RedisStreamFiller(connection(options), key, format, timeout), f"the stream {key}"


def _kafka(options: Options, format: str, create: bool, timeout: float) -> Opened:
    from wqc.runtime.carriers.kafka import KafkaCarrier, Target
    from wqc.runtime.filling.kafka import KafkaFiller
    from wqc.runtime.kafka.connection import connection

    topic = options.text("topic")
    # partitions and copies as the brokers have them of a topic that doesn't say
    carrier = KafkaCarrier(connection(options), Target(topic, create, -1, -1), timeout)
    return KafkaFiller(carrier), f"the topic {topic}"


KINDS: Mapping[str, Callable[[Options, str, bool, float], Opened]] = {
    "rabbitmq": _rabbitmq,
    "redis_list": _redis_list,
    "redis_stream": _redis_stream,
    "kafka": _kafka,
}
