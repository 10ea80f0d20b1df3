"""Images without a version."""

import pytest

from support.findings import places
from wqc.checks.images import tag_of

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("a", ""),
        ("a:1", "1"),
        ("a:latest", "latest"),
        ("host:5000/a", ""),
        ("host:5000/a:1", "1"),
        ("host:5000/b/a:1-alpine", "1-alpine"),
        (f"a@{DIGEST}", DIGEST),
        (f"host:5000/a:latest@{DIGEST}", DIGEST),
    ],
)
def test_tags(image: str, tag: str) -> None:
    assert tag_of(image) == tag


def test_all_that_name_an_image() -> None:
    text = """workflow w
manager { image = "host:5000/wqc" }
source s: container { image = "r/s:latest" }
worker k {
  image = "r/k"
  pod = {
    initContainers = [{ name = "x", image = "r/x" }, { name = "y", image = "r/y:1" }]
    volumes = [{ name = "z", image = { reference = "r/z:latest" } }]
  }
}
worker unused { image = "r/u" }
queue q { from = s, worker = k }
"""
    assert places(text, "WQ701")[:4] == [
        'WQ701 2:19 the image `host:5000/wqc` has no tag, which means `latest` <"host:5000/wqc">',
        'WQ701 3:31 the image `r/s:latest` has the tag `latest` <"r/s:latest">',
        'WQ701 5:11 the image `r/k` has no tag, which means `latest` <"r/k">',
        'WQ701 7:45 the image `r/x` has no tag, which means `latest` <"r/x">',
    ]
    assert len(places(text, "WQ701")) == 6


def test_a_param_that_is_latest() -> None:
    text = (
        'workflow w\nparam tag = "latest"\nsource s: items { items = ["a"] }\n'
        'worker k { image = "r/k:${tag}" }\nqueue q { from = s, worker = k }\n'
    )
    assert places(text, "WQ701") == ['WQ701 4:20 the image `r/k:latest` has the tag `latest` <"r/k:${tag}">']
