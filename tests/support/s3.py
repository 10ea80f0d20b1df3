"""A real S3 server over a folder (github.com/versity/versitygw): buckets are folders in it, objects files."""

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

from minio import Minio

from support.gobuild import VERSITYGW, built
from support.ports import free_port

ACCESS_KEY = "reader"
SECRET_KEY = "a secret / with + signs"
REGION = "us-east-1"


@dataclass(frozen=True)
class S3:
    endpoint: str
    folder: Path

    def make(self, bucket: str) -> None:
        (self.folder / bucket).mkdir(exist_ok=True)

    def put(self, bucket: str, key: str, content: bytes = b"") -> None:
        place = urlsplit(self.endpoint).netloc
        client = Minio(place, ACCESS_KEY, SECRET_KEY, secure=False, region=REGION)
        client.put_object(bucket, key, BytesIO(content), len(content))


@contextmanager
def s3_server(folder: Path, log: Path, host: str = "127.0.0.1") -> Iterator[S3]:
    address = f"{host}:{free_port()}"
    command = [str(built(VERSITYGW)), f"--port={address}", f"--access={ACCESS_KEY}", f"--secret={SECRET_KEY}"]
    command += [f"--region={REGION}", "--quiet", "posix", str(folder)]
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + 60
        while not _answers(f"http://{address}"):
            assert server.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < until, log.read_text()[-2000:]
            time.sleep(0.05)
        yield S3(f"http://{address}", folder)
    finally:
        server.kill()
        server.wait()


def _answers(endpoint: str) -> bool:
    try:
        urllib.request.urlopen(endpoint, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
