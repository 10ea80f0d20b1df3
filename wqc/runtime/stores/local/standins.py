"""What there is on this machine instead of what a pod has in a cluster."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StandIns:
    programs: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """By queue and container, what runs instead of the container's own command."""
    folders: Mapping[str, Path] = field(default_factory=dict)
    """By the name of a claim, Secret or ConfigMap that is mounted."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """By `NAME/KEY` of a Secret or ConfigMap, the file that holds it; else it is in the environment."""


NO_STAND_INS = StandIns()


def variable(name: str, key: str) -> str:
    """Where the environment has one value of a Secret or ConfigMap: `MAIL_TOKEN` for `mail`, `token`."""
    return re.sub(r"\W", "_", f"{name}_{key}").upper()
