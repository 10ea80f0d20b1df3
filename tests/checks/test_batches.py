"""Batches that can't run or can't end."""

import pytest

from support.findings import advice, places

RABBIT = 'source s: rabbitmq { brokers = "mq:5672", queue = "jobs"%s }\n'
WORKER = 'worker k { image = "r/k:1", command = ["k"] }\n'


def text(
    source: str = RABBIT % "", worker: str = WORKER, batch: str = ", completions = 8", stream: str = "s"
) -> str:
    return f"workflow w\n{source}{worker}batch b: coarse {{ from = {stream}, worker = k{batch} }}\n"


def test_the_command_must_be_known() -> None:
    assert places(text(), "WQ64") == []
    assert places(text(worker='worker k { image = "r/k:1", run = "k" }\n'), "WQ64") == []
    assert places(text(worker='worker k { image = "r/k:1" }\n'), "WQ64") == [
        "WQ640 4:38 a batch runs its worker's command, and `k` has none <k>"
    ]
    pipeline = 'worker a { image = "r/a:1", command = ["a"] }\nworker k { pipeline = [a, a] }\n'
    assert places(text(worker=pipeline), "WQ64") == [
        "WQ640 5:38 a batch runs its worker's command, and `k` is a pipeline, which has several <k>"
    ]


def test_rabbitmq_must_say_when_it_is_done() -> None:
    assert places(text(batch=""), "WQ64") == [
        "WQ641 4:1 nothing tells this batch when the messages of `s` are done <batch b: coarse>"
    ]
    assert places(text(RABBIT % ', management = "http://mq:15672"', batch=""), "WQ64") == []
    redis = 'source s: redis_stream { brokers = "r:6379", key = "k" }\n'
    assert places(text(redis, batch=""), "WQ64") == []


@pytest.mark.parametrize(
    ("source", "stream", "what"),
    [
        ('source s: items { items = ["a"] }\n', "s", "a source of kind items"),
        ('source s: kafka { brokers = "k:9092", topic = "t" }\n', "s", "a source of kind kafka"),
        (RABBIT % "" + "queue t { from = s, worker = k }\n", "t", "a queue"),
        (RABBIT % "" + 'filter t { from = s, where = item.name == "a" }\n', "t", "a filter"),
    ],
)
def test_a_batch_reads_a_message_queue(source: str, stream: str, what: str) -> None:
    told = places(text(source, stream=stream), "WQ64")
    assert [each.partition(" a batch")[2] for each in told] == [
        f" reads a message queue, and `{stream}` is {what} <{stream}>"
    ]
    assert advice(text(source, stream=stream), "WQ642") == [
        "read a source of kind rabbitmq, redis_list or redis_stream, or make this a `queue`"
    ]
