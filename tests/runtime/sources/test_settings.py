"""What the compiler writes for a source is what opens one."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from wqc.contract.settings import SourceSettings
from wqc.diagnostics.finding import Level
from wqc.diagnostics.source import Source as Text
from wqc.language.schema import SOURCE
from wqc.pipeline import Options, build
from wqc.runtime.periods import Periods
from wqc.runtime.settings import read_source_settings
from wqc.runtime.sources.opening import KINDS, open_source
from wqc.runtime.sources.source import SourceError

GOLDEN = sorted((Path(__file__).resolve().parents[3] / "golden").glob("*/source-*.yaml"))
CREDENTIALS = "/etc/wqc-credentials"

EVERY_OPTION = """
workflow w

source films: files {
  path = "/media", match = "**/*.mp4", volume = pvc("media"), quiet = 1m30s
}
source scans: object_store {
  endpoint = "https://s3.example.com", bucket = "scans", prefix = "in/", match = "*.tif", region = "eu-west-1"
  access_key = secret("s3", "id"), secret_key = secret("s3", "key"), path_style = false
}
source commits: git {
  url = "https://git.example.com/api.git", branch = "release/*", depth = 50
  auth = secret("git", "token"), username = "bot"
}
source rows: http { url = "http://rows:8080/v2", auth = secret("rows", "token") }
source names: items { items = { a = { n = 1, deep = [true, null, 0.5] }, "b c" = "text" } }
source mirrors: git {
  each = { one = "https://a.example.com/a.git", two = "https://b.example.com/b.git" }
  url  = each
}
source images: http { each = { x = "http://x", y = "http://y" }, url = each }
source orders: kafka {
  brokers = "kafka-0:9092,kafka-1:9092", topic = "orders", group = "us", start = latest, dedupe = 1h
  format = text, ack = on_done, username = "us", auth = secret("kafka", "password"), sasl = plain
  tls = secret("kafka")
}
source jobs: redis_list {
  brokers = "redis:6379", key = "jobs", format = bytes, ack = on_done
  username = "us", auth = secret("redis", "password"), tls = secret("redis")
}
source events: redis_stream {
  brokers = "redis:6379", key = "events", group = "us", format = bytes, ack = on_done
  username = "us", auth = secret("redis", "password"), tls = true
}
source mails: rabbitmq {
  brokers = "mq:5672", queue = "mails", identity = payload, management = "http://mq:15672", format = text
  ack = on_done, auth = secret("mq", "url"), tls = secret("mq")
}

merger all { from = [films, scans, commits, rows, names, mirrors, images, orders, jobs, events, mails] }
worker w1 { image = "example.com/w:1", command = ["work"] }
queue work { from = all, worker = w1 }
"""


def settings_in(text: str, credentials: Path) -> SourceSettings:
    """From a ConfigMap's manifest, its credentials being files below another folder."""
    written = yaml.safe_load(text)["data"]["source.yaml"]
    settings = read_source_settings(written.replace(CREDENTIALS, str(credentials)))
    for options in (settings.options, *settings.members.values()):
        for value in options.values():
            match value:
                case {"file": str(path)}:
                    Path(path).parent.mkdir(parents=True, exist_ok=True)
                    Path(path).write_text("s3cret\n")
    return settings


def opened(settings: SourceSettings) -> None:
    for member in settings.members or ("",):
        open_source(settings, member, Periods())


def test_every_kind_of_the_language_is_opened() -> None:
    assert {kind.name for kind in SOURCE.kinds} == {*KINDS, "container"}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_the_examples_compile_to(path: Path, tmp_path: Path) -> None:
    settings = settings_in(path.read_text(), tmp_path)
    opened(settings)


def test_every_option_of_every_kind(tmp_path: Path) -> None:
    built = build(Text("w.wq", EVERY_OPTION), Options(image="example.com/runtime:1"))
    assert not [finding for finding in built.checked.findings if finding.level is Level.ERROR]
    found = {name: text for name, text in built.files.items() if name.startswith("source-")}
    assert len(found) == 11
    used: dict[str, set[str]] = {}
    for text in found.values():
        settings = settings_in(text, tmp_path)
        opened(settings)
        used.setdefault(settings.kind, set()).update(settings.options, *settings.members.values())
    for kind in SOURCE.kinds:
        if kind.name in KINDS:
            shared = {"each", "arrives", "cpu", "memory", "volume"}
            assert used[kind.name] == {attribute.name for attribute in kind.attributes} - shared


def test_an_option_that_nobody_reads_is_no_secret(tmp_path: Path) -> None:
    settings = SourceSettings("films", "files", {"path": str(tmp_path), "recursive": True})
    with pytest.raises(SourceError, match="films: this source knows no `recursive`"):
        opened(settings)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"path": 1}, "films: `path` isn't a text"),
        ({"quiet": "long"}, "films: `quiet` isn't a number of seconds"),
        ({"quiet": True}, "films: `quiet` isn't a number of seconds"),
    ],
)
def test_options_that_can_not_be(changes: dict[str, object], said: str) -> None:
    settings = SourceSettings("films", "files", {"path": "/media"})
    wrong = dataclasses.replace(settings, options=settings.options | changes)  # type: ignore[operator]
    with pytest.raises(SourceError, match=said):
        opened(wrong)


def test_a_credential_that_is_renewed(tmp_path: Path) -> None:
    from wqc.runtime.sources.options import Options as SourceOptions

    file = tmp_path / "token"
    file.write_text("first\n")
    credential = SourceOptions("rows", {"auth": {"file": str(file)}}).secret("auth")
    assert credential is not None
    assert credential() == "first"
    file.write_text("second\n")
    assert credential() == "second"
    file.unlink()
    with pytest.raises(SourceError, match=r"rows: .*token can't be read: No such file"):
        credential()


def test_a_name_without_a_password_is_refused() -> None:
    settings = SourceSettings("jobs", "redis_list", {"brokers": "redis:6379", "key": "k", "username": "us"})
    with pytest.raises(SourceError, match="jobs: `username` needs `auth`, its password"):
        opened(settings)


def test_a_client_is_loaded_only_for_its_own_kind() -> None:
    """Each takes megabytes of an ambassador's memory."""
    clients = ("aio_pika", "confluent_kafka", "minio", "redis")
    code = f"""
import sys
from wqc.contract.settings import SourceSettings
from wqc.runtime.periods import Periods
from wqc.runtime.sources.opening import open_source
print([name for name in {clients} if name in sys.modules])
open_source(SourceSettings("a", "redis_list", {{"brokers": "b:1", "key": "k"}}), "", Periods())
print([name for name in {clients} if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() in (["[]", "[]"], ["[]", "['redis']"])
