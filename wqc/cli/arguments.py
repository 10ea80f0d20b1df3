"""The tree of commands and the options that several of them share."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from wqc import __version__
from wqc.cli.ending import Status
from wqc.diagnostics.suggestion import nearest
from wqc.model.podspec import VERSIONS

COMMANDS = {
    "check": "find the mistakes in workflow files",
    "build": "write a workflow's Kubernetes objects",
    "graph": "show what flows where, and how much of it",
    "run": "run a workflow on this machine, without a cluster",
    "fill": "put items on the queue that a source reads",
    "status": "say what running workflows do, and what keeps them from it",
    "pause": "let a queue start nothing more",
    "resume": "let a paused queue go on",
    "retry": "try failed items again",
    "discard": "give failed items up",
    "fmt": "lay out files in the one canonical way",
    "explain": "say what a finding means, with examples",
    "schema": "print the table of blocks and attributes as JSON",
    "completion": "print a completion script for your shell",
}
"""Each is a module here, with `DESCRIPTION`, `EXAMPLE`, `add_arguments(parser)` and `run(arguments)`."""


class Parser(argparse.ArgumentParser):
    """Complains in one line, and suggests the nearest option."""

    def error(self, message: str) -> NoReturn:
        hint = "" if message.endswith("?") else f"; see {self.prog} --help"
        print(f"{self.prog}: {message}{hint}", file=sys.stderr)
        sys.exit(Status.TROUBLE)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As its parent, but what is unknown to a command is reported by that command, and arguments and
        options come in any order.
        """
        if args is not None and self._subparsers is None:
            args = self._options_first(args)
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [option for action in self._actions for option in action.option_strings]
            self.error(f"there is no {_kind(unknown[0])} {unknown[0]}{_nearest(unknown[0], options)}")
        return namespace, unknown

    def _options_first(self, words: Sequence[str]) -> list[str]:
        """argparse takes `ITEM…` as given, all of none, as soon as it meets an option."""
        options: list[str] = []
        others: list[str] = []
        left = iter(words)
        for word in left:
            if word == "--":
                return [*options, word, *others, *left]
            if not word.startswith("-") or word == "-":
                others.append(word)
                continue
            options.append(word)
            action = self._option_string_actions.get(word)
            if action is not None and action.nargs is None:
                options += [value for value in (next(left, None),) if value is not None]
        return options + others


class Pairs(argparse.Action):
    """An option that is given once for each name, as `NAME=VALUE`: a dict."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: Any = None
    ) -> None:
        name, equals, value = values.partition("=")
        name = name.strip()
        if not (equals and name):
            raise argparse.ArgumentError(self, f"expected {self.metavar}, not {values!r}")
        before = getattr(namespace, self.dest)
        if name in before:
            raise argparse.ArgumentError(self, f"{name} is given twice: {before[name]} and {value}")
        setattr(namespace, self.dest, {**before, name: value})


class FilledPairs(Pairs):
    """And no value is empty, as it is where a shell's variable isn't set."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: Any = None
    ) -> None:
        if not values.partition("=")[2].strip():
            raise argparse.ArgumentError(self, f"expected {self.metavar}, not {values!r}")
        super().__call__(parser, namespace, values, option)


def command_line(words: Sequence[str] | None = None) -> Parser:
    """The parser of `wqc`. Given the words to parse, only the command that they name is loaded."""
    parser = Parser(
        prog="wqc",
        description="Compile work queues to plain Kubernetes objects and one small manager.",
        epilog="example:\n  wqc build examples/thumbnails.wq -o out && kubectl apply -k out/thumbnails",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"wqc {__version__}")
    chosen = None
    if words is not None:
        chosen = next((word for word in words if not word.startswith("-")), "")
        if chosen and chosen not in COMMANDS:
            parser.error(f"there is no command {chosen}{_nearest(chosen, list(COMMANDS))}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
        )
        if chosen in (None, name):
            _fill(command, name)
    return parser


def _fill(parser: Parser, name: str) -> None:
    module = import_module(f"wqc.cli.{name}")
    parser.description = module.DESCRIPTION
    parser.epilog = f"example:\n  {module.EXAMPLE}"
    module.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show Python's traceback if wqc itself fails")


def add_findings_options(parser: argparse.ArgumentParser, option: str = "--format") -> None:
    """How findings are shown."""
    add_format_option(parser, option)
    parser.add_argument("--notes", action="store_true", help="show notes too, which are advice")
    add_colour_option(parser)


def add_format_option(parser: argparse.ArgumentParser, option: str = "--format") -> None:
    parser.add_argument(
        option,
        dest="format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="how findings are printed (default: text)",
    )


def add_colour_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour: on a terminal and without NO_COLOR (auto, the default), always or never",
    )


def add_compiler_options(parser: argparse.ArgumentParser) -> None:
    """What a workflow means besides its file."""
    parser.add_argument("--param", metavar="NAME=VALUE", action=Pairs, default={}, help="set a param")
    parser.add_argument(
        "--params", metavar="FILE", action="append", default=[], help="set the params of a .wqp file"
    )
    parser.add_argument("--image", default="", help="the runtime image, where the workflow names none")
    parser.add_argument(
        "--kubernetes-version",
        metavar="VERSION",
        type=_version,
        default=VERSIONS[-1],
        help=f"the cluster's version: {', '.join(VERSIONS)} (default: {VERSIONS[-1]})",
    )


def _version(text: str) -> str:
    if text not in VERSIONS:
        known = f"{', '.join(VERSIONS[:-1])} and {VERSIONS[-1]}"
        raise argparse.ArgumentTypeError(f"wqc knows Kubernetes {known}, not {text!r}")
    return text


def _kind(word: str) -> str:
    return "option" if word.startswith("-") else "argument"


def _nearest(word: str, known: Sequence[str]) -> str:
    near = nearest(word.partition("=")[0], known)
    return f"; did you mean {near}?" if near else ""
