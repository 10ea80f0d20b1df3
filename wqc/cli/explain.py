"""`wqc explain`"""

import sys
from argparse import ArgumentParser, Namespace

import wqc.diagnostics.mistakes  # noqa: F401  (fills the registry)
from wqc.cli.ending import Status, Trouble
from wqc.diagnostics.mistake import MISTAKES
from wqc.diagnostics.page import page
from wqc.diagnostics.suggestion import did_you_mean

DESCRIPTION = "Say what a finding means, with a bad and a good example."
EXAMPLE = "wqc explain WQ201"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("codes", metavar="CODE", nargs="*", help="the finding's code, such as WQ201")
    parser.add_argument("--all", action="store_true", help="explain all of them")


def run(arguments: Namespace) -> Status:
    codes = sorted(MISTAKES) if arguments.all else [code.upper() for code in arguments.codes]
    if not codes:
        raise Trouble("explain needs the code of a finding, such as WQ201, or --all")
    for code in codes:
        if code not in MISTAKES:
            raise Trouble(f"there is no finding {code}: {did_you_mean(code, sorted(MISTAKES))}")
    sys.stdout.write("\n".join(page(MISTAKES[code]) for code in codes))
    return Status.CLEAN
