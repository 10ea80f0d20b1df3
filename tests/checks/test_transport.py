"""Credentials over connections that anyone on the way can read."""

import pytest

from support.findings import advice, places
from wqc.checks.transport import inside

TEXT = 'workflow w\n%s\nworker k { image = "r/k:1" }\nqueue q { from = s, worker = k }\n'


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("kafka:9092", True),
        ("minio.store.svc:9000/x", True),
        ("minio.store.svc.cluster.local", True),
        ("127.0.0.1:80", True),
        ("localhost", True),
        ("db.corp.internal:5432", True),
        ("user@kafka:9092", True),
        ("kafka.example.com:9092", False),
        ("10.0.0.1:9092", False),
        ("svc.example.com", False),
        ("minio.store.svc.k8s.example.com", True),
    ],
)
def test_what_is_inside(address: str, expected: bool) -> None:
    assert inside(address) is expected


@pytest.mark.parametrize(
    "source",
    [
        'source s: git { url = "http://git.example.com/a.git" }',
        'source s: git { url = "https://git.example.com/a.git", auth = secret("a", "b") }',
        'source s: http { url = "http://stock", auth = secret("a", "b") }',
        'source s: redis_list { brokers = "r.example:1", key = "k", auth = secret("a", "k"), tls = true }',
        (
            'source s: redis_list { brokers = "r.example:1", key = "k", auth = '
            'secret("a", "k"), tls = secret("b") }'
        ),
        'source s: kafka { brokers = "k.example:1", topic = "t", auth = secret("a", "k"), username = "u" }',
    ],
)
def test_fine(source: str) -> None:
    assert places(TEXT % source, "WQ706") == []


@pytest.mark.parametrize(
    ("source", "place", "help"),
    [
        (
            'source s: git { url = "http://git.example.com/a.git", auth = secret("a", "b") }',
            "2:23 credentials are sent to `http://git.example.com/a.git` without encryption",
            "use `https://git.example.com/a.git`",
        ),
        (
            (
                'source s: object_store { endpoint = "http://s3.example.com", bucket = '
                '"box", secret_key = secret("a", "k") }'
            ),
            "2:37 credentials are sent to `http://s3.example.com` without encryption",
            "use `https://s3.example.com`",
        ),
        (
            'source s: redis_list { brokers = "r.example:1", key = "k", auth = secret("a", "b") }',
            "2:34 credentials are sent to `r.example:1` without encryption",
            "add `tls = true`",
        ),
        (
            (
                'source s: kafka { brokers = "a:1,k.example.com:1", topic = "t", auth '
                '= secret("a", "k"), sasl = plain }'
            ),
            "2:29 credentials are sent to `k.example.com:1` without encryption",
            "add `tls = true`",
        ),
    ],
)
def test_in_the_clear(source: str, place: str, help: str) -> None:
    (told,) = places(TEXT % source, "WQ706")
    assert told.removeprefix("WQ706 ").rpartition(" <")[0] == place
    assert advice(TEXT % source, "WQ706") == [help]


def test_a_bundle() -> None:
    source = (
        'source s: git { each = { a = "http://a.example.com/a.git", b = "https://b.example.com/b.git" }\n'
        '  url = each, auth = secret("a", "b") }'
    )
    assert [each[:9] for each in places(TEXT % source, "WQ706")] == ["WQ706 3:9"]
