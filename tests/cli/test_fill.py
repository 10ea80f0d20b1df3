"""`wqc fill`, with real brokers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import Ran, wqc
from support.kafka import kafka_server
from support.rabbitmq_server import RabbitServer, rabbitmq_server
from support.redis_server import RedisServer, redis_server

WORKER = 'worker k { image = "example.com/k:1", command = ["/k"], input = stdin, cpu = 1, memory = 1Gi }\n'
QUEUE = f"{WORKER}queue q {{ from = s, worker = k }}\n"
BATCH = f"{WORKER}batch b: fine {{ from = s, worker = k, completions = 9 }}\n"
WHICH = "which items? Name them, a file with --lines or a source with --from: one of the three"
KINDS = "rabbitmq, redis_list, redis_stream, kafka"
FILE = "name the file that holds it: --secret r/password=FILE"
AWKWARD = ["apple", "a b", "", "ünï", '{"not": "the queue\'s affair"}', "$(x)"]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis"), password="") as server:
        yield server


@pytest.fixture(scope="module")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitServer]:
    with rabbitmq_server(tmp_path_factory.mktemp("rabbitmq")) as server:
        yield server


def fill(folder: Path, text: str, *arguments: str, given: str | bytes = b"", **environment: str) -> Ran:
    (folder / "w.wq").write_text(f"workflow w\n{text}")
    return wqc("fill", "w.wq", *arguments, folder=folder, given=given, **environment)


def on(server: RabbitServer, queue: str) -> str:
    """The block of a source, without its end."""
    return f'rabbitmq {{ brokers = "{server.brokers}", queue = "{queue}", auth = secret("mq", "url")'


def complaint(ran: Ran) -> str:
    """After what the compiler says."""
    return ran.err.splitlines()[-1].removeprefix("wqc: ")


def words(server: RedisServer, key: str) -> list[str]:
    return [word.decode() for word in server.client.lrange(key, 0, -1)]


# --- where to ---


def test_words_onto_a_list(redis: RedisServer, tmp_path: Path) -> None:
    source = f'source s: redis_list {{ brokers = "{redis.address}", key = "words" }}\n'
    ran = fill(tmp_path, source + BATCH, "s", *AWKWARD[:3])
    assert (ran.status, ran.out) == (0, "3 items are on the list words\n"), ran.err
    # what is there stays, and the order is kept
    assert fill(tmp_path, source + BATCH, "s", *AWKWARD[3:]).status == 0
    assert words(redis, "words") == AWKWARD


def test_many_lines_onto_a_list(redis: RedisServer, tmp_path: Path) -> None:
    source = f'source s: redis_list {{ brokers = "{redis.address}", key = "lines", format = text }}\n'
    lines = [f"line {number}" for number in range(1203)]
    ran = fill(tmp_path, source + QUEUE, "s", "--lines", "-", given="\r\n".join(lines))
    assert (ran.status, ran.out) == (0, "1203 items are on the list lines\n"), ran.err
    assert words(redis, "lines") == lines


def test_a_stream_has_the_fields_of_an_object(redis: RedisServer, tmp_path: Path) -> None:
    source = f'source s: redis_stream {{ brokers = "{redis.address}", key = "stream" }}\n'
    ran = fill(tmp_path, source + QUEUE, "s", '{"id": 7, "to": "a b", "more": {"x": [1]}}', '"apple"')
    assert ran.status == 0, ran.err
    assert [fields for _, fields in redis.client.xrange("stream")] == [
        {b"id": b"7", b"to": b'"a b"', b"more": b'{"x":[1]}'},
        {b"item": b'"apple"'},
    ]


def test_a_queue_that_is_made(rabbitmq: RabbitServer, tmp_path: Path) -> None:
    source = f"source s: {on(rabbitmq, 'made')} }}\n"
    (tmp_path / "url").write_text(f"{rabbitmq.url}\n")
    options = ("--secret", "mq/url=url")
    ran = fill(tmp_path, source + BATCH, "s", *AWKWARD, *options)
    where = f"RabbitMQ at {rabbitmq.brokers}"
    assert (ran.status, complaint(ran)) == (2, f"{where} has no queue made; with --create it is made")
    ran = fill(tmp_path, source + BATCH, "s", *AWKWARD, *options, "--create")
    assert (ran.status, ran.out) == (0, "6 items are on the queue made\n"), ran.err
    assert fill(tmp_path, source + BATCH, "s", "last", MQ_URL=rabbitmq.url).status == 0
    messages = rabbitmq.get("made")
    assert [message["payload"] for message in messages] == [*AWKWARD, "last"]
    # each is an item of its own, and on the disk
    assert len({message["properties"]["message_id"] for message in messages}) == 7
    assert {message["properties"]["delivery_mode"] for message in messages} == {2}
    assert rabbitmq.ask("GET", "/queues/%2F/made")["durable"]


def test_a_queue_that_is_there_stays_as_it_is(rabbitmq: RabbitServer, tmp_path: Path) -> None:
    rabbitmq.declare("there", "classic")
    source = f"source s: {on(rabbitmq, 'there')} }}\n"
    assert fill(tmp_path, source + BATCH, "s", "word", "--create", MQ_URL=rabbitmq.url).status == 0
    assert rabbitmq.ask("GET", "/queues/%2F/there")["type"] == "classic"
    assert [message["payload"] for message in rabbitmq.get("there")] == ["word"]


def test_a_topic(tmp_path: Path) -> None:
    with kafka_server(tmp_path / "kafka") as kafka:
        source = f'source s: kafka {{ brokers = "{kafka.brokers}", topic = "made" }}\n'
        ran = fill(tmp_path, source + QUEUE, "s", '{"n": 1}', "[2]", "--create")
        assert (ran.status, ran.out) == (0, "2 items are on the topic made\n"), ran.err
        assert sorted(body for _, body in kafka.messages("made")) == [b"[2]", b'{"n": 1}']


# --- where from ---


def test_what_another_source_lists(rabbitmq: RabbitServer, tmp_path: Path) -> None:
    rabbitmq.declare("listed")
    text = 'source have: items { items = { a = { n = 1 }, b = "two" } }\n'
    text += f"source s: {on(rabbitmq, 'listed')} }}\n"
    text += f"{QUEUE}queue r {{ from = have, worker = k }}\n"
    for _ in range(2):
        assert fill(tmp_path, text, "s", "--from", "have", MQ_URL=rabbitmq.url).status == 0
    found = [(message["properties"]["message_id"], message["payload"]) for message in rabbitmq.get("listed")]
    # twice there, and the same items by their ids
    assert found == [("a", '{"n":1}'), ("b", '"two"')] * 2


def test_what_another_queue_holds_moves(redis: RedisServer, rabbitmq: RabbitServer, tmp_path: Path) -> None:
    rabbitmq.declare("old")
    rabbitmq.put("old", "apple", '"quoted"', "cherry")
    text = (
        f"source old: {on(rabbitmq, 'old')}, identity = delivery, format = text }}\n"
        f'source s: redis_list {{ brokers = "{redis.address}", key = "new", format = text }}\n'
        f"{QUEUE}queue r {{ from = old, worker = k }}\n"
    )
    ran = fill(tmp_path, text, "s", "--from", "old", MQ_URL=rabbitmq.url)
    assert (ran.status, ran.out) == (0, "3 items are on the list new\n"), ran.err
    assert words(redis, "new") == ["apple", '"quoted"', "cherry"]
    assert rabbitmq.get("old") == []


# --- mistakes ---


def test_a_line_that_is_not_in_the_format(redis: RedisServer, tmp_path: Path) -> None:
    source = f'source s: redis_list {{ brokers = "{redis.address}", key = "none" }}\n'
    ran = fill(tmp_path, source + QUEUE, "s", "1", "2", "three")
    assert ran.status == 2
    assert complaint(ran).startswith("item 3: it isn't JSON: ")
    assert words(redis, "none") == []


def test_what_was_put_there_before_a_failure_is_said(redis: RedisServer, tmp_path: Path) -> None:
    source = f'source s: redis_list {{ brokers = "{redis.address}", key = "half" }}\n'
    ran = fill(tmp_path, source + QUEUE, "s", "--lines", "-", given="1\n" * 700 + "x\n")
    assert ran.status == 2
    assert complaint(ran).startswith("item 701: it isn't JSON")
    assert complaint(ran).endswith("; 500 items are on the list half")
    assert len(words(redis, "half")) == 500


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["s"], WHICH),
        (["s", "x", "--lines", "-"], WHICH),
        (["t", "x"], "there is no source t, but s, many, same, plain"),
        (["many", "x"], "which one of many? many.a, many.b"),
        (["many.c", "x"], "the source many has no member c, but a, b"),
        (["plain", "x"], f"plain is a source of kind items, which has no queue to fill; {KINDS} have"),
        (["s", "x"], f"what is r/password? Set R_PASSWORD, or {FILE}"),
        (["many.a", "--from", "many.a"], "many.a reads the list a itself: its items are there already"),
        (["many.a", "--from", "same"], "same reads the list a itself: its items are there already"),
        (["s", "--lines", "nowhere"], "cannot read nowhere: no such file or directory"),
    ],
)
def test_mistakes(tmp_path: Path, arguments: list[str], words: str) -> None:
    text = (
        'source s: redis_list { brokers = "127.0.0.1:1", key = "k", auth = secret("r", "password") }\n'
        'source many: redis_list { each = { a = "a", b = "b" }, brokers = "127.0.0.1:1", key = each }\n'
        'source same: redis_list { brokers = "127.0.0.1:1", key = "a" }\n'
        'source plain: items { items = ["i"] }\n'
        f"{QUEUE}merger m {{ from = many }}\n"
        "queue r { from = m, worker = k }\nqueue p { from = plain, worker = k }\n"
        "queue u { from = same, worker = k }\n"
    )
    environment = {"R_PASSWORD": "x"} if "nowhere" in arguments else {}
    ran = fill(tmp_path, text, *arguments, **environment)
    assert (ran.status, complaint(ran)) == (2, words)
