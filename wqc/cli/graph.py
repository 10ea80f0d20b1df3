"""`wqc graph`"""

import sys
from argparse import ArgumentParser, Namespace

from wqc.cli import files
from wqc.cli.arguments import add_compiler_options, add_findings_options
from wqc.cli.compiler import options
from wqc.cli.ending import Status, status_of
from wqc.cli.report import coloured, report
from wqc.diagnostics.finding import Level
from wqc.emit.drawing import dot, json, mermaid, tree
from wqc.emit.drawing.drawing import Drawing, drawing
from wqc.pipeline import check

DESCRIPTION = """\
Show what flows where, with items per second on the edges and the nodes marked that have findings.
The findings themselves go to standard error."""
EXAMPLE = """wqc graph examples/signup.wq
  wqc graph examples/signup.wq --format dot | dot -Tsvg > signup.svg"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .wq file, or - for standard input")
    parser.add_argument(
        "--format",
        dest="drawn_as",
        choices=("tree", "mermaid", "dot", "json"),
        default="tree",
        help="how the graph is drawn (default: tree)",
    )
    add_compiler_options(parser)
    add_findings_options(parser, "--findings")


def run(arguments: Namespace) -> Status:
    """A graph with errors is drawn as far as it is understood."""
    checked = check(files.read(arguments.file), options(arguments))
    report(checked.findings, arguments, sys.stderr)
    if checked.flow is not None:
        shown = [
            finding for finding in checked.findings if arguments.notes or finding.level is not Level.NOTE
        ]
        sys.stdout.write(_render(drawing(checked.flow, shown), arguments))
    return status_of(checked.findings)


def _render(graph: Drawing, arguments: Namespace) -> str:
    match arguments.drawn_as:
        case "tree":
            return tree.render(graph, colour=coloured(arguments.color, sys.stdout))
        case "mermaid":
            return mermaid.render(graph)
        case "dot":
            return dot.render(graph)
        case _:
            return json.render(graph)
