"""examples/anonymise on a real node: three programs that know nothing of each other work on one photo."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cluster.image import Image
from cluster.interpreter import ENVIRONMENT, PACKAGES, interpreter_layer
from cluster.real_node import RealNode
from cluster.system import System
from cluster.vision import PORTRAIT, vision_layer

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLE = REPOSITORY / "examples" / "anonymise"
PROGRAMS = ("detect", "tag", "blur")


@pytest.fixture(scope="module")
def vision() -> Path:
    return vision_layer()


@pytest.fixture(scope="module")
def images(runtime_node: RealNode, vision: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The example's programs, in one image under the three names that it uses: it is unpacked once."""
    root = tmp_path_factory.mktemp("vision")
    (root / "usr/local/bin").mkdir(parents=True)
    for name in PROGRAMS:
        shutil.copy(EXAMPLE / f"{name}.py", root)
        start = root / "usr/local/bin" / name
        start.write_text(f'#!/bin/sh\nexec python /{name}.py "$@"\n')
        start.chmod(0o755)
    names = [f"registry.example.com/vision/{name}:1.0" for name in PROGRAMS]
    layers = [interpreter_layer(), vision, root]
    runtime_node.load_image(Image(names, layers, ["sh"], environment=ENVIRONMENT))


class Here:
    """OpenCV on this machine, to make photos and to look at what came out."""

    def __init__(self, vision: Path) -> None:
        self.packages = vision / PACKAGES

    def __call__(self, script: str, *arguments: object) -> str:
        environment = os.environ | {"PYTHONPATH": str(self.packages)}
        command = [sys.executable, "-c", f"import json, sys, cv2, numpy\n{script}", *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


MAKE_PHOTOS = """
photo = cv2.imread(sys.argv[1])
assert cv2.imwrite(sys.argv[2], photo) and cv2.imwrite(sys.argv[3], cv2.flip(photo, 1))
"""
FIND_FACES = """
classifier = cv2.CascadeClassifier(cv2.data.haarcascades + "haarcascade_frontalface_default.xml")
grey = cv2.imread(sys.argv[1], cv2.IMREAD_GRAYSCALE)
found = classifier.detectMultiScale(grey, scaleFactor=1.1, minNeighbors=6, minSize=(32, 32))
print(json.dumps([list(map(int, area)) for area in found]))
"""
CUT_PORTRAIT = """
x, y, width, height = json.loads(sys.argv[2])
assert cv2.imwrite(sys.argv[3], cv2.imread(sys.argv[1], cv2.IMREAD_GRAYSCALE)[y:y + height, x:x + width])
"""
WHERE_THEY_DIFFER = """
rows, columns = numpy.nonzero((cv2.imread(sys.argv[1]) != cv2.imread(sys.argv[2])).any(axis=2))
corners = (columns.min(), rows.min(), columns.max(), rows.max()) if len(rows) else ()
print(json.dumps(list(map(int, corners))))
"""


def test_who_did_not_agree_is_blurred(
    runtime_node: RealNode, images: None, vision: Path, tmp_path: Path
) -> None:
    here = Here(vision)
    photos, people, public = (tmp_path / name for name in ("photos", "people", "public"))
    volumes = {"photos": photos, "people": people, "public": public}
    with System(runtime_node, "anonymise", tmp_path, volumes) as system:
        (photos / "friends").mkdir()
        stranger, friend = photos / "stranger.jpg", photos / "friends" / "a friend.jpg"
        here(MAKE_PHOTOS, vision / PORTRAIT, stranger, friend)
        faces = {path: json.loads(here(FIND_FACES, path)) for path in (stranger, friend)}
        assert all(faces.values())
        for number, face in enumerate(faces[friend]):
            here(CUT_PORTRAIT, friend, json.dumps(face), people / f"friend-{number}.png")
        old = time.time() - 60
        for path in faces:
            os.utime(path, (old, old))

        system.apply(REPOSITORY / "examples" / "anonymise.wq", "listing=0.5 flush=1 backoff=1")
        system.wait_finished("anonymous", 2)

        made = {str(path.relative_to(public)) for path in public.rglob("*") if path.is_file()}
        assert made == {"stranger.png", "friends/a friend.png"}
        assert json.loads(here(WHERE_THEY_DIFFER, friend, public / "friends" / "a friend.png")) == []
        left, top, right, bottom = json.loads(here(WHERE_THEY_DIFFER, stranger, public / "stranger.png"))
        assert min(x for x, _, _, _ in faces[stranger]) <= left
        assert min(y for _, y, _, _ in faces[stranger]) <= top
        assert right < max(x + width for x, _, width, _ in faces[stranger])
        assert bottom < max(y + height for _, y, _, height in faces[stranger])
        assert system.attempts("anonymous") == {"stranger.jpg": 1, "friends/a friend.jpg": 1}
