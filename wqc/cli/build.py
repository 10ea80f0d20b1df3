"""`wqc build`"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wqc.cli import files, folder
from wqc.cli.arguments import add_compiler_options, add_findings_options
from wqc.cli.compiler import options
from wqc.cli.diff import diff
from wqc.cli.ending import Status, Trouble, status_of
from wqc.cli.report import coloured, report
from wqc.diagnostics.source import Source
from wqc.pipeline import Built, build, no_earlier_build

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
    add_compiler_options(parser)
    add_findings_options(parser)


def run(arguments: Namespace) -> Status:
    """Nothing is written unless all files are without errors."""
    if arguments.output is None and not arguments.stdout:
        raise Trouble("build needs -o DIR, the folder to write to, or --stdout")
    chosen = options(arguments, earlier_queues=_earlier_queues(arguments.output))
    sources = [files.read(path) for path in arguments.files]
    built = [build(source, chosen) for source in sources]
    findings = list(dict.fromkeys(finding for one in built for finding in one.checked.findings))
    report(findings, arguments, sys.stderr)
    if status_of(findings) is not Status.CLEAN:
        return status_of(findings)
    workflows = _by_name(sources, built)
    if arguments.stdout:
        return _print(workflows)
    return max([_deliver(arguments.output / name, texts, arguments) for name, texts in workflows.items()])


def _earlier_queues(output: Path | None) -> Callable[[str], Mapping[str, str]]:
    if output is None:
        return no_earlier_build
    return lambda workflow: folder.earlier_queues(output / workflow)


def _by_name(sources: Sequence[Source], built: Sequence[Built]) -> dict[str, Mapping[str, str]]:
    """The files of each workflow."""
    origin: dict[str, str] = {}
    workflows: dict[str, Mapping[str, str]] = {}
    for source, one in zip(sources, built, strict=True):
        if one.checked.workflow is None:
            raise ValueError(f"{source.name} has neither a workflow nor errors")
        name = one.checked.workflow.name
        if name in workflows:
            raise Trouble(f"{origin[name]} and {source.name} are both workflow {name}; rename one of them")
        origin[name], workflows[name] = source.name, one.files
    return workflows


def _print(workflows: Mapping[str, Mapping[str, str]]) -> Status:
    """The objects alone: what a tool that prunes would delete everything for must not be empty."""
    objects: list[str] = []
    for name, built in workflows.items():
        own = [text for file, text in built.items() if file.endswith(".yaml") and file != KUSTOMIZATION]
        if not own:
            raise Trouble(f"workflow {name} has no objects, and an empty output would delete what is there")
        objects += own
    sys.stdout.writelines(text if text.startswith("---\n") else f"---\n{text}" for text in objects)
    return Status.CLEAN


def _deliver(place: Path, built: Mapping[str, str], arguments: Namespace) -> Status:
    if arguments.check:
        return _compare(place, built, coloured(arguments.color, sys.stdout))
    plan = folder.write(place, built, force=arguments.force)
    counts = ((len(plan.write), "written"), (len(plan.remove), "removed"), (plan.unchanged, "unchanged"))
    print(f"{place}: " + ", ".join(f"{count} {what}" for count, what in counts if count))
    return Status.CLEAN


def _compare(place: Path, built: Mapping[str, str], colour: bool) -> Status:
    plan, present = folder.compare(place, built)
    for name in (*plan.write, *plan.remove):
        before = present[name].decode(errors="replace") if name in present else None
        sys.stdout.write(diff(before, built.get(name), str(place / name), colour=colour))
    return Status.FINDINGS if plan.changes else Status.CLEAN
