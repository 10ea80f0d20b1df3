"""`wqc check`"""

import sys
from argparse import ArgumentParser, Namespace

from wqc.cli import files
from wqc.cli.arguments import add_compiler_options, add_findings_options
from wqc.cli.compiler import options
from wqc.cli.report import report
from wqc.cli.status import Status, Trouble, status_of
from wqc.diagnostics.finding import Finding
from wqc.pipeline import check

DESCRIPTION = "Find the mistakes in workflow files: all of them, offline."
EXAMPLE = "wqc check examples/*.wq --notes"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="a .wq file, or - for standard input")
    add_compiler_options(parser)
    add_findings_options(parser)


def run(arguments: Namespace) -> Status:
    """One report over all files; one that can't be read doesn't hide what is wrong with the others."""
    chosen = options(arguments)
    findings: dict[Finding, None] = {}
    status = Status.CLEAN
    for path in arguments.files:
        try:
            source = files.read(path)
        except Trouble as trouble:
            print(f"wqc: {trouble}", file=sys.stderr)
            status = Status.TROUBLE
            continue
        # a file that two others import is reported once
        findings |= dict.fromkeys(check(source, chosen).findings)
    report(list(findings), arguments, sys.stdout)
    if arguments.format == "text" and not findings and status is Status.CLEAN:
        print("no errors, no warnings")
    return max(status, status_of(findings))
