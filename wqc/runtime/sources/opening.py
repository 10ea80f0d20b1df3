"""From a source's settings to a source that runs in this process."""

import os
from collections.abc import Mapping
from pathlib import Path

from wqc.contract.settings import Setting, SourceSettings
from wqc.runtime.periods import Periods
from wqc.runtime.sources.files import FilesSource
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.items import ItemsSource
from wqc.runtime.sources.source import Source, SourceError


def open_source(settings: SourceSettings, member: str, periods: Periods) -> Source:
    """`member` is "" for a source that is no bundle. Raises SourceError for settings that can't be."""
    options = settings.members[member] if member else settings.options
    name = f"{settings.source}.{member}" if member else settings.source
    match settings.kind:
        case "items":
            return ItemsSource(options.get("items"))
        case "files":
            return FilesSource(
                Path(_text(name, options, "path")),
                _text(name, options, "match", "*"),
                _seconds(name, options, "quiet", 10.0),
            )
        case "http":
            return HttpSource(
                _text(name, options, "url"), periods.request, _secret(name, options.get("auth"))
            )
        case other:
            raise SourceError(f"{name}: a source of kind {other} can't be read here")


def _text(name: str, options: Mapping[str, Setting], option: str, usual: str | None = None) -> str:
    value = options.get(option, usual)
    if not isinstance(value, str):
        raise SourceError(f"{name}: `{option}` isn't a text")
    return value


def _seconds(name: str, options: Mapping[str, Setting], option: str, usual: float) -> float:
    value = options.get(option, usual)
    if not isinstance(value, int | float):
        raise SourceError(f"{name}: `{option}` isn't a number of seconds")
    return float(value)


def _secret(name: str, value: Setting) -> str | None:
    """A credential is never in the settings, but in the environment or in a mounted file."""
    match value:
        case None:
            return None
        case {"env": str(variable)}:
            if variable not in os.environ:
                raise SourceError(f"{name}: the environment has no {variable}")
            return os.environ[variable]
        case {"file": str(path)}:
            try:
                return Path(path).read_text().strip()
            except OSError as error:
                raise SourceError(f"{name}: {path} can't be read: {error.strerror}") from None
        case _:
            raise SourceError(f"{name}: `auth` names neither a variable nor a file")
