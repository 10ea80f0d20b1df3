"""A change of a word in a `.wq` is a change of the lines that it is about."""

from pathlib import Path

import pytest

from wqc.diagnostics.source import Source
from wqc.emit.lock import LOCK
from wqc.pipeline import Options, build

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CHECKSUM = "wqc/checksum:"
SCRIPT = """ffmpeg -i "$in" -vf 'select=not(mod(n\\,100))' -fps_mode vfr "${in%%.mp4}.%s.png\""""
SHIPPED = """shipped = workflow.filter("shipped", events, where='item.data.state == "%s"')"""


def files(name: str, text: str) -> dict[str, str]:
    built = build(Source(f"{name}.wq", text), Options())
    assert built.files, built.checked.findings
    return {file: content for file, content in built.files.items() if file != LOCK}


def changed(name: str, old: str, new: str) -> dict[str, tuple[list[str], list[str]]]:
    """By file, the lines that went and those that came, without the manager's checksum."""
    text = (EXAMPLES / f"{name}.wq").read_text()
    assert text.count(old) == 1, old
    before, after = files(name, text), files(name, text.replace(old, new))
    changes = {}
    for file in sorted({*before, *after}):
        gone, come = lines(before.get(file, "")), lines(after.get(file, ""))
        if gone != come:
            changes[file] = (
                list(dict.fromkeys(line.strip() for line in gone if line not in come)),
                list(dict.fromkeys(line.strip() for line in come if line not in gone)),
            )
    return changes


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if CHECKSUM not in line]


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        (
            "thumbnails",
            "ffmpeg:7.1-alpine",
            "ffmpeg:7.2-alpine",
            {
                "queue-thumbs.yaml": (
                    ["image: docker.io/jrottenberg/ffmpeg:7.1-alpine"],
                    ["image: docker.io/jrottenberg/ffmpeg:7.2-alpine"],
                )
            },
        ),
        ("thumbnails", "1..20", "1..30", {"queue-thumbs.yaml": (["max: 20"], ["max: 30"])}),
        ("thumbnails", "retries     = 3", "retries     = 5", {"queue-thumbs.yaml": ([], ["retries: 5"])}),
        (
            "thumbnails",
            "timeout     = 10m",
            "timeout     = 20m",
            {"queue-thumbs.yaml": (["activeDeadlineSeconds: 600"], ["activeDeadlineSeconds: 1200"])},
        ),
        ("thumbnails", '"*.mp4"', '"*.mkv"', {"source-films.yaml": (['match: "*.mp4"'], ['match: "*.mkv"'])}),
        ("thumbnails", "takes  = 30s", "takes  = 40s", {"queue-thumbs.yaml": (["takes: 30"], ["takes: 40"])}),
        (
            "thumbnails",
            "%03d.png",
            "%04d.png",
            {"queue-thumbs.yaml": ([SCRIPT % "%03d"], [SCRIPT % "%04d"])},
        ),
        (
            "orders",
            'item.data.state == "shipped"',
            'item.data.state == "sent"',
            {
                "manager.yaml": (
                    [SHIPPED % "shipped"],
                    [SHIPPED % "sent"],
                )
            },
        ),
        (
            "signup",
            '"mail"\n',
            '"post"\n',
            {
                name: (["namespace: mail"], ["namespace: post"])
                for name in (
                    *("access.yaml", "manager.yaml", "network.yaml"),
                    *("queue-email-on.yaml", "queue-settings.yaml", "queue-sms-on.yaml"),
                    *("queue-verify.yaml", "queue-welcome.yaml"),
                    *("source-confirmations.yaml", "source-signups.yaml"),
                )
            },
        ),
        (
            "regions",
            "prove = 20",
            "prove = 50",
            {"queue-index.yaml": ([], ["prove: 50"])},
        ),
    ],
)  # fmt: skip
def test_a_word(name: str, old: str, new: str, expected: dict[str, tuple[list[str], list[str]]]) -> None:
    assert changed(name, old, new) == expected


def test_another_queue_is_another_file_and__elsewhere() -> None:
    text = (EXAMPLES / "thumbnails.wq").read_text()
    before = files("thumbnails", text)
    again = "queue again { from = thumbs, worker = thumbnailer, parallelism = 1..20 }\n"
    after = files("thumbnails", text + again)
    assert after.keys() - before.keys() == {"queue-again.yaml"}
    new = {
        file: [line.strip() for line in lines(after[file]) if line not in lines(before[file])]
        for file in before
        if after[file] != before[file]
    }
    assert new == {
        "kustomization.yaml": ["- queue-again.yaml"],
        "access.yaml": ["- thumbnails-again"],
        "manager.yaml": ['again = workflow.queue("again", thumbs)'],
    }


def test_only_the_manager_that_reads_it_starts_anew() -> None:
    """The checksum follows what the pod reads, and nothing else."""
    text = (EXAMPLES / "thumbnails.wq").read_text()

    def checksum(of: str) -> str:
        return next(line for line in files("thumbnails", of)["manager.yaml"].splitlines() if CHECKSUM in line)

    assert checksum(text.replace("retries     = 3", "retries     = 5")) != checksum(text)
    assert checksum(text.replace("1m ", "2m ", 1)) != checksum(text)  # arrives: the queue's settings
    assert checksum("# another comment\n" + text) == checksum(text)


def test_another_run_is_another_job_of_the_same_content() -> None:
    text = (EXAMPLES / "coarse.wq").read_text()
    batch = next(line for line in text.splitlines() if line.startswith("batch"))
    again = text.replace(batch, f'{batch}\n  run = "2"')
    (before,), (after,) = (
        [text for file, text in files("coarse", source).items() if file.startswith("batch")]
        for source in (text, again)
    )
    gone = [line.strip() for line in before.splitlines() if line not in after.splitlines()]
    assert [line.split(":")[0] for line in gone] == ["name", "wqc/run"]
