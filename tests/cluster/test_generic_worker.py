"""examples/generic_worker on a real node: logs from one bucket, through two scripts, into two others."""

import gzip
from pathlib import Path
from urllib.parse import urlsplit

from cluster.outside import HERE, name_server
from cluster.real_node import RealNode
from cluster.system import System
from cluster.workers import shell_image
from support.s3 import ACCESS_KEY, SECRET_KEY, s3_server

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "generic_worker.wq"
LOGS = {
    "monday.log": b"INFO begun\nERROR no paper\nINFO ended\n",
    "2026/11/a b.log": b"ERROR one\nERROR two\n",
    "2026/quiet.log": b"INFO nothing\n",
}


def test_one_worker_for_two_queues(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, "docker.io/rclone/rclone:1.68.2", tmp_path / "rclone", "rclone")
    buckets = tmp_path / "buckets"
    buckets.mkdir()
    with (
        s3_server(buckets, tmp_path / "s3.log", HERE) as s3,
        System(runtime_node, "generic_worker", tmp_path, {}) as system,
    ):
        for bucket in ("logs", "logs-archive", "logs-errors"):
            s3.make(bucket)
        for key, content in LOGS.items():
            s3.put("logs", key, content)
        s3.put("logs", "readme.txt", b"no log")
        name_server(system, "s3", 7070, urlsplit(s3.endpoint).port or 0)
        login = (f"--from-literal=access_key={ACCESS_KEY}", f"--from-literal=secret_key={SECRET_KEY}")
        system.kubectl("create", "secret", "generic", "object-store", *login)
        system.apply(EXAMPLE, "listing=0.5 flush=1 backoff=1", "--param", "store=http://s3:7070")
        for queue in ("archive", "errors"):
            system.wait_finished(queue, len(LOGS))
            assert system.attempts(queue) == dict.fromkeys(LOGS, 1)
        assert stored(buckets / "logs-errors") == {
            "monday.log": b"ERROR no paper\n",
            "2026/11/a b.log": b"ERROR one\nERROR two\n",
            "2026/quiet.log": b"",
        }
        archive = {key: gzip.decompress(content) for key, content in stored(buckets / "logs-archive").items()}
        assert archive == {f"{key}.gz": content for key, content in LOGS.items()}


def stored(bucket: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(bucket)): path.read_bytes()
        for path in bucket.rglob("*")
        if path.is_file() and not path.relative_to(bucket).parts[0].startswith(".")
    }
