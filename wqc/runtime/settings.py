"""Reading the settings that `wqc build` wrote."""

from typing import Any, TypeVar

import msgspec
import yaml

from wqc.contract.settings import CarrierSettings, QueueSettings, SourceSettings

T = TypeVar("T")


class _Source(msgspec.Struct):
    """SourceSettings with its recursive values as they come; YAML has no others."""

    source: str
    kind: str
    options: dict[str, Any] = {}
    members: dict[str, dict[str, Any]] = {}
    workflow: str = ""


class _Carrier(msgspec.Struct):
    carrier: str
    kind: str
    options: dict[str, Any] = {}


def read_queue_settings(text: str) -> QueueSettings:
    """Raises ValueError."""
    return _read(text, QueueSettings, "settings.yaml")


def read_source_settings(text: str) -> SourceSettings:
    """Raises ValueError."""
    read = _read(text, _Source, "source.yaml")
    return SourceSettings(read.source, read.kind, read.options, read.members, read.workflow)


def read_carrier_settings(text: str) -> CarrierSettings:
    """Raises ValueError."""
    read = _read(text, _Carrier, "carrier.yaml")
    return CarrierSettings(read.carrier, read.kind, read.options)


def _read(text: str, shape: type[T], file: str) -> T:
    try:
        return msgspec.convert(yaml.safe_load(text), shape)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise ValueError(f"{file}: {error}") from None
