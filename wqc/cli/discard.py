"""`wqc discard`"""

from argparse import ArgumentParser, Namespace

from wqc.cli import asking
from wqc.cli.ending import Status

DESCRIPTION = """\
Give up items that failed for good: they count as done, and nothing of them goes on."""
EXAMPLE = """wqc discard thumbs -n media              # all that failed
  wqc discard thumbs a.mp4 b.mp4 -n media  # these two"""


def add_arguments(parser: ArgumentParser) -> None:
    asking.add_arguments(parser, items=True)


def run(arguments: Namespace) -> Status:
    return asking.ask(arguments, "discard")
