"""Every golden is valid by the schemas of the three newest versions of Kubernetes, with no network."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from support.gobuild import KUBECONFORM, built
from support.goldens import FOLDERS, objects

SCHEMAS = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"
MINORS = sorted(
    {
        int(found[1])
        for path in SCHEMAS.iterdir()
        if (found := re.match(r"v1\.(\d+)\.0-local-strict", path.name))
    }
)[-3:]


@pytest.fixture(scope="session")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schemas without the web address that each gives as its own: references find their neighbours."""
    folder = tmp_path_factory.mktemp("schemas")
    for minor in MINORS:
        (folder / f"v1.{minor}.0").mkdir()
        for path in (SCHEMAS / f"v1.{minor}.0-local-strict").glob("*.json"):
            schema = json.loads(path.read_text())
            schema.pop("$id", None)
            text = json.dumps(schema).replace('"/api/_definitions.json#', '"_definitions.json#')
            (folder / f"v1.{minor}.0" / path.name).write_text(text)
    return folder


def kubeconform(schemas: Path, minor: int, files: Path) -> dict[str, Any]:
    """What kubeconform says of the files in a folder: a list of what is not valid, and a summary."""
    location = f"{schemas}/{{{{.NormalizedKubernetesVersion}}}}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    command = [str(built(KUBECONFORM)), "-strict", "-summary", "-output", "json"]
    command += ["-schema-location", location, "-kubernetes-version", f"1.{minor}.0", str(files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize("minor", MINORS)
def test_every_golden_is_valid(schemas: Path, tmp_path: Path, minor: int) -> None:
    count = 0
    for folder in FOLDERS:
        manifests = [each.manifest for each in objects(folder)]
        (tmp_path / f"{folder.name}.yaml").write_text(yaml.safe_dump_all(manifests))
        count += len(manifests)
    said = kubeconform(schemas, minor, tmp_path)
    assert not said["resources"], json.dumps(said["resources"], indent=2)
    assert said["summary"] == {"valid": count, "invalid": 0, "errors": 0, "skipped": 0}


@pytest.mark.parametrize("minor", MINORS)
def test_unknown_fields_are_told(schemas: Path, tmp_path: Path, minor: int) -> None:
    on_top = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "dada": {}}
    in_metadata = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"nme": "x"}}
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump_all([on_top, in_metadata]))
    said = kubeconform(schemas, minor, tmp_path)
    assert said["summary"] == {"valid": 0, "invalid": 2, "errors": 0, "skipped": 0}
