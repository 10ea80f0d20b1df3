"""`wqc check`"""

import sys
from argparse import ArgumentParser, Namespace

from wqc.cli import files
from wqc.cli.arguments import add_compiler_options, add_findings_options
from wqc.cli.compiler import options
from wqc.cli.each import each
from wqc.cli.ending import Status, status_of
from wqc.cli.report import report
from wqc.diagnostics.finding import Finding
from wqc.pipeline import check

DESCRIPTION = "Find the mistakes in workflow files: all of them, offline."
EXAMPLE = "wqc check examples/*.wq --notes"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="a .wq file, or - for standard input")
    add_compiler_options(parser)
    add_findings_options(parser)


def run(arguments: Namespace) -> Status:
    """One report over all files."""
    chosen = options(arguments)
    # a mistake in what two files import is reported once
    findings: dict[Finding, None] = {}

    def check_one(path: str) -> Status:
        found = check(files.read(path), chosen).findings
        findings.update(dict.fromkeys(found))
        return status_of(found)

    status = each(arguments.files, check_one)
    report(list(findings), arguments, sys.stdout)
    if arguments.format == "text" and not findings and status is Status.CLEAN:
        print("no errors, no warnings")
    return status
