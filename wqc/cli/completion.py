"""`wqc completion`"""

import sys
from argparse import Action, ArgumentParser, Namespace, _SubParsersAction

import shtab

from wqc.cli.arguments import command_line
from wqc.cli.ending import Status

DESCRIPTION = "Print a script that completes wqc's commands and options in your shell."
EXAMPLE = """wqc completion bash > ~/.local/share/bash-completion/completions/wqc
  wqc completion zsh > ~/.zfunc/_wqc    # with fpath+=~/.zfunc before compinit"""

_PATHS = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def run(arguments: Namespace) -> Status:
    tree = command_line()
    _complete_paths(tree)
    sys.stdout.write(shtab.complete(tree, arguments.shell))
    return Status.CLEAN


def _complete_paths(parser: ArgumentParser) -> None:
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                _complete_paths(command)
        elif action.metavar in _PATHS:
            _set(action, _PATHS[action.metavar])


def _set(action: Action, complete: object) -> None:
    action.complete = complete  # type: ignore[attr-defined]  # shtab's own extension
