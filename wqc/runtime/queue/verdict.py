"""What a finished Job means for its item: a pure function of the Job and its queue's settings."""

from collections.abc import Iterable
from dataclasses import dataclass

from wqc.contract.limits import RESULT_BYTES
from wqc.contract.settings import QueueSettings
from wqc.runtime.stores.job import Job
from wqc.runtime.text import decode


@dataclass(frozen=True, slots=True)
class Succeeded:
    """`data` is what goes on: the worker's result as JSON, or None for what the item came with."""

    data: str | None


@dataclass(frozen=True, slots=True)
class ItemFailed:
    reason: str
    final: bool
    """No further attempt: there were enough, or the exit code is declared as poison."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Nothing is known about the item; the attempt is repeated and not counted."""

    reason: str


Verdict = Succeeded | ItemFailed | Lost


def verdict(job: Job, settings: QueueSettings) -> Verdict | None:
    """None while the Job is active, and nothing stands in for it."""
    match job.phase:
        case "active":
            return Lost("its node is lost") if job.superseded else None
        case "lost":
            return Lost(job.reason)
        case "failed":
            return _failed(job, settings, job.reason)
        case "succeeded":
            return _succeeded(job, settings)


def decisive(jobs: Iterable[Job], latest: Job, settings: QueueSettings) -> Job:
    """The item's latest Job; while that is under way, an earlier attempt that succeeded after all."""
    if latest.phase == "active":
        for job in jobs:
            is_good = job.phase == "succeeded" and job.round == latest.round and not job.done
            if is_good and isinstance(verdict(job, settings), Succeeded):
                return job
    return latest


def _failed(job: Job, settings: QueueSettings, reason: str) -> ItemFailed:
    poison = job.phase == "failed" and job.exit_code in settings.poison
    return ItemFailed(reason, final=job.held or poison or job.failures >= settings.retries)


def _succeeded(job: Job, settings: QueueSettings) -> Verdict:
    if settings.result == "none":
        return Succeeded(None)
    if job.message is None:
        return Lost("its pod was gone before the result was read")
    if not job.message.strip():
        if settings.result == "optional":
            return Succeeded(None)
        return _failed(job, settings, "the worker ended well but wrote no result to WORK_RESULT_FILE")
    if len(job.message.encode(errors="surrogatepass")) > RESULT_BYTES:
        return _failed(job, settings, f"the result is larger than {RESULT_BYTES} bytes")
    try:
        decode(job.message)
    except ValueError as error:
        return _failed(job, settings, f"the result is not JSON: {error}")
    return Succeeded(job.message)
