"""The sources that an ambassador serves, from their settings: `NAME`, and `NAME/MEMBER` for a bundle."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from wqc.contract.pod import SETTINGS_FOLDER
from wqc.runtime.logs import log
from wqc.runtime.periods import Periods
from wqc.runtime.settings import read_source_settings
from wqc.runtime.sources.opening import open_source
from wqc.runtime.sources.source import Listing, Source, SourceError


class BrokenSource:
    """A source that can't be opened: it says why whenever it is asked, which is where people look."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def list(self) -> Listing:
        raise SourceError(self._reason)

    async def get(self, name: str) -> str:
        raise SourceError(self._reason)

    async def close(self) -> None:
        pass


def open_sources(names: Sequence[str], periods: Periods) -> dict[str, Source]:
    """By path. A source that is alone is at the root too, as a plain manager expects."""
    folder = Path(os.environ.get("WQC_SETTINGS", SETTINGS_FOLDER))
    sources: dict[str, Source] = {}
    for name in names:
        path = folder / name / "source.yaml"
        try:
            settings = read_source_settings(path.read_text())
        except OSError as error:
            sources[name] = _broken(name, f"{path} can't be read: {error.strerror}")
            continue
        except ValueError as error:
            sources[name] = _broken(name, f"{path.parent.name}/{error}")
            continue
        for member in settings.members or ("",):
            try:
                source = open_source(settings, member, periods)
            except SourceError as error:
                source = _broken(name, str(error))
            sources[f"{name}/{member}" if member else name] = source
    if len(sources) == 1:
        sources[""] = next(iter(sources.values()))
    return sources


def _broken(name: str, reason: str) -> Source:
    log(logging.ERROR, "a source can't be opened", source=name, reason=reason)
    return BrokenSource(reason)
