"""A batch's pod as processes of this machine: the sidecar, and the wrapper around the worker's command."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from support.gobuild import WRAPPER, built
from support.queues import SOURCE, Queue

PERIODS = "backoff=0.05 retry_listing=0.1 take=0.1 hold=3 look=0.2 empty=1 request=10"

WORD = 'if [ -e "$WORK_ITEM_DIR/word" ]; then x=$(cat "$WORK_ITEM_DIR/word"); else x=$(cat); fi'
"""In a shell, from an entry's field or from standard input."""


class Journal:
    """What workers wrote down, item by item."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal"
        self.path.touch()

    def worker(self, then: str = "") -> list[str]:
        """A command that notes its word in `$x`, then does what `then` says."""
        return ["sh", "-c", f"{WORD}; echo $x >>{self.path}; {then}"]

    def words(self) -> list[str]:
        return self.path.read_text().split()


MakePod = Callable[..., "BatchPod"]


def wait(what: str, ready: Callable[[], object], seconds: float = 180) -> None:
    until = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < until, f"{what}: not after {seconds:.0f} s"
        time.sleep(0.05)


class BatchPod:
    """Its files are in `folder`, which must be short enough for a socket's name. `options`: the sidecar's;
    `periods`: those that differ from PERIODS.
    """

    def __init__(
        self, folder: Path, queue: Queue, *options: str, index: int | None = None, periods: str = ""
    ) -> None:
        self.folder = folder
        self._options = options
        settings = folder / "settings" / SOURCE / "source.yaml"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(queue.settings))
        self._environment = (
            os.environ
            | dict(queue.environment)
            | {
                "WQC_SETTINGS": str(folder / "settings"),
                "WQC_BATCH": str(folder),
                "WQC_PERIODS": f"{PERIODS} {periods}",
                "WORK_ITEM_FILE": str(folder / "item.json"),
                "WORK_ITEM_DIR": str(folder / "fields"),
                "WORK_RESULT_FILE": str(folder / "result"),
            }
        )
        if index is not None:
            self._environment["JOB_COMPLETION_INDEX"] = str(index)
        self.sidecar: subprocess.Popen[bytes] | None = None
        self.wrapper: subprocess.Popen[bytes] | None = None

    def start_sidecar(self) -> None:
        command = [sys.executable, "-m", "wqc.runtime.program", "batch", *self._options, SOURCE]
        with (self.folder / "log").open("ab") as log:
            self.sidecar = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def is_ready(self) -> bool:
        """As the startup probe asks."""
        asked = subprocess.run([built(WRAPPER), "ready"], env=self._environment, capture_output=True)
        return asked.returncode == 0

    def start(self, command: Sequence[str], *options: str) -> "BatchPod":
        """The sidecar, then the wrapper once it is ready."""
        self.start_sidecar()
        until = time.monotonic() + 180
        while not self.is_ready():
            assert self.sidecar.poll() is None, self.said()
            assert time.monotonic() < until, f"the sidecar isn't ready after 180 s:\n{self.said()}"
            time.sleep(0.05)
        self.start_wrapper(command, *options)
        return self

    def start_wrapper(self, command: Sequence[str], *options: str) -> None:
        words = [str(built(WRAPPER)), *options, "--", *command]
        with (self.folder / "worker.log").open("ab") as log:
            self.wrapper = subprocess.Popen(words, env=self._environment, stdout=log, stderr=log)

    def exit_code(self, seconds: float = 180) -> int:
        """Of the worker's container, that is the wrapper's, once it has ended."""
        try:
            return self.wrapper.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it goes on after {seconds:g} s:\n{self.said()}") from None

    def delete(self) -> int:
        """As the kubelet does: the worker's container first. Its exit code."""
        self.wrapper.send_signal(signal.SIGTERM)
        code = self.wrapper.wait(30)
        self.sidecar.send_signal(signal.SIGTERM)
        assert self.sidecar.wait(30) == 0, self.said()
        return code

    def lose(self) -> None:
        """As when its node is gone."""
        for process in (self.sidecar, self.wrapper):
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()

    def said(self) -> str:
        logs = [self.folder / "log", self.folder / "worker.log"]
        return "".join(log.read_text() for log in logs if log.exists())

    def log(self) -> list[dict[str, Any]]:
        """What the sidecar logged."""
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]
