"""When the Jobs of a namespace appeared and completed, as a watch shows it."""

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import urllib3

from cluster.client import Client


class JobWatch:
    """Times are monotonic; keys are `key(job)`."""

    def __init__(self, client: Client, namespace: str, key: Callable[[dict[str, Any]], Any]) -> None:
        self._key = key
        self.created: dict[Any, float] = {}
        self.completed: dict[Any, float] = {}
        self.marked: set[Any] = set()
        """Those that a manager is through with."""
        self.here: set[Any] = set()
        self.most = 0
        """Of them at a time."""
        self.most_at_work: defaultdict[str, int] = defaultdict(int)
        """By wqc's queue, of its Jobs that weren't over, at a time."""
        self._at_work: defaultdict[str, set[str]] = defaultdict(set)
        self._client = client
        self._path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        self._pool = urllib3.PoolManager(ca_certs=client.api.configuration.ssl_ca_cert, retries=False)
        self._stopped = False
        self._answer = self._watch()
        threading.Thread(target=self._follow, daemon=True).start()

    def __enter__(self) -> "JobWatch":
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        with suppress(Exception):
            self._answer.shutdown()

    @property
    def seconds(self) -> float:
        """From the first Job to the last completion."""
        return max(self.completed.values()) - min(self.created.values())

    def _watch(self) -> urllib3.BaseHTTPResponse:
        """After a look at what is there: a server closes watches that it can't keep up with."""
        listed = self._client.request("GET", self._path).body
        now = time.monotonic()
        self.here = {self._key(job) for job in listed["items"]}
        self._at_work.clear()
        for job in listed["items"]:
            self._learn({"type": "ADDED", "object": job}, now)
        headers = {"Accept": "application/json"}
        self._client.api.update_params_for_auth(headers, [], ["BearerToken"], self._path, "GET", None)
        return self._pool.request(
            "GET",
            f"{self._client.api.configuration.host}{self._path}"
            f"?watch=1&resourceVersion={listed['metadata']['resourceVersion']}",
            headers=headers,
            preload_content=False,
        )

    def _follow(self) -> None:
        while not self._stopped:
            rest = b""
            with suppress(urllib3.exceptions.HTTPError, ValueError, OSError):
                while chunk := self._answer.read1(1 << 16):
                    *lines, rest = (rest + chunk).split(b"\n")
                    now = time.monotonic()
                    for line in lines:
                        self._learn(json.loads(line), now)
            if not self._stopped:
                self._answer = self._watch()

    def _learn(self, event: dict[str, Any], now: float) -> None:
        job = event["object"]
        if event["type"] == "ERROR":
            return  # the watch is over
        key = self._key(job)
        conditions = {each["type"] for each in job["status"].get("conditions", [])}
        self._count(job["metadata"], event["type"] == "DELETED" or bool(conditions & {"Complete", "Failed"}))
        if event["type"] == "DELETED":
            self.here.discard(key)
            return
        self.here.add(key)
        self.most = max(self.most, len(self.here))
        if "wqc/done" in job["metadata"].get("labels", {}):
            self.marked.add(key)
        self.created.setdefault(key, now)
        if "Complete" in conditions:
            self.completed.setdefault(key, now)

    def _count(self, metadata: dict[str, Any], is_over: bool) -> None:
        queue = metadata.get("labels", {}).get("wqc/queue", "")
        if is_over:
            self._at_work[queue].discard(metadata["name"])
        else:
            self._at_work[queue].add(metadata["name"])
        self.most_at_work[queue] = max(self.most_at_work[queue], len(self._at_work[queue]))


def by_name(job: dict[str, Any]) -> str:
    return str(job["metadata"]["name"])


def by_item(job: dict[str, Any]) -> tuple[str, str]:
    """Queue and item of one of wqc's Jobs."""
    metadata = job["metadata"]
    return metadata["labels"]["wqc/queue"], json.loads(metadata["annotations"]["wqc/item"])["name"]
