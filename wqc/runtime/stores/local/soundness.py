"""Whether what a local store keeps can be read, and is: machines that crash damage files, and so do people;
and queues are renamed.
"""

from collections.abc import Container, Iterator
from pathlib import Path

from wqc.runtime.queue.ledger import DamagedLedger, read_segment
from wqc.runtime.stores.local.jobfolder import JobFolder
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import read_job, whole_files
from wqc.runtime.stores.store import Refused, Segment

RECORDS = ("ledger", "failed", "absent")


async def damages(state: Path) -> list[str]:
    """Of each file in the folder that can't be read: which, and what to do about it. Raises OSError."""
    found = [*_damaged_jobs(state), *_damaged_records(state)]
    try:
        await LocalStateStore(state).read()
    except Refused as refused:
        found.insert(0, str(refused))
    return found


def unread(state: Path, known: Container[str]) -> list[str]:
    """The queues that something is kept of though they aren't among the known ones. Raises OSError."""
    gone = [path.name for path in sorted(state.glob("templates/*")) if path.name not in known]
    return [queue for queue in gone if _has_record(state, queue)]


def _has_record(state: Path, queue: str) -> bool:
    if any(whole_files(state / kind / queue) for kind in ("ledger", "failed")):
        return True
    jobs = (JobFolder(path.parent) for path in state.glob("jobs/*/job.json"))
    return any(read_job(job, runs=False).queue == queue for job in jobs)


def _damaged_jobs(state: Path) -> Iterator[str]:
    for path in sorted(state.glob("jobs/*/job.json")):
        if path.parent.name.startswith("."):
            continue
        folder = JobFolder(path.parent)
        try:
            read_job(folder, runs=False)
            if folder.done.exists():
                float(folder.done.read_text())
        except (ValueError, KeyError, TypeError, AttributeError):
            yield (
                f"{folder.path} is damaged; delete it: if its item isn't recorded, it is worked on again "
                "once its source lists it"
            )


def _damaged_records(state: Path) -> Iterator[str]:
    for kind in RECORDS:
        for path in (file for folder in sorted(state.glob(f"{kind}/*")) for file in whole_files(folder)):
            try:
                read_segment(Segment(path.name, path.read_bytes()))
            except DamagedLedger:
                yield (
                    f"{path} is damaged; delete it: items that nothing else has recorded are worked on "
                    "again if their source lists them"
                )
