"""`kubectl apply -k` sees exactly the objects of a golden folder, as they stand there."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.goldens import FOLDERS, objects

KUBECTL = Path(sys.prefix, "bin", "kubectl")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_kustomize_takes_the_folder_as_it_is(folder: Path) -> None:
    done = subprocess.run([KUBECTL, "kustomize", folder], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    taken = {identity(manifest): manifest for manifest in yaml.safe_load_all(done.stdout)}
    standing = {identity(each.manifest): each.manifest for each in objects(folder) if ":" not in each.origin}
    assert taken == standing


def identity(manifest: dict) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]
