"""A container image from folders, without a container engine."""

import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

# Go's names for what uname says
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Image:
    """`names` are full ones with a tag. Each of `layers` is a folder, over the one before."""

    names: Sequence[str]
    layers: Sequence[Path]
    command: Sequence[str]
    user: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


def write_image(archive: Path, image: Image, machine: str) -> None:
    """An archive for `ctr image import`; `machine` is what `uname -m` says."""
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin"} | dict(image.environment)
    with tarfile.open(archive, "w") as tar:
        digests, names = [], []
        for number, folder in enumerate(image.layers):
            with tempfile.TemporaryFile(dir=archive.parent) as layer:
                digests.append(_write_layer(layer, folder))
                names.append(f"{number}.tar")
                _add(tar, names[-1], layer)
        config = {
            "architecture": ARCHITECTURES[machine],
            "os": "linux",
            "config": {
                "Entrypoint": list(image.command),
                "User": image.user,
                "Env": [f"{key}={value}" for key, value in variables.items()],
            },
            "rootfs": {"type": "layers", "diff_ids": digests},
        }
        config_text = json.dumps(config).encode()
        config_name = hashlib.sha256(config_text).hexdigest() + ".json"
        manifest = [{"Config": config_name, "RepoTags": list(image.names), "Layers": names}]
        _add(tar, config_name, io.BytesIO(config_text))
        _add(tar, "manifest.json", io.BytesIO(json.dumps(manifest).encode()))


def _write_layer(target: BinaryIO, folder: Path) -> str:
    """The layer's digest. The same files give the same bytes, so that images share what they can."""
    with tarfile.open(fileobj=target, mode="w") as tar:
        for path in [folder, *sorted(folder.rglob("*"))]:
            tar.add(path, arcname=str(path.relative_to(folder)), recursive=False, filter=_owned_by_root)
    target.seek(0)
    digest = hashlib.file_digest(target, "sha256").hexdigest()
    return f"sha256:{digest}"


def _add(tar: tarfile.TarFile, name: str, data: BinaryIO) -> None:
    info = tarfile.TarInfo(name)
    info.size = data.seek(0, io.SEEK_END)
    data.seek(0)
    tar.addfile(info, data)


def _owned_by_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    info.mtime = 0
    return info
