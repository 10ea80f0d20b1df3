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


def kubeconform(schemas: Path, minor: int, text: str) -> dict[str, Any]:
    """What kubeconform says of a stream of documents."""
    location = f"{schemas}/{{{{.NormalizedKubernetesVersion}}}}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    command = [
        str(built(KUBECONFORM)),
        "-strict",
        "-summary",
        "-output",
        "json",
        "-schema-location",
        location,
    ]
    command += ["-kubernetes-version", f"1.{minor}.0", "-"]
    said: dict[str, Any] = json.loads(
        subprocess.run(command, input=text, capture_output=True, text=True, timeout=60).stdout
    )
    return said


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_valid(schemas: Path, folder: Path, minor: int) -> None:
    manifests = [each.manifest for each in objects(folder)]
    said = kubeconform(schemas, minor, yaml.safe_dump_all(manifests))
    assert not said["resources"], json.dumps(said["resources"], indent=2)
    assert said["summary"] == {"valid": len(manifests), "invalid": 0, "errors": 0, "skipped": 0}


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize(
    "document", ["{kind: ConfigMap, metadata: {name: x}, dada: {}}", "{kind: ConfigMap, metadata: {nme: x}}"]
)
def test_an_unknown_field_is_told(schemas: Path, document: str, minor: int) -> None:
    said = kubeconform(schemas, minor, document.replace("{", "{apiVersion: v1, ", 1))
    assert said["summary"]["invalid"] == 1
