"""`wqc resume`"""

from argparse import ArgumentParser, Namespace

from wqc.cli import asking
from wqc.cli.ending import Status

DESCRIPTION = "Let a queue that was paused start items again."
EXAMPLE = """wqc resume thumbs -n media
  wqc resume thumbs --state .wqc    # of a wqc run on this machine"""


def add_arguments(parser: ArgumentParser) -> None:
    asking.add_arguments(parser, items=False)


def run(arguments: Namespace) -> Status:
    return asking.switch(arguments, paused=False)
