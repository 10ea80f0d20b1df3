"""What a queue can do against what arrives."""

import pytest

from support.findings import advice, also, checked, places

HEAD = """workflow w
source s: http { url = "https://example.com", arrives = 500ms }
worker k { image = "r/k:1", takes = 30s }
"""


def queue(more: str, head: str = HEAD) -> str:
    return head + f"queue q {{ from = s, worker = k, {more} }}\n"


def busy(text: str) -> list[str]:
    return [line for line in places(text, "WQ5") if line.startswith(("WQ501", "WQ502", "WQ503"))]


def test_never_catches_up() -> None:
    text = queue("parallelism = 1..20")
    assert busy(text) == [
        "WQ501 4:47 never catches up: 2.0 items/s arrive, 20 workers finish 0.61/s;"
        " parallelism ≥ 74 would do (90 % busy) <1..20>"
    ]
    assert also(text, "WQ501") == ["30s: what one item takes"]
    assert advice(text, "WQ501")[0] == "20 ÷ (30s of work + 3s for the pod to start) = 0.61/s"


def test_what_would_do_does_and_one_less_does_not() -> None:
    assert busy(queue("parallelism = 74")) == []
    assert busy(queue("parallelism = 73")) == [
        "WQ502 4:47 90.4 % busy: 2.0 items/s arrive, 73 workers finish 2.2/s;"
        " parallelism ≥ 74 leaves room (90 % busy) <73>"
    ]
    assert busy(queue("parallelism = 67"))[0].startswith(
        "WQ502 4:47 99 % busy: 2.00 items/s arrive, 67 workers finish 2.03/s;"
    )
    assert busy(queue("parallelism = 66"))[0].startswith("WQ501 4:47 never catches up: ")


@pytest.mark.parametrize(("workers", "code"), [(9, "WQ501"), (10, "WQ501"), (11, "WQ502"), (12, "")])
def test_the_limits_are_exact(workers: int, code: str) -> None:
    """10 items/s of a second each keep ten workers busy; 90 % of the time, 11.1 of them."""
    head = HEAD.replace("500ms", "100ms").replace("30s", "750ms") + "cluster { pod_start = 250ms }\n"
    found = busy(queue(f"parallelism = {workers}", head))
    assert [line[:5] for line in found] == ([code] if code else [])


def test_exactly_ninety_percent_is_not_above() -> None:
    head = HEAD.replace("500ms", "1s").replace("30s", "6s")
    assert busy(queue("parallelism = 10", head)) == []
    assert busy(queue("parallelism = 1..10, takes = 7s", head))[0].startswith("WQ501")


def test_retries_occupy_workers_too() -> None:
    text = queue("parallelism = 80, failure_rate = 0.5, retries = 1")
    assert busy(text) == [
        "WQ501 4:47 never catches up: 2.0 items/s arrive, 80 workers finish 1.6/s;"
        " parallelism ≥ 110 would do (90 % busy) <80>"
    ]
    assert advice(text, "WQ501")[0] == "80 ÷ (30s of work + 3s for the pod to start) ÷ 1.50 attempts = 1.6/s"


def test_each_lane_has_its_own() -> None:
    text = HEAD + (
        "sharder h { from = s, key = item.name, shards = [a, b, c] }\n"
        "queue q { from = h, worker = k, parallelism = 1..20 }\n"
    )
    assert busy(text) == [
        "WQ501 5:47 never catches up in its lane `a`: 0.67 items/s arrive, 20 workers finish 0.61/s;"
        " parallelism ≥ 25 would do (90 % busy) <1..20>"
    ]


def test_one_worker_by_default() -> None:
    head = HEAD.replace("500ms", "10s")
    assert busy(head + "queue q { from = s, worker = k }\n") == [
        "WQ501 4:7 never catches up: 0.10 items/s arrive, 1 worker finishes 0.030/s;"
        " parallelism ≥ 4 would do (90 % busy) <q>"
    ]


def test_beyond_the_largest_parallelism() -> None:
    (found,) = busy(queue("parallelism = 10, takes = 2h"))
    assert found.endswith("/s; not even the largest parallelism, 5000, would do <10>")


def test_no_workers_at_all() -> None:
    assert busy(queue("parallelism = 0"))[0].startswith(
        "WQ501 4:47 never catches up: 2.0 items/s arrive, 0 workers finish 0/s;"
    )


LIST = """workflow w
source s: items { items = ["a", "b", "c", "d", "e", "f"] }
worker k { image = "r/k:1", takes = 57s }
"""


def test_a_deadline_shorter_than_one_item() -> None:
    assert busy(queue("parallelism = 99, deadline = 32s")) == [
        "WQ503 4:62 the deadline of 32s can't be met: a single item takes 33s <32s>"
    ]
    assert busy(queue("parallelism = 99, deadline = 33s")) == []


def test_the_items_of_a_list_are_a_backlog() -> None:
    text = queue("parallelism = 2, deadline = 2m", LIST)
    assert busy(text) == [
        "WQ503 4:61 the deadline of 2m can't be met: the 6 items of the list would be worked off in 3m <2m>"
    ]
    assert advice(text, "WQ503") == ["parallelism ≥ 3 would do, or allow more time: `deadline`"]
    assert busy(queue("parallelism = 3, deadline = 2m", LIST)) == []


