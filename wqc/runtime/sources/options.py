"""A source's options as its settings have them, read one by one."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wqc.contract.settings import Setting
from wqc.runtime.sources.source import SourceError


@dataclass(frozen=True, slots=True)
class Options:
    """`name` is what the source is called in messages. Everything raises SourceError for what can't be."""

    name: str
    given: Mapping[str, Setting]

    def text(self, option: str, usual: str | None = None) -> str:
        value = self.given.get(option, usual)
        if not isinstance(value, str):
            raise SourceError(f"{self.name}: `{option}` isn't a text")
        return value

    def seconds(self, option: str, usual: float) -> float:
        value = self.given.get(option, usual)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SourceError(f"{self.name}: `{option}` isn't a number of seconds")
        return float(value)

    def count(self, option: str, usual: int) -> int:
        value = self.given.get(option, usual)
        if isinstance(value, bool) or not isinstance(value, int):
            raise SourceError(f"{self.name}: `{option}` isn't a whole number")
        return value

    def flag(self, option: str, usual: bool) -> bool:
        value = self.given.get(option, usual)
        if not isinstance(value, bool):
            raise SourceError(f"{self.name}: `{option}` is neither true nor false")
        return value

    def secret(self, option: str) -> str | None:
        """A credential is never in the settings, but in the environment or in a mounted file."""
        match self.given.get(option):
            case None:
                return None
            case {"env": str(variable)}:
                if variable not in os.environ:
                    raise SourceError(f"{self.name}: the environment has no {variable}")
                return os.environ[variable].strip()
            case {"file": str(path)}:
                try:
                    return Path(path).read_text().strip()
                except OSError as error:
                    raise SourceError(f"{self.name}: {path} can't be read: {error.strerror}") from None
            case _:
                raise SourceError(f"{self.name}: `{option}` names neither a variable nor a file")
