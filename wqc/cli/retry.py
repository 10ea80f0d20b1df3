"""`wqc retry`"""

from argparse import ArgumentParser, Namespace

from wqc.cli import asking
from wqc.cli.ending import Status

DESCRIPTION = """\
Try items again that failed for good, with as many attempts as at first."""
EXAMPLE = """wqc retry thumbs -n media              # all that failed
  wqc retry thumbs a.mp4 b.mp4 -n media  # these two"""


def add_arguments(parser: ArgumentParser) -> None:
    asking.add_arguments(parser, items=True)


def run(arguments: Namespace) -> Status:
    return asking.ask(arguments, "retry")
