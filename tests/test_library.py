"""The library that comes with wqc: every worker of it can be made, alone or in a pipeline."""

from wqc.cli.imports import LIBRARY, Imports
from wqc.diagnostics.finding import Level
from wqc.diagnostics.source import Source
from wqc.model.nodes import Queue, Worker
from wqc.pipeline import Options, check

AROUND = """\
workflow files

import "std:objects" as objects

source files: object_store {
  endpoint   = "https://s3.example.com"
  bucket     = "incoming"
  access_key = secret("store", "access_key")
  secret_key = secret("store", "secret_key")
  arrives    = 1m
}

queue work { from = files, worker = job }
"""


def made(workers: str) -> Worker:
    """The worker `job` of a clean workflow."""
    checked = check(Source("files.wq", AROUND + workers), Options(read=Imports()))
    assert [finding for finding in checked.findings if finding.level is not Level.NOTE] == []
    assert checked.workflow is not None
    queue = checked.workflow.nodes["work"]
    assert isinstance(queue, Queue)
    return queue.worker


def test_these_files() -> None:
    assert sorted(path.name for path in LIBRARY.glob("*.wq")) == ["objects.wq"]


def test_objects_fetch_run() -> None:
    job = made(
        """
worker job: objects.fetch_run {
  endpoint    = "https://s3.example.com"
  credentials = "store"
  to          = "done"
  script      = \"\"\"cp "$INPUT_FILE" .\"\"\"
  takes       = 5s
}
"""
    )
    assert job.env["SCRIPT"] == 'cp "$INPUT_FILE" .'
    assert job.env["TO"] == "done"
    assert "rclone copyto" in job.run


def test_objects_download_and_upload() -> None:
    job = made(
        """
worker get: objects.download {
  endpoint = "https://s3.example.com", credentials = "store", takes = 1s
}
worker copy {
  image = "docker.io/library/busybox:1.37.0"
  run   = \"\"\"cp "$WORK_SCRATCH"/in/* "$WORK_SCRATCH"/out/\"\"\"
  takes = 1s
}
worker put: objects.upload {
  endpoint = "https://s3.example.com", credentials = "store", to = "done", takes = 1s
}
worker job { pipeline = [get, copy, put] }
"""
    )
    assert [step.name for step in job.steps] == ["get", "copy", "put"]


def test_credentials_are_references() -> None:
    """No value of a secret could stand in what is built."""
    source = (LIBRARY / "objects.wq").read_text(encoding="utf-8")
    named = [line for line in source.splitlines() if "ACCESS_KEY" in line]
    assert named
    assert all("= secret(credentials, " in line for line in named)
