"""Volumes and where containers mount them."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wqc.language.values import ConfigMap, Pvc, Secret

TMP = "tmp"
TMP_SIZE = "1Gi"
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")


class Volume(NamedTuple):
    """`source` is the part of a pod's volume that says what it is: `{"emptyDir": {}}`."""

    name: str
    source: Mapping[str, Any]


class Mount(NamedTuple):
    volume: str
    path: str
    read_only: bool = False
    sub_path: str = ""


@dataclass(slots=True)
class Volumes:
    """Collects the volumes of one pod: a thing that is mounted twice is one volume."""

    _volumes: dict[str, Volume] = field(default_factory=dict)

    def add(self, name: str, source: Mapping[str, Any]) -> str:
        self._volumes.setdefault(name, Volume(name, source))
        return name

    def empty(self, name: str, size: str) -> str:
        return self.add(name, {"emptyDir": {"sizeLimit": size}})

    def mount(self, path: str, value: Pvc | Secret | ConfigMap, *, only_read: bool = False) -> Mount:
        """What `mounts = { path = value }` says."""
        match value:
            case Pvc():
                claim: dict[str, Any] = {"claimName": value.name}
                if value.access == "rox":
                    claim["readOnly"] = True
                name = self.add(_name("claim", value.name), {"persistentVolumeClaim": claim})
                return Mount(name, path, value.read_only or only_read, value.sub_path)
            case Secret():
                name = self.add(_name("secret", value.name), {"secret": {"secretName": value.name}})
            case ConfigMap():
                name = self.add(_name("config", value.name), {"configMap": {"name": value.name}})
        return Mount(name, path, True, value.key)

    def all(self) -> tuple[Volume, ...]:
        return tuple(self._volumes.values())


def claims(mounts: Iterable[Pvc | Secret | ConfigMap]) -> Iterator[Pvc]:
    return (value for value in mounts if isinstance(value, Pvc))


def _name(kind: str, name: str) -> str:
    """A volume's name is a label, what it mounts may have dots and more letters."""
    plain = f"{kind}-{name}"
    if _LABEL.fullmatch(plain):
        return plain
    return f"{kind}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
