"""Reading the settings that `wqc build` wrote."""

from typing import Any, TypeVar

import msgspec
import yaml

from wqc.contract.settings import QueueSettings, SourceSettings

T = TypeVar("T")


class _Source(msgspec.Struct):
    """SourceSettings with its recursive values as they come; YAML has no others."""

    source: str
    kind: str
    options: dict[str, Any] = {}
    members: dict[str, dict[str, Any]] = {}
    workflow: str = ""


def read_queue_settings(text: str) -> QueueSettings:
    """Raises ValueError."""
    return _read(text, QueueSettings, "settings.yaml")


def read_source_settings(text: str) -> SourceSettings:
    """Raises ValueError."""
    read = _read(text, _Source, "source.yaml")
    return SourceSettings(read.source, read.kind, read.options, read.members, read.workflow)


def _read(text: str, shape: type[T], file: str) -> T:
    try:
        return msgspec.convert(yaml.safe_load(text), shape)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise ValueError(f"{file}: {error}") from None
