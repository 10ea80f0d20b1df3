"""From a source's settings to a source that runs in this process."""

from collections.abc import Callable, Mapping
from pathlib import Path

from wqc.contract.settings import SourceSettings
from wqc.runtime.periods import Periods
from wqc.runtime.sources.backing_off import BackingOff
from wqc.runtime.sources.body import FORMATS
from wqc.runtime.sources.broker import Broker, BrokerSource
from wqc.runtime.sources.files import FilesSource
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.items import ItemsSource
from wqc.runtime.sources.options import Options
from wqc.runtime.sources.paced import PacedSource
from wqc.runtime.sources.patient import patient
from wqc.runtime.sources.source import Source, SourceError

PATIENCE = 0.8
"""The part of a request's time after which a source says that it needs longer: before who asked gives up."""

UNASKED = 4
"""How many times a manager's Lease a source goes on holding what nobody asks for."""


def open_source(settings: SourceSettings, member: str, periods: Periods) -> Source:
    """`member` is "" for a source that is no bundle. Raises SourceError for settings that can't be."""
    open_kind = KINDS.get(settings.kind)
    options = settings.members[member] if member else settings.options
    name = f"{settings.source}.{member}" if member else settings.source
    if open_kind is None:
        raise SourceError(f"{name}: a source of kind {settings.kind} can't be read here")
    given = Options(name, options, settings.workflow)
    source = open_kind(given, periods)
    given.none_left()
    return source


def _items(options: Options, periods: Periods) -> Source:
    return ItemsSource(options.value("items"))


def _http(options: Options, periods: Periods) -> Source:
    return HttpSource(options.text("url"), periods.request, options.secret("auth"))


def _files(options: Options, periods: Periods) -> Source:
    source = FilesSource(
        Path(options.text("path")), options.text("match", "*"), options.seconds("quiet", 10.0)
    )
    return _spared(source, periods)


def _git(options: Options, periods: Periods) -> Source:
    from wqc.runtime.sources.git import GitSource, Repository
    from wqc.runtime.sources.git_command import Login

    password = options.secret("auth")
    repository = Repository(
        options.text("url"),
        options.text("branch", "main"),
        options.count("depth", 1000),
        Login(options.text("username", "git"), password) if password else None,
    )
    return _spared(GitSource(repository), periods, every=periods.remote)


def _object_store(options: Options, periods: Periods) -> Source:
    from wqc.runtime.sources.object_store import Bucket, ObjectStoreSource

    bucket = Bucket(
        options.text("endpoint"),
        options.text("bucket"),
        options.text("prefix", ""),
        options.text("match", "**"),
        options.text("region", "us-east-1"),
        options.secret("access_key"),
        options.secret("secret_key"),
        options.flag("path_style", True),
    )
    return _spared(ObjectStoreSource(bucket), periods)


def _kafka(options: Options, periods: Periods) -> Source:
    from wqc.runtime.kafka.connection import connection
    from wqc.runtime.sources.kafka import KafkaBroker, Reading

    is_json = options.word("format", FORMATS) == "json"
    reading = Reading(
        options.text("topic"),
        options.text("group", options.owner),
        options.word("start", ("earliest", "latest")),
        b"null" if is_json else b"",
        options.seconds("dedupe", 86400.0),
    )
    return _broker(KafkaBroker(connection(options), reading, _answer(periods)), options, periods)


def _redis_list(options: Options, periods: Periods) -> Source:
    from wqc.runtime.redis.connection import connection
    from wqc.runtime.sources.redis_list import RedisList

    broker = RedisList(connection(options), options.text("key"), options.owner, _answer(periods))
    return _broker(broker, options, periods)


def _redis_stream(options: Options, periods: Periods) -> Source:
    from wqc.runtime.redis.connection import connection
    from wqc.runtime.sources.redis_stream import RedisStream

    group = options.text("group", options.owner)
    broker = RedisStream(connection(options), options.text("key"), group, options.owner, _answer(periods))
    return _broker(broker, options, periods)


def _rabbitmq(options: Options, periods: Periods) -> Source:
    from wqc.runtime.rabbitmq.connection import connection
    from wqc.runtime.sources.rabbitmq import IDENTITIES, RabbitQueue

    options.value("management")  # a batch's: it asks how much is left
    identity = options.word("identity", IDENTITIES)
    where, queue, unasked = connection(options), options.text("queue"), UNASKED * periods.lease
    broker = RabbitQueue(where, queue, identity, options.owner, _answer(periods), unasked)
    return _broker(broker, options, periods)


def _broker(broker: Broker, options: Options, periods: Periods) -> Source:
    options.value("ack")  # the manager's: it says when an item is done
    source = BrokerSource(broker, options.word("format", FORMATS))
    backing_off = BackingOff(source, periods.retry_listing, periods.refused_limit)
    return patient(backing_off, PATIENCE * periods.request)


def _answer(periods: Periods) -> float:
    """Seconds that a server may take, so that one that hangs is still told of in time."""
    return periods.request / 3


def _spared(source: Source, periods: Periods, every: float = 0.0) -> Source:
    """Asked no oftener than it can bear, and given the time that it needs."""
    return patient(PacedSource(source, every, periods.rest), PATIENCE * periods.request)


KINDS: Mapping[str, Callable[[Options, Periods], Source]] = {
    "files": _files,
    "git": _git,
    "http": _http,
    "items": _items,
    "kafka": _kafka,
    "object_store": _object_store,
    "rabbitmq": _rabbitmq,
    "redis_list": _redis_list,
    "redis_stream": _redis_stream,
}
"""What a source of each kind is opened by; `container`, the user's own ambassador, has no settings."""
