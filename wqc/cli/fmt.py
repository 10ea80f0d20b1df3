"""`wqc fmt`"""

import sys
from argparse import ArgumentParser, Namespace

from wqc.cli import files
from wqc.cli.arguments import add_colour_option, add_format_option
from wqc.cli.diff import diff
from wqc.cli.each import each
from wqc.cli.ending import Status, Trouble
from wqc.cli.report import coloured, report
from wqc.diagnostics.finding import Finding
from wqc.language.formatter import format_text

DESCRIPTION = """\
Lay out .wq files in the one canonical way; comments stay. A file with syntax errors is left as it is."""
EXAMPLE = """wqc fmt examples/*.wq
  wqc fmt --check --diff examples/*.wq    # in CI: exit with 1 if anything would change"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="a file, or - to print standard input's canonical form"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; name what would change")
    parser.add_argument("--diff", action="store_true", help="write nothing; show what would change")
    add_format_option(parser)
    add_colour_option(parser)
    parser.set_defaults(notes=False)


def run(arguments: Namespace) -> Status:
    findings: list[Finding] = []
    status = each(arguments.files, lambda path: _format(path, arguments, findings))
    report(findings, arguments, sys.stderr)
    return status


def _format(path: str, arguments: Namespace, findings: list[Finding]) -> Status:
    """Adds to `findings` why the file can't be laid out."""
    if path.endswith(".wqp"):
        raise Trouble(f"{path} holds params: fmt lays out .wq files")
    source, data = files.read_with_bytes(path)
    formatted = format_text(source)
    if formatted.findings:
        findings += formatted.findings
        return Status.FINDINGS
    changes = formatted.text.encode() != data
    if not arguments.check and not arguments.diff:
        if path == "-":
            sys.stdout.write(formatted.text)
        elif changes:
            files.replace(path, formatted.text)
            print(f"reformatted {path}", file=sys.stderr)
        return Status.CLEAN
    if changes and arguments.check:
        print(f"would reformat {source.name}", file=sys.stderr)
    if changes and arguments.diff:
        colour = coloured(arguments.color, sys.stdout)
        sys.stdout.write(diff(data.decode("utf-8-sig"), formatted.text, source.name, colour=colour))
    return Status.FINDINGS if changes else Status.CLEAN
