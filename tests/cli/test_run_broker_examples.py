"""Examples that read a broker, run on this machine with the real one."""

from pathlib import Path

from support.batch_pod import wait
from support.command import Ran, wqc
from support.kafka import kafka_server
from support.rabbitmq_server import rabbitmq_server
from support.redis_server import redis_server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PERIODS = "backoff=0.1 backoff_limit=0.5 flush=0.2 listing=0.3"
PYTHON = ("--command", "printer=python3")
WORDS = ["apple", "banana", "apple", 'it\'s $(a) "word"', "ünï"]


def run(example: str, folder: Path, changes: dict[str, str], *arguments: str, **environment: str) -> Ran:
    """`changes`: what differs from the example's text, which names a cluster's addresses."""
    text = (EXAMPLES / f"{example}.wq").read_text()
    for here, there in changes.items():
        assert here in text
        text = text.replace(here, there)
    (folder / "w.wq").write_text(text)
    words = ("run", "w.wq", *arguments, "--until-empty")
    return wqc(*words, folder=folder, WQC_PERIODS=PERIODS, **environment)


def printed(folder: Path) -> list[str]:
    return sorted(path.read_text().rstrip("\n") for path in folder.glob(".wqc/*/jobs/*/log"))


def test_fine(tmp_path: Path) -> None:
    """A batch: each message a process, none twice, the list empty."""
    with redis_server(tmp_path / "redis", password="") as redis:
        redis.push("job2", WORDS)
        ran = run("fine", tmp_path, {"redis:6379": redis.address, "time.sleep(1)": "time.sleep(0)"}, *PYTHON)
        assert ran.status == 0, ran.err
        assert ran.out.splitlines()[-1] == "printing: 0 waiting, 0 running, 5 done, 0 failed"
        assert redis.client.llen("job2") == 0
    assert printed(tmp_path) == sorted(f"Working on {word}" for word in WORDS)


def test_coarse(tmp_path: Path) -> None:
    with rabbitmq_server(tmp_path / "rabbitmq") as rabbit:
        rabbit.declare("job1")
        rabbit.put("job1", *WORDS)
        changes = {"rabbitmq:5672": rabbit.brokers, "time.sleep(10)": "time.sleep(0)"}
        ran = run("coarse", tmp_path, changes, *PYTHON, RABBITMQ_URL=rabbit.url)
        assert ran.status == 0, ran.err
        assert ran.out.splitlines()[-1] == "printing: 0 waiting, 0 running, 5 done, 0 failed"
        wait("nothing is left", lambda: rabbit.left("job1") == 0)
    assert printed(tmp_path) == sorted(f"Processing {word}" for word in WORDS)


def test_pubsub(tmp_path: Path) -> None:
    """Two workflows on this machine that know of each other by a topic alone."""
    photo = tmp_path / "uploads" / "sub" / "a photo.jpg"
    photo.parent.mkdir(parents=True)
    photo.write_bytes(b"a photo")
    (tmp_path / "site").mkdir()
    with kafka_server(tmp_path / "kafka") as kafka:
        here = ("--param", f"brokers={kafka.brokers}", "--volume", "uploads=uploads")
        changes = {"volume  = pvc": "quiet = 1s\n  volume  = pvc"}
        ran = run("pubsub_upload", tmp_path, changes, *here, "--param", "replicas=1")
        assert ran.status == 0, ran.err
        ran = run("pubsub_publish", tmp_path, {}, *here, "--volume", "site=site")
        assert ran.status == 0, ran.err
        assert ran.out.splitlines()[-1] == "published: 0 waiting, 0 running, 1 done, 0 failed"
    (made,) = (tmp_path / "site").iterdir()
    assert made.read_bytes() == b"a photo"
