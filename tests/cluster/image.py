"""A container image from a folder, without a container engine."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# Go's names for what uname says
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def write_image(
    archive: Path,
    name: str,
    root: Path,
    command: Sequence[str],
    machine: str,
    user: str = "",
    environment: Mapping[str, str] | None = None,
) -> None:
    """An archive for `ctr image import` with `root` as its one layer; `machine` is what `uname -m` says."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(root, arcname=".", filter=_owned_by_root)
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin"} | dict(environment or {})
    config = {
        "architecture": ARCHITECTURES[machine],
        "os": "linux",
        "config": {
            "Entrypoint": list(command),
            "User": user,
            "Env": [f"{key}={value}" for key, value in variables.items()],
        },
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer.getvalue())]},
    }
    config_text = json.dumps(config).encode()
    config_name = _digest(config_text).removeprefix("sha256:") + ".json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(archive, "w") as tar:
        for member, data in (
            (config_name, config_text),
            ("layer.tar", layer.getvalue()),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _owned_by_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info
