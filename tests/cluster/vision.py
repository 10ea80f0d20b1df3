"""OpenCV and a photo of a face, installed once for all tests."""

import sys
from pathlib import Path

from cluster.interpreter import PACKAGES, cached, digest_of, install

LOCK = Path(__file__).resolve().parents[2] / "requirements" / "vision.lock"
PORTRAIT = f"{PACKAGES}/skimage/data/astronaut.png"
"""In the layer. Eileen Collins, by NASA: in the public domain, and in scikit-image's wheel."""


def vision_layer() -> Path:
    arguments = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", LOCK)
    return cached("vision", [sys.version, digest_of(LOCK)], lambda root: install(root, *arguments))
