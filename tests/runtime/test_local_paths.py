"""Paths of a container in text, as those that stand for them here."""

import pytest

from wqc.runtime.stores.local.paths import Paths

PATHS = Paths({"/media": "/home/a b/clips", "/media/new": "/srv/new", "/people": "/srv/p"})


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("/media", "/home/a b/clips"),
        ("cp /media/x.mp4 /people", "cp /home/a b/clips/x.mp4 /srv/p"),
        ("--dir=/media/", "--dir=/home/a b/clips/"),
        ("PATH=/people:/media:/bin", "PATH=/srv/p:/home/a b/clips:/bin"),
        ('open("/media/new/x")', 'open("/srv/new/x")'),
        ("/media/newer", "/home/a b/clips/newer"),
        ("ls /media/*.mp4; ls /media.", "ls /home/a b/clips/*.mp4; ls /home/a b/clips."),
        ("out=/media/${in%.mp4}", "out=/home/a b/clips/${in%.mp4}"),
    ],
)
def test_a_mount_path_is_replaced(text: str, here: str) -> None:
    assert PATHS.here(text) == here


@pytest.mark.parametrize(
    "text",
    [
        "/multimedia",
        "/medias /media-old /media.old /media_2",
        "https://example.com/media/x",
        "$BASE/media ${BASE}/media $(pwd)/media ~/media ../media ./media",
        "/srv/media /people2",
        "media/x",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert PATHS.here(text) == text


def test_a_place_that_is_named_like_another_mount_is_replaced_once() -> None:
    assert Paths({"/a": "/b", "/b": "/a"}).here("/a /b") == "/b /a"


def test_nothing_is_mounted() -> None:
    assert Paths({}).here("/media") == "/media"
