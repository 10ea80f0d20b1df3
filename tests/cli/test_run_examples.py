"""The examples as they stand, run on this machine with what stands for their images, volumes and brokers."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import imageio_ffmpeg
import pytest

from support.command import Ran, wqc
from support.need import unavailable
from support.ports import free_port
from support.s3 import ACCESS_KEY, SECRET_KEY, s3_server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PERIODS = "backoff=0.1 backoff_limit=0.5 flush=0.2 listing=0.3"
OLD = 1e9
"""When a file was last changed that counts as complete."""


def run(example: str, folder: Path, *arguments: str, **environment: str) -> Ran:
    path = f"{folder}/bin:{os.environ['PATH']}"
    words = ("run", str(EXAMPLES / f"{example}.wq"), *arguments, "--until-empty")
    return wqc(*words, folder=folder, WQC_PERIODS=PERIODS, **{"PATH": path} | environment)


def finished(ran: Ran) -> dict[str, int]:
    """By queue, how many items are done; nothing else is left of any."""
    assert ran.status == 0, ran.err + ran.out
    last = re.findall(r"^(\w+): 0 waiting, 0 running, (\d+) done, 0 failed$", ran.out, re.M)
    return {queue: int(done) for queue, done in last}


def program(folder: Path, name: str, text: str) -> str:
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def old(path: Path, content: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    os.utime(path, (OLD, OLD))


@contextmanager
def source_api(items: Mapping[str, Any]) -> Iterator[str]:
    """Serves the book's two addresses, below any path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = unquote(self.path.partition("/api/v1/items")[2].removeprefix("/"))
            body = {"kind": "Item", "data": items[name]} if name else {"kind": "ItemList", "items": [*items]}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body | {"apiVersion": "v1"}).encode())

        def log_message(self, format: str, *arguments: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_transcode(tmp_path: Path) -> None:
    """A volume that is read and one that is written, which the script knows by their mount paths."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ffmpeg").symlink_to(imageio_ffmpeg.get_ffmpeg_exe())
    film = tmp_path / "my films" / "sub" / "a film.mp4"
    film.parent.mkdir(parents=True)
    (tmp_path / "made").mkdir()
    words = ["-f", "lavfi", "-i", "testsrc=duration=0.2:size=96x54:rate=10", "-pix_fmt", "yuv420p"]
    subprocess.run(
        [tmp_path / "bin" / "ffmpeg", "-loglevel", "error", *words, film],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    os.utime(film, (OLD, OLD))
    ran = run("transcode", tmp_path, "--volume", "films=my films", "--volume", "encoded=made")
    assert finished(ran) == {"uhd": 1, "full_hd": 1, "low": 1, "preview": 1}
    made = {str(path.relative_to(tmp_path / "made")) for path in tmp_path.glob("made/**/*.*")}
    assert made == {f"sub/a film.{form}" for form in ("2160p.mp4", "1080p.mp4", "360p.mp4", "preview.gif")}
    assert (tmp_path / "made" / "sub" / "a film.preview.gif").read_bytes().startswith(b"GIF8")


def test_anonymise(tmp_path: Path) -> None:
    """Three programs one after the other over one item; arguments and the environment name mount paths."""
    old(tmp_path / "photos" / "a b.jpg", "photo")
    old(tmp_path / "people" / "ann", "her face")
    (tmp_path / "public").mkdir()
    detect = program(tmp_path, "detect.sh", 'echo "{\\"areas\\": \\"$*\\"}" >"$WORK_RESULT_FILE"')
    tag = program(tmp_path, "tag.sh", 'cat "$WORK_ITEM_FILE" "$2/ann" >"$WORK_SCRATCH/seen"')
    blur = program(tmp_path, "blur.sh", 'cp "$WORK_SCRATCH/seen" "$OUTPUT/$(cat "$WORK_ITEM_DIR/name")"')
    volumes = [f"--volume={name}={name}" for name in ("photos", "people", "public")]
    commands = [f"--command=detect={detect}", f"--command=tag={tag}", f"--command=blur={blur}"]
    assert finished(run("anonymise", tmp_path, *volumes, *commands)) == {"anonymous": 1}
    seen = (tmp_path / "public" / "a b.jpg").read_text()
    assert seen == '{"areas": "--cascade haarcascade_frontalface_default.xml"}\nher face'


def test_own_source(tmp_path: Path) -> None:
    """The user's own ambassador, started by the user."""
    old(tmp_path / "rows.csv", "id,name,balance\n17,Ann,3.50\n18,Bob,4.00\n")
    (tmp_path / "letters").mkdir()
    port = str(free_port())
    environment = os.environ | {"TABLE": str(tmp_path / "rows.csv"), "PORT": port}
    rows = subprocess.Popen([sys.executable, EXAMPLES / "own_source" / "source.py"], env=environment)
    try:
        arguments = ("--source", f"rows=http://127.0.0.1:{port}", "--volume", "letters=letters")
        assert finished(run("own_source", tmp_path, *arguments)) == {"letters": 2}
    finally:
        rows.kill()
        rows.wait()
    assert (tmp_path / "letters" / "18.txt").read_text() == "Dear Bob,\n\nyour balance is 4.00.\n"


def test_build_farm(tmp_path: Path) -> None:
    """Twenty real repositories."""
    text = (EXAMPLES / "build_farm.wq").read_text()
    names = re.findall(r"/(\w+)\.git", text)
    assert len(names) == 20
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C")
    for name in names:
        repository = tmp_path / "shop" / f"{name}.git"
        repository.mkdir(parents=True)
        (repository / "Makefile").write_text("build test:\n\t@true\n")
        subprocess.run([*git, repository, "init", "--quiet", "--initial-branch=main"], check=True)
        subprocess.run([*git, repository, "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)
        subprocess.run([*git, repository, "add", "."], check=True)
        subprocess.run([*git, repository, "commit", "--quiet", "-m", "first"], check=True)
    ran = run("build_farm", tmp_path, f"--param=git=file://{tmp_path}/shop")
    assert finished(ran) == {"builds": 20}


def test_generic_worker(tmp_path: Path) -> None:
    """From and to a real object store, with the credentials of the environment."""
    if not shutil.which("rclone"):
        unavailable("rclone isn't installed")
    (tmp_path / "s3").mkdir()
    with s3_server(tmp_path / "s3", tmp_path / "log") as store:
        for bucket in ("logs", "logs-archive", "logs-errors"):
            store.make(bucket)
        store.put("logs", "web/one.log", b"fine\nERROR: no\n")
        keys = {"OBJECT_STORE_ACCESS_KEY": ACCESS_KEY, "OBJECT_STORE_SECRET_KEY": SECRET_KEY}
        ran = run("generic_worker", tmp_path, f"--param=store={store.endpoint}", **keys)
        assert finished(ran) == {"archive": 1, "errors": 1}
        found = {str(path.relative_to(store.folder)) for path in store.folder.glob("logs-*/**/*.*")}
    assert any(path.endswith("one.log.gz") for path in found), found
    (errors,) = (path for path in tmp_path.glob("s3/logs-errors/**/*.log"))
    assert errors.read_text() == "ERROR: no\n"
    assert not [path for path in tmp_path.glob(".wqc/**/run.sh") if SECRET_KEY in path.read_text()]


@pytest.mark.parametrize(
    ("example", "sources", "workers", "done"),
    [
        ("environments", ["uploads"], ["resizer"], {"resized": 2}),
        ("newsletter", ["signups"], ["subscribe"], {"subscribed": 1}),
        ("newsletter_ambassador", ["willing"], ["subscribe"], {"subscribed": 2}),
        ("orders", ["events"], ["send_mail", "send_sms"], {"mails": 1, "texts": 2}),
        ("regions", ["products"], ["indexer"], {"index": 2}),
        (
            "signup",
            ["signups", "confirmations"],
            ["mailer", "settings_store"],
            {"verify": 2, "welcome": 2, "settings": 2, "email_on": 1, "sms_on": 2},
        ),
    ],
)
def test_any_source_api_may_stand_for_a_source(
    tmp_path: Path, example: str, sources: list[str], workers: list[str], done: dict[str, int]
) -> None:
    work = program(tmp_path, "work.sh", "true")
    ann = {"user_id": 1, "opted_in": True, "state": "shipped", "notify": ["email", "sms"]}
    bob = {"user_id": 2, "opted_in": False, "state": "shipped", "notify": ["sms"]}
    items = {
        "ann": ann | {"notify_email": True, "notify_sms": True},
        "bob": bob | {"notify_email": False, "notify_sms": True},
    }
    with source_api(items) as url:
        stand_ins = [f"--source={source}={url}" for source in sources]
        ran = run(example, tmp_path, *stand_ins, *(f"--command={worker}={work}" for worker in workers))
    assert finished(ran) == done
