"""`wqc pause`"""

from argparse import ArgumentParser, Namespace

from wqc.cli import asking
from wqc.cli.ending import Status

DESCRIPTION = "Let a queue start no more items. What runs goes on to its end; nothing is lost."
EXAMPLE = """wqc pause thumbs -n media
  wqc pause thumbs --state .wqc    # of a wqc run on this machine"""


def add_arguments(parser: ArgumentParser) -> None:
    asking.add_arguments(parser, items=False)


def run(arguments: Namespace) -> Status:
    return asking.switch(arguments, paused=True)
