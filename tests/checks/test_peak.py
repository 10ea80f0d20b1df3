"""What a workflow requests at its peak, against its budget."""

from support.findings import advice, also, places

WORKERS = """workflow w
source s: items { items = ["a"] }
worker small { image = "r/k:1", cpu = 500m..4, memory = 512Mi }
worker large { image = "r/k:1", cpu = 2, memory = 3Gi }
"""


def test_lanes_times_parallelism_and_the_manager() -> None:
    text = WORKERS + (
        "sharder h { from = s, key = item.name, shards = [a, b, c] }\n"
        "queue q { from = h, worker = small, parallelism = 1..10 }\n"
        "queue r { from = q, worker = large, parallelism = 4 }\n"
        "budget { cpu = 20, memory = 20Gi, pods = 30 }\n"
    )
    assert places(text, "WQ610") == [
        "WQ610 8:16 the peak takes 23.1 CPU, and the budget has 20 <20>",
        "WQ610 8:29 the peak takes 27776Mi of memory, and the budget has 20Gi <20Gi>",
        "WQ610 8:42 the peak takes 35 pods, and the budget has 30 <30>",
    ]


def test_the_sum_and_the_way_out() -> None:
    text = WORKERS + (
        "sharder h { from = s, key = item.name, shards = [a, b] }\n"
        "queue q { from = h, worker = small, parallelism = 20 }\n"
        "queue r { from = q, worker = large, parallelism = 2 }\n"
        "budget { cpu = 12 }\n"
    )
    assert advice(text, "WQ610") == [
        "q: 2 lanes of 20 pods, 0.5 each = 20",
        "r: 2 pods, 2 each = 4",
        "manager: 0.1",
        "lower the parallelism of `q` to 7 in each lane, or raise the budget",
    ]
    assert also(text, "WQ610") == ["20: takes 20 of them"]


def test_a_peak_that_just_fits() -> None:
    text = WORKERS + "queue q { from = s, worker = large, parallelism = 4 }\nbudget { cpu = %s }\n"
    assert places(text % "8100m", "WQ61") == []
    assert len(places(text % "8099m", "WQ61")) == 1


def test_no_single_queue_can_be_lowered_enough() -> None:
    text = WORKERS + (
        "queue q { from = s, worker = large, parallelism = 2 }\n"
        "queue r { from = q, worker = large, parallelism = 2 }\n"
        "budget { cpu = 3 }\n"
    )
    assert advice(text, "WQ610")[-1] == "lower the parallelism of several, or raise the budget"


def test_a_pipelines_steps_run_one_after_the_other() -> None:
    text = WORKERS + (
        "worker both { pipeline = [small, large] }\n"
        "queue q { from = s, worker = both, parallelism = 2 }\n"
        "budget { cpu = 1 }\n"
    )
    assert advice(text, "WQ610")[:2] == ["q: 2 pods, 2 each = 4", "manager: 0.1"]


def test_a_batch_has_a_sidecar_and_one_pod_that_measures() -> None:
    text = WORKERS + (
        'source m: redis_list { brokers = "r:1", key = "k", cpu = 100m }\n'
        'worker b { image = "r/k:1", command = ["k"], cpu = 900m, memory = 1Gi }\n'
        "queue q { from = s, worker = large }\n"
        "batch c: fine { from = m, worker = b, parallelism = 4 }\n"
        "budget { cpu = 1 }\n"
    )
    assert advice(text, "WQ610")[0] == "c: 5 pods, 1 each = 5"
    assert advice(text.replace("parallelism = 4", "parallelism = 4, completions = 9"), "WQ610")[0] == (
        "c: 4 pods, 1 each = 4"
    )


def test_ambassadors_run_in_the_managers_pod() -> None:
    text = WORKERS + (
        'source a: http { url = "http://a", auth = secret("a", "t"), cpu = 1 }\n'
        'source b: http { url = "http://b", auth = secret("a", "t"), cpu = 2 }\n'
        'source c: http { url = "http://c", auth = secret("c", "t"), cpu = 4 }\n'
        'source d: http { url = "http://d", cpu = 8 }\n'
        "merger m { from = [s, a, b, c, d] }\n"
        "queue q { from = m, worker = large }\n"
        "budget { cpu = 1 }\n"
    )
    told = advice(text, "WQ610")
    assert told[:2] == ["manager: 6.1", "q: 2"], "a and b share one; d, without credentials, needs none"


def test_a_long_sum_is_cut() -> None:
    queues = "".join(
        f"queue q{n} {{ from = {f'q{n - 1}' if n else 's'}, worker = small, parallelism = {20 - n} }}\n"
        for n in range(12)
    )
    told = advice(WORKERS + queues + "budget { pods = 5 }\n", "WQ610")
    assert told[:8] == [f"q{n}: {20 - n}" for n in range(8)]
    assert told[8] == "5 more: 43"


def test_workers_without_requests() -> None:
    text = WORKERS + (
        'worker a { image = "r/k:1", cpu = 1 }\n'
        'worker b { image = "r/k:1" }\n'
        'worker unused { image = "r/k:1" }\n'
        "queue q { from = s, worker = a }\n"
        "queue r { from = q, worker = b }\n"
    )
    assert places(text, "WQ611") == [
        "WQ611 5:8 `a` requests no memory <a>",
        "WQ611 6:8 `b` requests no cpu and no memory <b>",
    ]
    assert advice(text.replace("worker = b", "worker = a"), "WQ611") == [
        "add `memory = …`: what one item takes"
    ]
    limited = text.replace("worker = b", "worker = a") + "budget { memory = 9Gi }\n"
    assert advice(limited, "WQ611")[1:] == [
        "the budget limits memory: its peak is counted without this worker, and",
        "a quota refuses pods without a request unless a LimitRange of the namespace gives them one",
    ]


def test_a_pipeline_requests_for_its_steps() -> None:
    text = WORKERS + (
        'worker a { image = "r/k:1" }\n'
        "worker both { pipeline = [a, large], cpu = 1, memory = 1Gi }\n"
        "queue q { from = s, worker = both }\n"
    )
    assert places(text, "WQ611") == []