def test_the_backlog_is_shared_and_ends_at_a_queue() -> None:
    text = LIST + (
        "filter f { from = s, where = item.name < 'd', share = 0.5 }\n"
        "queue q { from = f, worker = k, parallelism = 1, deadline = 3m }\n"
        "queue r { from = q, worker = k, parallelism = 1, deadline = 1m }\n"
    )
    assert busy(text) == []
    assert busy(text.replace("0.5", "1")) == [
        "WQ503 5:61 the deadline of 3m can't be met: the 6 items of the list would be worked off in 6m <3m>"
    ]


def test_too_little_to_spare_for_one_item() -> None:
    """One item takes an hour and a half, and every 100 minutes one comes: ten minutes are left for others."""
    head = HEAD.replace("500ms", "100m").replace("30s", "89m57s")
    assert busy(queue("parallelism = 1, deadline = 14h", head)) == [
        "WQ503 4:61 the deadline of 14h can't be met: a single waiting item would be worked off in 15h <14h>"
    ]
    assert busy(queue("parallelism = 1, deadline = 15h", head)) == []


def test_the_default_deadline_is_a_note() -> None:
    text = queue("parallelism = 99", HEAD.replace("30s", "2h").replace("500ms", "10m"))
    assert busy(text) == ["WQ503 4:7 the deadline of 1h can't be met: a single item takes 2h3s <q>"]
    assert level(text, "WQ503") == "note"
    assert level(queue("parallelism = 99, deadline = 1s"), "WQ503") == "warning"


def level(text: str, code: str) -> str:
    (found,) = (each.level.value for each in checked(text).findings if each.code == code)
    return found


def test_more_jobs_than_the_cluster_starts() -> None:
    text = HEAD + (
        "copier c { from = s }\n"
        "queue q { from = c, worker = k, parallelism = 100 }\n"
        "queue r { from = c, worker = k, parallelism = 200, failure_rate = 0.5, retries = 1 }\n"
    )
    assert places(text, "WQ504") == [
        "WQ504 1:10 the queues start 5.0 Jobs/s in all, and the cluster does 3.0/s <w>"
    ]
    assert also(text, "WQ504") == ["r: 3.0/s", "q: 2.0/s"]
    stated = text + "cluster { jobs_per_second = 4.9 }\n"
    assert places(stated, "WQ504") == [
        "WQ504 7:29 the queues start 5.0 Jobs/s in all, and the cluster does 4.9/s <4.9>"
    ]
    assert len(advice(stated, "WQ504")) == len(advice(text, "WQ504")) - 1
    assert places(text + "cluster { jobs_per_second = 5 }\n", "WQ504") == []


def test_a_queue_starts_no_more_than_its_workers_can() -> None:
    assert places(queue("parallelism = 20", HEAD.replace("500ms", "100ms")), "WQ504") == []


def test_work_shorter_than_a_pods_start() -> None:
    text = HEAD.replace("30s", "1s") + (
        "queue q { from = s, worker = k, parallelism = 20 }\n"
        "queue r { from = q, worker = k, parallelism = 20 }\n"
        "queue t { from = r, worker = k, parallelism = 20, takes = 3s }\n"
    )
    assert places(text, "WQ505") == ["WQ505 4:7 in `q` and `r` a pod takes 3s to start, and 1s to work <q>"]
    assert places(text + "cluster { pod_start = 500ms }\n", "WQ505") == []


def test_what_is_unknown_is_said_once() -> None:
    text = (
        "workflow w\n"
        'source s: http { url = "https://example.com" }\n'
        'source l: items { items = ["a"] }\n'
        'worker k { image = "r/k:1" }\n'
        'worker j { image = "r/j:1", takes = 9s }\n'
        "queue q { from = s, worker = j }\n"
        "queue r { from = q, worker = k }\n"
        "queue t { from = l, worker = j }\n"
    )
    assert places(text, "WQ5") == ["WQ506 2:8 nothing tells whether `q` and `r` will catch up <s>"]
    assert also(text, "WQ506") == ["k: `k` has no `takes`"]


def test_a_batch_needs_no_rate() -> None:
    text = (
        "workflow w\n"
        'source s: rabbitmq { brokers = "mq:5672", queue = "jobs" }\n'
        'worker k { image = "r/k:1", command = ["k"] }\n'
        "batch b: coarse { from = s, worker = k, completions = 8 }\n"
    )
    assert places(text, "WQ5") == []


def test_shares_that_are_assumed() -> None:
    text = HEAD + (
        "filter f { from = s, where = item.name == 'x' }\n"
        "splitter p { from = f, cases = { x = item.name == 'x', y = item.name == 'y' },"
        " share = { x = 0.5 }, otherwise = drop }\n"
        "queue q { from = p.x, worker = k, parallelism = 90 }\n"
        "queue r { from = p.y, worker = k, parallelism = 90 }\n"
    )
    assert places(text, "WQ507") == [
        "WQ507 4:8 all items are taken to pass <f>",
        "WQ507 5:10 all items are taken to go to `y` <p>",
    ]
    assert places(text.replace("arrives = 500ms", ""), "WQ507") == []
