"""Where one Job's files are."""

from dataclasses import dataclass
from pathlib import Path

from wqc.contract.pod import ITEM_FOLDER, RESULT_FILE, SCRATCH_FOLDER, STEPS_FOLDER


@dataclass(frozen=True, slots=True)
class JobFolder:
    path: Path

    @property
    def job(self) -> Path:
        return self.path / "job.json"

    @property
    def item(self) -> Path:
        return self.path / "item"

    @property
    def steps(self) -> Path:
        return self.path / "steps"

    @property
    def scratch(self) -> Path:
        return self.path / "scratch"

    @property
    def script(self) -> Path:
        return self.path / "run.sh"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def superseded(self) -> Path:
        return self.path / "superseded"

    @property
    def pid(self) -> Path:
        return self.path / "pid"

    @property
    def exit(self) -> Path:
        return self.path / "exit"

    @property
    def result(self) -> Path:
        return self.path / "result"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def timed_out(self) -> Path:
        return self.path / "timed-out"

    @property
    def done(self) -> Path:
        return self.path / "done"

    @property
    def work(self) -> Path:
        return self.path / "work"

    @property
    def places(self) -> dict[str, str]:
        """By a path in a worker's container that every worker has, where it is on this machine."""
        return {
            ITEM_FOLDER: str(self.item),
            STEPS_FOLDER: str(self.steps),
            SCRATCH_FOLDER: str(self.scratch),
            RESULT_FILE: str(self.result),
        }
