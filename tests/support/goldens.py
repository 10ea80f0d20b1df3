"""The objects in the folders of golden/, with those that are kept as text inside a ConfigMap."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(os.environ.get("WQC_GOLDEN") or Path(__file__).resolve().parents[2] / "golden")
FOLDERS = sorted(path for path in ROOT.glob("*/") if path.is_dir())


@dataclass(frozen=True)
class GoldenObject:
    """`origin` tells people where it stands: `thumbs.yaml`, or `thumbs.yaml:job.yaml` in a ConfigMap."""

    origin: str
    manifest: dict[str, Any]

    @property
    def label(self) -> str:
        return f"{self.manifest['kind']}/{self.manifest['metadata']['name']}"


def objects(folder: Path) -> Iterator[GoldenObject]:
    """Everything in the folder that an API server or the manager would create."""
    for path in sorted(folder.rglob("*.yaml")):
        if path.name == "kustomization.yaml":
            continue
        for manifest in yaml.safe_load_all(path.read_text()):
            if manifest is None:
                continue
            origin = str(path.relative_to(folder))
            yield GoldenObject(origin, manifest)
            if manifest["kind"] == "ConfigMap":
                yield from _nested(origin, manifest)


def _nested(origin: str, config_map: dict[str, Any]) -> Iterator[GoldenObject]:
    """Templates of Jobs: the manager names them, so here they have their ConfigMap's name and namespace."""
    for key, text in config_map.get("data", {}).items():
        if not key.endswith(".yaml"):
            continue
        manifest = yaml.safe_load(text)
        if isinstance(manifest, dict) and {"apiVersion", "kind"} <= set(manifest):
            own = config_map["metadata"]
            given = {key: own[key] for key in ("name", "namespace") if key in own}
            yield GoldenObject(
                f"{origin}:{key}", manifest | {"metadata": given | manifest.get("metadata", {})}
            )
