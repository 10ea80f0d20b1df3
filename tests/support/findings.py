"""Findings of a text in a form that tests can state: `WQ203 4:22 message`."""

from collections.abc import Mapping

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.source import Source
from wqc.pipeline import Checked, Options, Unreadable, check


def checked(text: str, files: Mapping[str, str] | None = None, **options: object) -> Checked:
    """`text` as `w.wq`, importing from `files`."""

    def read(importer: Source, path: str) -> Source:
        if path not in (files or {}):
            raise Unreadable("there is no such file")
        return Source(path, (files or {})[path])

    return check(Source("w.wq", text), Options(read=read, **options))  # type: ignore[arg-type]


def line(finding: Finding) -> str:
    name = "" if finding.span.source.name == "w.wq" else f"{finding.span.source.name}:"
    at = ":".join(map(str, finding.span.source.position(finding.span.start)))
    return f"{finding.code} {name}{at} {finding.message}"


def lines(text: str, files: Mapping[str, str] | None = None, **options: object) -> list[str]:
    """Findings of level error, each as a line."""
    found = checked(text, files, **options).findings
    return [line(finding) for finding in found if finding.level.value == "error"]


def places(
    text: str, family: str | tuple[str, ...], files: Mapping[str, str] | None = None, **options: object
) -> list[str]:
    """Findings whose code begins with `family`, each as a line, with the text that it points at."""
    found = checked(text, files, **options).findings
    return [f"{line(each)} <{each.span.text}>" for each in found if each.code.startswith(family)]


def also(text: str, code: str) -> list[str]:
    """The further places of the one finding of that code, each as `text: label`."""
    (found,) = (each for each in checked(text).findings if each.code == code)
    return [f"{label.span.text}: {label.text}" for label in found.also]


def advice(text: str, code: str, **options: object) -> list[str]:
    """The help of the one finding of that code, by line."""
    (found,) = (each for each in checked(text, **options).findings if each.code == code)
    return found.help.splitlines()
