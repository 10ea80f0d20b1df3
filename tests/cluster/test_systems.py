"""Workflows on a real node, as their users bring them there; what comes out is what the words promise."""

import os
import re
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import imageio_ffmpeg
import pytest

from cluster.audit import asked_by
from cluster.image import Image
from cluster.interpreter import copy_libraries, program
from cluster.real_node import RealNode
from cluster.runtime_image import runtime_image
from cluster.system import System, item_of
from support.need import unavailable

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()


@pytest.fixture(scope="module")
def node(real_node: RealNode, tmp_path_factory: pytest.TempPathFactory) -> RealNode:
    """With the runtime image, under the name that the compiler writes."""
    if not isinstance(real_node, RealNode):
        unavailable("volumes of a node on this machine; unset WQC_TEST_KUBECONFIG")
    real_node.load_image(runtime_image(tmp_path_factory.mktemp("runtime-image")))
    return real_node


# --- thumbnails ---


@pytest.fixture(scope="module")
def ffmpeg(node: RealNode, tmp_path_factory: pytest.TempPathFactory) -> str:
    """ffmpeg and a shell, under the example's name."""
    name = "docker.io/jrottenberg/ffmpeg:7.1-alpine"
    root = tmp_path_factory.mktemp("ffmpeg")
    shell_layer(root)
    shutil.copy(FFMPEG, root / "bin" / "ffmpeg")
    copy_libraries(root)
    node.load_image(Image(name, [root], ["ffmpeg"]))
    return name


def shell_layer(root: Path) -> None:
    busybox = program("busybox", "busybox, statically linked (Debian: busybox-static)")
    (root / "bin").mkdir()
    shutil.copy(busybox, root / "bin" / "busybox")
    for name in ("sh", "cat", "sleep", "mkdir", "mv", "date"):
        (root / "bin" / name).symlink_to("busybox")


def clip(path: Path, frames: int) -> None:
    """A film in which every frame is another, put there as a whole."""
    made = [
        "-f",
        "lavfi",
        "-i",
        "testsrc=size=320x180:rate=25",
        "-frames:v",
        str(frames),
        "-pix_fmt",
        "yuv420p",
    ]
    subprocess.run([FFMPEG, "-loglevel", "error", *made, "-f", "mp4", f"{path}.part"], check=True)
    old = time.time() - 60
    os.utime(f"{path}.part", (old, old))
    os.rename(f"{path}.part", path)


def picture(path: Path, frame: int = 0) -> str:
    """The digest of one frame's pixels."""
    command = [FFMPEG, "-loglevel", "error", "-i", path, "-vf", f"select=eq(n\\,{frame})"]
    command += ["-frames:v", "1", "-pix_fmt", "rgb24", "-f", "md5", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_films_become_thumbnails(node: RealNode, ffmpeg: str, tmp_path: Path) -> None:
    media = tmp_path / "media"
    system = System(node, "thumbnails", tmp_path, {"media": media})
    films = {"cats": 250, "dogs": 100, "two words": 201}
    for name, frames in films.items():
        clip(media / f"{name}.mp4", frames)
    system.apply(EXAMPLES / "thumbnails.wq")
    system.wait("a first Job", lambda: bool(system.jobs("thumbs")))
    system.delete_manager()
    system.wait("all are recorded", lambda: system.finished("thumbs") == 3)
    first = {path: path.stat().st_mtime_ns for path in media.glob("*.png")}
    films["added later"] = 301
    clip(media / "added later.mp4", 301)
    system.wait("the fourth is recorded", lambda: system.finished("thumbs") == 4)

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
    assert sorted(system.recorded("thumbs").values()) == [1] * 4
    asked = asked_by(node.control_plane.audit_log, system.namespace, "thumbnails-manager")
    assert [each for each in asked if each.status in (401, 403)] == []
    assert {(each.verb, each.resource) for each in asked} >= {("create", "jobs"), ("patch", "jobs")}
