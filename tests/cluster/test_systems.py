"""Workflows on a real node, as their users bring them there; what comes out is what the words promise."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from cluster.audit import asked_by
from cluster.films import clip, load_ffmpeg, picture
from cluster.real_node import RealNode
from cluster.system import System, item_of
from cluster.workers import shell_image

SYSTEMS = Path(__file__).parent / "systems"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


SHORT = "listing=0.5 flush=1 backoff=1"


def asks_for_what_it_may(system: System) -> None:
    """The manager was refused nothing, and nobody else of the workflow has asked the API server anything."""
    asked = asked_by(system.node.control_plane.audit_log, system.namespace)
    assert set(asked) == {f"{system.object_name}-manager"}
    (requests,) = asked.values()
    assert [each for each in requests if each.status in (401, 403)] == []
    assert {("create", "jobs"), ("patch", "jobs")} <= {(each.verb, each.resource) for each in requests}


# --- thumbnails ---


@pytest.fixture(scope="module")
def ffmpeg(runtime_node: RealNode, tmp_path_factory: pytest.TempPathFactory) -> None:
    load_ffmpeg(runtime_node, tmp_path_factory.mktemp("ffmpeg"))


def test_films_become_thumbnails(runtime_node: RealNode, ffmpeg: None, tmp_path: Path) -> None:
    media = tmp_path / "media"
    with System(runtime_node, "thumbnails", tmp_path, {"media": media}) as system:
        films = {"cats": 250, "dogs": 100, "two words": 201, "birds": 1, "fish": 101}
        for name, frames in films.items():
            clip(media / f"{name}.mp4", frames)
        system.apply(EXAMPLES / "thumbnails.wq")
        system.wait("a first Job", lambda: bool(system.jobs("thumbs")))
        before = system.manager()
        system.delete_manager()
        system.wait_finished("thumbs", 5)
        system.wait("another manager is ready", lambda: system.manager() not in ("", before))
        first = {path: path.stat().st_mtime_ns for path in media.glob("*.png")}
        films["added later"] = 301
        clip(media / "added later.mp4", 301)
        system.wait_finished("thumbs", 6)

        sheets = {path.name for path in media.glob("*.png")}
        assert sheets == {
            f"{name}.{number + 1:03d}.png"
            for name, frames in films.items()
            for number in range(-(-frames // 100))
        }
        for sheet in sheets:
            name, number = re.fullmatch(r"(.*)\.(\d{3})\.png", sheet).groups()
            frame = (int(number) - 1) * 100
            assert picture(media / sheet) == picture(media / f"{name}.mp4", frame), sheet
        # nothing was worked on twice, and each is in the record once
        assert {path: path.stat().st_mtime_ns for path in first} == first
        assert system.attempts("thumbs") == Counter(f"{name}.mp4" for name in films)
        assert all(item_of(job)["attempt"] == 1 for job in system.jobs("thumbs"))
        assert sorted(system.recorded("thumbs").values()) == [1] * 6
        asks_for_what_it_may(system)


# --- a copier, a splitter and a merger ---


def test_letters_are_copied_split_and_merged(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, "registry.example.com/clerk:1", tmp_path / "image")
    out = tmp_path / "out-volume"
    with System(runtime_node, "letters", tmp_path, {"out": out}) as system:
        system.apply(SYSTEMS / "letters.wq", SHORT)
        expected = {"archive": 4, "home": 1, "office": 2, "long": 1, "known_filed": 3}
        for queue, count in expected.items():
            system.wait_finished(queue, count)
        places = {"archive": "acdn", "home": "a", "office": "cd", "long": "d", "known": "acd"}
        files = {f"{id}.{place}" for place, ids in places.items() for id in ids}
        assert {path.name for path in out.iterdir()} == files | {"d.tried"}
        assert json.loads((out / "c.office").read_text()) == {"id": "c", "to": "office", "pages": 3}
        # the first attempt at d failed, and only there
        assert system.attempts("archive") == {"a b": 1, "$(c)": 1, "d/e": 2, "nowhere": 1}
        assert system.attempts("known_filed") == {"home:a b": 1, "office:$(c)": 1, "office:d/e": 1}
        asks_for_what_it_may(system)


# --- an upgrade while Jobs run ---


def test_an_upgrade_leaves_running_jobs_alone(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, "registry.example.com/clerk:1", tmp_path / "image")
    out = tmp_path / "out-volume"
    with System(runtime_node, "slow", tmp_path, {"out": out}) as system:
        system.apply(SYSTEMS / "slow.wq", SHORT)
        system.wait("two run", lambda: len(list(out.glob("*.begun"))) == 2)
        running = {job["metadata"]["uid"] for job in system.jobs("naps")}
        before = system.manager()
        system.apply(SYSTEMS / "slow.wq", SHORT, "--param", "label=two")
        system.wait("another manager is ready", lambda: system.manager() not in ("", before))
        (out / "go").touch()
        system.wait_finished("naps", 4)
        said = {path.name: path.read_text().split() for path in out.glob("?.*")}
        labels = Counter(tuple(said[f"{name}.{what}"]) for name in "abcd" for what in ("begun", "done"))
        assert labels == {("one",): 4, ("two",): 4}
        assert running <= {job["metadata"]["uid"] for job in system.jobs("naps")}
        assert system.attempts("naps") == dict.fromkeys("abcd", 1)
        asks_for_what_it_may(system)
