"""The settings files that the manager and its ambassadors read, as plain data without what is a default."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from wqc.contract.settings import (
    CarrierSettings,
    Lane,
    Parallelism,
    QueueSettings,
    Rollout,
    Setting,
    SourceSettings,
)
from wqc.emit.objects.credentials import file_of
from wqc.language.values import Duration, Memory, Pvc, Secret
from wqc.model.nodes import Carrier, Queue, Sharder, Source


def of_queue(
    queue: Queue, lanes: tuple[str, ...], sharder: Sharder | None, arrives: float | None
) -> QueueSettings:
    """`sharder` made the lanes, if one did; `arrives` is the mean time between two items in seconds."""
    parallelism = Parallelism(queue.parallelism.low, queue.parallelism.high)
    rollout = Rollout(sharder.order, sharder.prove) if sharder and sharder.order else None
    return QueueSettings(
        queue=queue.name,
        lanes=tuple(Lane(lane, parallelism, _selector(sharder, lane)) for lane in lanes or ("",)),
        retries=queue.retries,
        result=queue.result,
        rework=queue.rework,
        poison=queue.poison,
        deadline=queue.deadline.seconds,
        handover=queue.handover,
        failed_limit=queue.failed_limit,
        keep=queue.keep.seconds,
        paused=queue.paused,
        formerly=queue.formerly,
        arrives=arrives,
        takes=queue.takes.seconds if queue.takes else None,
        rollout=rollout,
    )


def of_source(workflow: str, source: Source) -> SourceSettings:
    members = {member: _options(options) for member, options in source.members.items()}
    return SourceSettings(source.name, source.kind, _options(source.options), members, workflow)


def of_carrier(carrier: Carrier) -> CarrierSettings:
    return CarrierSettings(carrier.name, carrier.kind, _options(carrier.options))


def plain(settings: Any) -> Any:
    """A settings dataclass as maps and lists; fields that have their default are left out."""
    if isinstance(settings, dict):
        return {key: plain(value) for key, value in settings.items()}
    if isinstance(settings, tuple | list):
        return [plain(value) for value in settings]
    if is_dataclass(settings):
        kind: Any = type(settings)
        given = ((name, getattr(settings, name), default) for name, default in _defaults(kind))
        return {name: plain(value) for name, value, default in given if value != default}
    return settings


@cache
def _defaults(settings: type[Any]) -> tuple[tuple[str, Any], ...]:
    """A dataclass' fields with their defaults; MISSING where there is none."""
    return tuple(
        (field.name, field.default if field.default_factory is MISSING else field.default_factory())
        for field in fields(settings)
    )


def _selector(sharder: Sharder | None, lane: str) -> dict[str, str]:
    nodes = sharder.shards.get(lane) if sharder else None
    return dict(nodes.labels) if nodes else {}


def _options(options: Mapping[str, Any]) -> dict[str, Setting]:
    return {name: _setting(value) for name, value in options.items() if not isinstance(value, Pvc)}


def _setting(value: Any) -> Setting:
    match value:
        case Secret():
            return {"file": file_of(value)}
        case Duration():
            return value.seconds
        case Memory():
            return value.bytes
        case Decimal():
            return int(value) if value == int(value) else float(value)
        case Mapping():
            return {key: _setting(each) for key, each in value.items()}
        case tuple() | list():
            return [_setting(each) for each in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)
