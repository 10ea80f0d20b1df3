"""`wqc schema`"""

import json
from argparse import ArgumentParser, Namespace

from wqc.cli.ending import Status
from wqc.language.export import schema

DESCRIPTION = "Print the table of the language as JSON: every block, kind, attribute, type and default."
EXAMPLE = "wqc schema | jq -r '.blocks[].name'"


def add_arguments(parser: ArgumentParser) -> None:
    """There are none."""


def run(arguments: Namespace) -> Status:
    print(json.dumps(schema(), indent=2, ensure_ascii=False))
    return Status.CLEAN
