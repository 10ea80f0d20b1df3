"""Child processes with a log file each, killed hard at the end.

An API server that is asked to end takes up to a minute and holds its port; nothing here is worth waiting for.
"""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

WITH_US = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
"""Ends what is started when this process is killed: a kubelet left over would kill the next one's pods."""


class Processes:
    """What was started, in order; `folder` holds NAME.log of each. Each command is run by `prefix`."""

    def __init__(self, folder: Path, prefix: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.prefix = prefix
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, *command: str | Path) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                [*WITH_US, *self.prefix, *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until(self, name: str, ready: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until `ready`; raises RuntimeError with the log's end if `name` ends before or time is up."""
        until = time.monotonic() + seconds
        while not ready():
            ended = self.running[name].poll() is not None
            if ended or time.monotonic() > until:
                log = (self.folder / f"{name}.log").read_text(errors="replace")
                what = "ended" if ended else f"is not ready after {seconds:.0f} s"
                raise RuntimeError(f"{name} {what}:\n{log[-2000:]}")
            time.sleep(0.1)

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def kill_all(self) -> None:
        for name in reversed(list(self.running)):
            self.kill(name)
