"""The fields that the spec of a pod has, by version of Kubernetes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VERSIONS = ("1.35", "1.36", "1.37")
"""Those whose schemas are known, oldest first: the newest and two back, as Kubernetes itself supports."""

_FOLDER = Path(__file__).parent / "kubernetes"


@dataclass(frozen=True, slots=True)
class ObjectType:
    """Type expressions by field name; `tools/podspec_fields.py` says what they look like."""

    fields: Mapping[str, str]
    required: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PodSpec:
    """`root` names the type of the spec itself."""

    version: str
    root: str
    types: Mapping[str, ObjectType]


@cache
def pod_spec(version: str) -> PodSpec:
    """The fields in one of VERSIONS."""
    data = json.loads((_FOLDER / f"podspec-{version}.json").read_text())
    types = {
        name: ObjectType(each["fields"], tuple(each.get("required", ())))
        for name, each in data["types"].items()
    }
    return PodSpec(data["kubernetes"], data["root"], types)
