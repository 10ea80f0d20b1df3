"""What a build may change in a folder that also people and other tools write to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wqc.emit.lock import LOCK, Lock, digest


@dataclass(frozen=True, slots=True)
class Plan:
    """What turns the folder into what was built.

    `write` has the new text of files that differ, the lock's last; `remove` names files that wqc wrote and no
    longer needs. Of these, `edited` were changed since wqc wrote them, and `foreign` are not wqc's at all.
    """

    write: Mapping[str, bytes]
    remove: tuple[str, ...]
    unchanged: int
    edited: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def changes(self) -> bool:
        return bool(self.write or self.remove)


def plan(present: Mapping[str, bytes], locks: Iterable[Lock], files: Mapping[str, str]) -> Plan:
    """Compare the built `files` (lock included) with what is `present`.

    `locks` are the folder's own and, after an interrupted build, the one that it was about to put there. A
    file that has the new text already is fine whoever wrote it: the next build completes one that was killed.
    """
    owned: dict[str, set[str]] = {}
    for lock in locks:
        for name, hexadecimal in lock.files.items():
            owned.setdefault(name, set()).add(hexadecimal)
    write: dict[str, bytes] = {}
    edited, foreign = [], []
    for name in sorted(files, key=lambda name: (name == LOCK, name)):
        new, old = files[name].encode(), present.get(name)
        if old == new:
            continue
        write[name] = new
        if old is not None and name != LOCK:
            if name not in owned:
                foreign.append(name)
            elif digest(old) not in owned[name]:
                edited.append(name)
    remove = tuple(name for name in sorted(owned) if name not in files and name in present)
    edited += [name for name in remove if digest(present[name]) not in owned[name]]
    return Plan(write, remove, len(files) - len(write), tuple(edited), tuple(foreign))
