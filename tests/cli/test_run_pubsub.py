"""Two workflows that know only a topic of each other: one describes photos, the other puts them on a site."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from support.command import wqc
from support.kafka import Kafka, kafka_server
from support.localrun import recorded

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PHOTOS = 40
PERIODS = "backoff=0.1 backoff_limit=0.5 flush=0.3 listing=0.3 retry_listing=0.1 refused_limit=0.5 request=5"


def start(folder: Path, example: str, kafka: Kafka, *options: str) -> "subprocess.Popen[str]":
    command = [
        sys.executable,
        "-m",
        "wqc",
        "run",
        str(EXAMPLES / f"{example}.wq"),
        f"--state={folder / 'state'}",
    ]
    command += [f"--volume=uploads={folder / 'uploads'}", "--param", f"brokers={kafka.brokers}", *options]
    with (folder / f"{example}.log").open("ab") as log:
        return subprocess.Popen(
            command, env=os.environ | {"WQC_PERIODS": PERIODS}, stdout=log, stderr=log, text=True, cwd=folder
        )


def until_published(folder: Path, count: int, running: Sequence["subprocess.Popen[str]"]) -> None:
    until = time.monotonic() + 240
    while len(list((folder / "site").glob("*.jpg"))) < count:
        assert time.monotonic() < until, logs(folder)
        assert all(process.poll() in (None, 0) for process in running), logs(folder)
        time.sleep(0.1)


def until_all_is_done(kafka: Kafka, messages: int) -> None:
    until = time.monotonic() + 60
    while (done := kafka.committed("photos", "pubsub_publish.photos")) and sum(done.values()) < messages:
        assert time.monotonic() < until, f"{done} of {messages}"
        time.sleep(0.2)


def logs(folder: Path) -> str:
    return "\n".join(f"{path.name}:\n{path.read_text()[-3000:]}" for path in folder.glob("*.log"))


def photo(folder: Path, number: int) -> None:
    made = folder / "uploads" / f"{number % 3}" / f"photo {number}.jpg"
    made.parent.mkdir(exist_ok=True)
    made.write_bytes(b"picture %d" % number)
    os.utime(made, (0, 0))  # complete for long


def test_every_photo_once_while_broker_and_managers_die(tmp_path: Path) -> None:
    (tmp_path / "uploads").mkdir()
    (tmp_path / "site").mkdir()
    for number in range(PHOTOS):
        photo(tmp_path, number)
    with kafka_server(tmp_path / "kafka") as kafka:
        upload = ["pubsub_upload", kafka, "--param", "replicas=1"]
        publish = ["pubsub_publish", kafka, f"--volume=site={tmp_path / 'site'}"]
        running = [start(tmp_path, *upload), start(tmp_path, *publish)]
        try:
            until_published(tmp_path, 5, running)
            kafka.kill()
            kafka.start()
            until_published(tmp_path, 15, running)
            for index, workflow in enumerate((upload, publish)):
                running[index].send_signal(signal.SIGKILL)
                running[index].wait()
                running[index] = start(tmp_path, *workflow)
            until_published(tmp_path, PHOTOS, running)
            sent = [headers["wqc-item"] for headers, _ in kafka.messages("photos")]
            until_all_is_done(kafka, len(sent))
        finally:
            for process in running:
                process.terminate()
        for process in running:
            process.wait(60)
        assert kafka.topics()["photos"] == 3
    wanted = {hashlib.sha256(b"picture %d" % number).hexdigest() for number in range(PHOTOS)}
    assert {path.stem for path in (tmp_path / "site").iterdir()} == wanted
    assert len(set(sent)) == PHOTOS
    for workflow, node in (("pubsub_upload", "photos"), ("pubsub_publish", "published")):
        found = recorded(tmp_path / "state" / workflow, node)
        assert len(found) == PHOTOS
        assert set(found.values()) == {1}


def test_a_carrier_says_how_far_it_is(tmp_path: Path) -> None:
    for folder in ("uploads", "site"):
        (tmp_path / folder).mkdir()
    photo(tmp_path, 1)
    with kafka_server(tmp_path / "kafka") as kafka:
        options = ["--param", "replicas=1", "--until-empty"]
        assert start(tmp_path, "pubsub_upload", kafka, *options).wait(120) == 0, logs(tmp_path)
        kafka.kill()
        said = (tmp_path / "pubsub_upload.log").read_text().splitlines()
        assert said[-2:] == [
            "described: 0 waiting, 0 running, 1 done, 0 failed",
            "photos: 0 waiting, 1 published",
        ]
        shown = wqc("status", "--state=state", folder=tmp_path)
        (row,) = [line.split() for line in shown.out.splitlines() if line.startswith("photos")]
        assert row[:3] == ["photos", "0", "1"]
        photo(tmp_path, 2)
        running = start(tmp_path, "pubsub_upload", kafka, *options)
        until = time.monotonic() + 60
        while "can't be reached" not in wqc("status", "--state=state", folder=tmp_path).out:
            assert time.monotonic() < until, logs(tmp_path)
            time.sleep(0.2)
        kafka.start()
        assert running.wait(120) == 0, logs(tmp_path)
        assert len(kafka.messages("photos")) == 2
