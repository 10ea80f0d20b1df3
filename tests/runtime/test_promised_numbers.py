"""The figures that the documentation promises, where nothing else would notice that one has changed."""

from wqc.contract.limits import FAILED_LIMIT, FINISHED_JOBS, ITEM_FIELDS, KEEP, RESULT_BYTES
from wqc.contract.settings import Lane, Parallelism, QueueSettings
from wqc.runtime.lanes.autoscale import SLACK
from wqc.runtime.lanes.health import FAILURES
from wqc.runtime.manager.forgetting import SHRUNK
from wqc.runtime.periods import Periods
from wqc.runtime.queue.ledger import FLUSH_ITEMS, MERGED_AT_ONCE
from wqc.runtime.queue.recorder import LEAST_KEEP
from wqc.runtime.stores.kubernetes.watching import PAGE, SILENCE, WATCH_SECONDS

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


def test_what_a_queue_does_unless_its_file_says_otherwise() -> None:
    usual = QueueSettings("work", (Lane("", Parallelism(1, 1)),))
    assert (usual.retries, usual.result, usual.rework, usual.poison) == (3, "none", "never", ())
    assert (usual.handover, usual.failed_limit, usual.keep, usual.deadline) == (500, 1000, HOUR, HOUR)
    assert (FAILED_LIMIT, KEEP) == (1000, HOUR)


def test_how_long_is_waited() -> None:
    usual = Periods()
    assert (usual.backoff, usual.backoff_limit, usual.flush) == (10.0, 6 * MINUTE, 30.0)
    assert (usual.lost_node, usual.unhealthy, usual.probe) == (5 * MINUTE, 5 * MINUTE, MINUTE)
    assert (usual.forget, usual.audit, usual.lease) == (7 * DAY, 10 * MINUTE, 15.0)
    assert (usual.empty, usual.hold, usual.announce) == (15.0, 30.0, MINUTE)


def test_limits() -> None:
    assert (FINISHED_JOBS, LEAST_KEEP) == (5000, MINUTE)
    assert (FLUSH_ITEMS, MERGED_AT_ONCE, SHRUNK) == (500, 16, 0.2)
    assert (ITEM_FIELDS, RESULT_BYTES) == (50, 4095)
    assert (SLACK, FAILURES) == (0.9, 3)
    # a bookmark comes each minute, and the server ends a watch by itself
    assert (PAGE, SILENCE, WATCH_SECONDS) == (500, 70.0, 300)
