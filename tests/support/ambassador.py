"""The runtime image's program as a process, as a container of the manager's pod runs it."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

PROGRAM = [sys.executable, "-m", "wqc.runtime.program"]


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Ambassador:
    url: str
    process: "subprocess.Popen[str]"

    def ask(self, path: str, method: str = "GET", **headers: str) -> Reply:
        """A header's name is written with `_`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, method=method, headers=named)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return Reply(response.status, response.headers, json.loads(response.read() or b"null"))
        except urllib.error.HTTPError as error:
            return Reply(error.code, error.headers, json.loads(error.read() or b"null"))

    def items(self, path: str = "") -> list[str]:
        reply = self.ask(f"{path}/api/v1/items")
        assert reply.status == 200, reply.body
        names: list[str] = reply.body["items"]
        return names

    def anonymous_memory(self) -> int:
        """Bytes that can't be given back to the system: what a container's limit ends it for."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        kibibytes = next(line.split()[1] for line in status.splitlines() if line.startswith("RssAnon:"))
        return int(kibibytes) * 1024


@contextmanager
def ambassador(
    arguments: Sequence[str], settings: Path | None = None, **variables: str
) -> Iterator[Ambassador]:
    """Started on a free port of its own choice; ended with SIGTERM."""
    environment = os.environ | {"WQC_SETTINGS": str(settings)} | variables
    process = subprocess.Popen(
        [*PROGRAM, arguments[0], "--port=0", *arguments[1:]],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Ambassador(f"http://127.0.0.1:{_port(process)}", process)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def source_settings(folder: Path, name: str, kind: str, **options: Any) -> Path:
    """`source.yaml` where a pod has it. Returns `folder`."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump({"source": name, "kind": kind, "options": options}, sort_keys=False)
    (folder / name / "source.yaml").write_text(text)
    return folder


def _port(process: "subprocess.Popen[str]") -> int:
    assert process.stderr
    for line in process.stderr:
        said = json.loads(line)
        if said["text"] == "ambassador listens":
            port: int = said["port"]
            return port
    raise AssertionError(f"it ended with {process.wait()}")
