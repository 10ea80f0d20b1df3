"""examples/transcode on a real node: one film, worked on by four queues, each with its own form of it."""

from pathlib import Path

from cluster.films import clip, load_ffmpeg, picture, streams
from cluster.real_node import RealNode
from cluster.system import System

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "transcode.wq"
SMALL = ("--param", "uhd_cpu=200m..2", "--param", "full_hd_cpu=200m..2")
"""What the queues ask for here: the node is this machine."""
QUEUES = ("uhd", "full_hd", "low", "preview")


def test_a_film_in_four_forms(runtime_node: RealNode, tmp_path: Path) -> None:
    load_ffmpeg(runtime_node, tmp_path / "image")
    films, encoded = tmp_path / "films", tmp_path / "encoded"
    with System(runtime_node, "transcode", tmp_path, {"films": films, "encoded": encoded}) as system:
        (films / "2026").mkdir()
        sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=1"]
        clip(films / "2026" / "two words.mp4", 25, *sound, age=120)
        before = picture(films / "2026" / "two words.mp4")
        system.apply(EXAMPLE, "listing=0.5 flush=1 backoff=1", *SMALL)
        for queue in QUEUES:
            system.wait_finished(queue, 1)

        made = {path.name: streams(path) for path in (encoded / "2026").iterdir()}
        assert set(made) == {
            f"two words.{suffix}" for suffix in ("2160p.mp4", "1080p.mp4", "360p.mp4", "preview.gif")
        }
        expected = {
            "2160p.mp4": ("Video: hevc", "3840x2160", "Audio: aac"),
            "1080p.mp4": ("Video: h264", "1920x1080", "Audio: aac"),
            "360p.mp4": ("Video: h264", "640x360", "Audio: aac"),
            "preview.gif": ("Video: gif", "240x136"),
        }
        for suffix, parts in expected.items():
            said = " ".join(made[f"two words.{suffix}"])
            assert all(part in said for part in parts), (suffix, said)
            assert ("Audio" in said) == ("Audio: aac" in parts), (suffix, said)
        assert picture(films / "2026" / "two words.mp4") == before
        for queue in QUEUES:
            assert system.attempts(queue) == {"2026/two words.mp4": 1}
