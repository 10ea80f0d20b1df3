"""`wqc build`"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from wqc.cli import files, folder
from wqc.cli.arguments import add_compiler_options, add_findings_options
from wqc.cli.compiler import options
from wqc.cli.diff import diff
from wqc.cli.report import coloured, report
from wqc.cli.status import Status, Trouble, status_of
from wqc.diagnostics.source import Source
from wqc.emit.ownership import Plan
from wqc.pipeline import Options, build, no_earlier_build

DESCRIPTION = """\
Write a workflow's Kubernetes objects into DIR/<workflow>, with a kustomization.yaml and an index of
the files that wqc owns there. Findings go to standard error."""
EXAMPLE = """wqc build examples/thumbnails.wq -o out && kubectl apply -k out/thumbnails
  wqc build examples/*.wq -o out --check     # in CI: is what is committed up to date?"""

KUSTOMIZATION = "kustomization.yaml"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="a .wq file, or - for standard input")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="where the workflow's folder is")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--check", action="store_true", help="write nothing; show what would change (exit code 1 if so)"
    )
    mode.add_argument(
        "--stdout", action="store_true", help="write nothing; print the objects as one YAML stream"
    )
    parser.add_argument(
        "--force", action="store_true", help="overwrite files that were changed by hand since wqc wrote them"
    )
    parser.add_argument("--image", default="", help="the runtime image, where the workflow names none")
    add_compiler_options(parser)
    add_findings_options(parser)


def run(arguments: Namespace) -> Status:
    if arguments.output is None and not arguments.stdout:
        raise Trouble("build needs -o DIR, the folder to write to, or --stdout")
    chosen = options(arguments, image=arguments.image, earlier_queues=_earlier_queues(arguments.output))
    sources = [files.read(path) for path in arguments.files]
    return max([_build(source, chosen, arguments) for source in sources])


def _earlier_queues(output: Path | None) -> Callable[[str], tuple[str, ...]]:
    if output is None:
        return no_earlier_build
    return lambda workflow: folder.earlier_queues(output / workflow)


def _build(source: Source, chosen: Options, arguments: Namespace) -> Status:
    built = build(source, chosen)
    report(built.checked.findings, arguments, sys.stderr)
    status = status_of(built.checked.findings)
    if status is not Status.CLEAN or built.checked.workflow is None:
        return status
    if arguments.stdout:
        return _print(source, built.files)
    place = arguments.output / built.checked.workflow.name
    if arguments.check:
        return _compare(place, built.files, arguments)
    print(_done(place, folder.write(place, built.files, force=arguments.force)))
    return Status.CLEAN


def _print(source: Source, built: Mapping[str, str]) -> Status:
    """The objects alone: what a tool that prunes would delete everything for must not be empty."""
    objects = [text for name, text in built.items() if name.endswith(".yaml") and name != KUSTOMIZATION]
    if not objects:
        raise Trouble(f"{source.name} makes no objects, and an empty output would delete all that is there")
    for text in objects:
        sys.stdout.write(text if text.startswith("---\n") else f"---\n{text}")
    return Status.CLEAN


def _compare(place: Path, built: Mapping[str, str], arguments: Namespace) -> Status:
    plan, present = folder.compare(place, built)
    colour = coloured(arguments.color, sys.stdout)
    for name in (*plan.write, *plan.remove):
        before = present[name].decode(errors="replace") if name in present else None
        sys.stdout.write(diff(before, built.get(name), str(place / name), colour=colour))
    return Status.FINDINGS if plan.changes else Status.CLEAN


def _done(place: Path, plan: Plan) -> str:
    counts = ((len(plan.write), "written"), (len(plan.remove), "removed"), (plan.unchanged, "unchanged"))
    return f"{place}: " + ", ".join(f"{count} {what}" for count, what in counts if count)
