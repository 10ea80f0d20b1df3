"""What `make demo` ends with: a workflow at work on a film, on this machine.

The film is a dive into the Mandelbrot set, which ffmpeg computes; PyPI's imageio-ffmpeg brings one along. The
worker's script, written for an image that has `ffmpeg`, finds it in PATH.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg

WORKFLOW = "examples/thumbnails.wq"
FILM = "mandelbrot=size=480x270:rate=25:maxiter=1500:end_pts=300"
SECONDS, PICTURES = 12, 3
"""Of the film, and what the worker makes of it: one of each hundred frames."""
COLUMNS, ROWS = 72, 20
SHADES = " .:-=+*#%@"


def main(wqc: str, folder: Path) -> None:
    ffmpeg = laid_in(folder / "bin")
    clips = folder / "clips"
    clips.mkdir(parents=True)
    print("\nA film is made, of twelve seconds …", flush=True)
    film = ["-f", "lavfi", "-i", FILM, "-t", f"{SECONDS}", "-pix_fmt", "yuv420p"]
    subprocess.run([ffmpeg, "-loglevel", "error", *film, clips / "dive.mp4"], check=True)
    command = [
        "run",
        WORKFLOW,
        "--volume",
        f"media={clips}",
        "--state",
        str(folder / "state"),
        "--until-empty",
    ]
    print(f"$ wqc {shlex.join(command)}", flush=True)
    path = f"{ffmpeg.parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run([wqc, *command], env=os.environ | {"PATH": path}).returncode
    pictures = [each for each in sorted(clips.glob("*.png")) if each.stat().st_size]
    if ended or len(pictures) != PICTURES:
        sys.exit(f"the demo failed: {len(pictures)} of {PICTURES} pictures; wqc's exit code is {ended}")
    print(f"\nEvery hundredth frame of it, in {clips}:")
    for picture in pictures:
        print(f"    {picture.name}  {picture.stat().st_size / 1000:.0f} kB")
    print(f"\n{pictures[-1].name}, as far as letters go:\n{drawn(ffmpeg, pictures[-1])}")


def laid_in(folder: Path) -> Path:
    """The film maker under the name that scripts call it by."""
    folder.mkdir(parents=True)
    ffmpeg = folder.absolute() / "ffmpeg"
    ffmpeg.symlink_to(imageio_ffmpeg.get_ffmpeg_exe())
    return ffmpeg


def drawn(ffmpeg: Path, picture: Path) -> str:
    grey = ["-vf", f"scale={COLUMNS}:{ROWS}", "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    made = subprocess.run(
        [ffmpeg, "-loglevel", "error", "-i", picture, *grey], check=True, capture_output=True
    )
    letters = [SHADES[point * len(SHADES) // 256] for point in made.stdout]
    return "\n".join("".join(letters[row * COLUMNS : (row + 1) * COLUMNS]) for row in range(ROWS))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
