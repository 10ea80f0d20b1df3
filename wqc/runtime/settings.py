"""Reading the settings that `wqc build` wrote."""

from typing import TypeVar

import msgspec
import yaml

from wqc.contract.settings import QueueSettings, SourceSettings

T = TypeVar("T")


def read_queue_settings(text: str) -> QueueSettings:
    """Raises ValueError."""
    return _read(text, QueueSettings, "settings.yaml")


def read_source_settings(text: str) -> SourceSettings:
    """Raises ValueError."""
    return _read(text, SourceSettings, "source.yaml")


def _read(text: str, shape: type[T], file: str) -> T:
    try:
        return msgspec.convert(yaml.safe_load(text), shape)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise ValueError(f"{file}: {error}") from None
