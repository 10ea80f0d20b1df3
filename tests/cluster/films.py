"""Films, and an image with ffmpeg to work on them."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import imageio_ffmpeg

from cluster.image import Image
from cluster.interpreter import copy_libraries
from cluster.real_node import RealNode
from cluster.workers import shell_layer

FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()
IMAGE = "docker.io/jrottenberg/ffmpeg:7.1-alpine"
"""The name that the examples use."""


def load_ffmpeg(node: RealNode, folder: Path) -> None:
    root = shell_layer(folder)
    shutil.copy(FFMPEG, root / "bin" / "ffmpeg")
    copy_libraries(root)
    node.load_image(Image([IMAGE], [root], ["ffmpeg"]))


def clip(path: Path, frames: int, *options: str, age: float = 60) -> None:
    """A film in which every frame is another, put there as a whole `age` seconds ago."""
    made = f"-f lavfi -i testsrc=size=320x180:rate=25 -frames:v {frames} -pix_fmt yuv420p -f mp4".split()
    subprocess.run([FFMPEG, "-loglevel", "error", *options, *made, f"{path}.part"], check=True)
    then = time.time() - age
    os.utime(f"{path}.part", (then, then))
    os.rename(f"{path}.part", path)


def picture(path: Path, frame: int = 0) -> str:
    """The digest of one frame's pixels."""
    command = [FFMPEG, "-loglevel", "error", "-i", path, "-vf", f"select=eq(n\\,{frame})"]
    command += ["-frames:v", "1", "-pix_fmt", "rgb24", "-f", "md5", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def streams(path: Path) -> list[str]:
    """What ffmpeg says of each stream: `Video: hevc …, 3840x2160, …`."""
    said = subprocess.run([FFMPEG, "-hide_banner", "-i", path], capture_output=True, text=True).stderr
    return re.findall(r"Stream #\S+ ((?:Video|Audio): .*)", said)
