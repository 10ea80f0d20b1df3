"""A source's options as its settings have them, read one by one."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from wqc.contract.settings import Setting
from wqc.runtime.sources.source import SourceError

Credential = Callable[[], str]
"""Asked for whenever it is used, since the file may be renewed. Raises SourceError."""


@dataclass(frozen=True, slots=True)
class Options:
    """`name` is what the source is called in messages. Everything raises SourceError for what can't be."""

    name: str
    given: Mapping[str, Setting]
    workflow: str = ""
    _read: set[str] = field(default_factory=set)

    @property
    def owner(self) -> str:
        """What a broker knows the source by."""
        return f"{self.workflow}.{self.name}" if self.workflow else self.name

    def value(self, option: str, usual: Setting = None) -> Setting:
        self._read.add(option)
        return self.given.get(option, usual)

    def none_left(self) -> None:
        """Nothing that was given is passed over in silence."""
        for option in self.given:
            if option not in self._read:
                raise SourceError(f"{self.name}: this source knows no `{option}`")

    def text(self, option: str, usual: str | None = None) -> str:
        value = self.value(option, usual)
        if not isinstance(value, str):
            raise SourceError(f"{self.name}: `{option}` isn't a text")
        return value

    def seconds(self, option: str, usual: float) -> float:
        value = self.value(option, usual)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SourceError(f"{self.name}: `{option}` isn't a number of seconds")
        return float(value)

    def count(self, option: str, usual: int) -> int:
        value = self.value(option, usual)
        if isinstance(value, bool) or not isinstance(value, int):
            raise SourceError(f"{self.name}: `{option}` isn't a whole number")
        return value

    def word(self, option: str, words: tuple[str, ...]) -> str:
        """The first of the words where the option isn't given."""
        value = self.value(option, words[0])
        if value not in words:
            raise SourceError(f"{self.name}: `{option}` is none of {', '.join(words)}")
        return str(value)

    def flag(self, option: str, usual: bool) -> bool:
        value = self.value(option, usual)
        if not isinstance(value, bool):
            raise SourceError(f"{self.name}: `{option}` is neither true nor false")
        return value

    def secret(self, option: str) -> Credential | None:
        """A credential is never in the settings, but in the environment or in a mounted file."""
        match self.value(option):
            case None:
                return None
            case {"env": str(variable)}:
                if variable not in os.environ:
                    raise SourceError(f"{self.name}: the environment has no {variable}")
                value = os.environ[variable].strip()
                return lambda: value
            case {"file": str(path)}:
                credential = partial(_content, self.name, Path(path))
                credential()
                return credential
            case _:
                raise SourceError(f"{self.name}: `{option}` names neither a variable nor a file")


def _content(name: str, path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError as error:
        raise SourceError(f"{name}: {path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SourceError(f"{name}: {path} isn't text") from None
