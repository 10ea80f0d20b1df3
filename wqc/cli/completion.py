"""`wqc completion`"""

import sys
from argparse import Action, ArgumentParser, Namespace, _SubParsersAction

import shtab

from wqc.cli.arguments import command_line
from wqc.cli.ending import Status

DESCRIPTION = "Print a script that completes wqc's commands and options in your shell."
EXAMPLE = """wqc completion bash > ~/.local/share/bash-completion/completions/wqc
  wqc completion zsh > ~/.zfunc/_wqc    # with fpath+=~/.zfunc before compinit
  wqc completion fish > ~/.config/fish/completions/wqc.fish"""

_PATHS = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "fish", "tcsh", "zsh"))


def run(arguments: Namespace) -> Status:
    tree = command_line()
    _prepare(tree)
    sys.stdout.write(shtab.complete(tree, arguments.shell))
    return Status.CLEAN


def _prepare(parser: ArgumentParser) -> None:
    """Some arguments are files; beside a command there is room for one sentence about it."""
    parser.description = " ".join((parser.description or "").split()).partition(". ")[0]
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                _prepare(command)
        elif action.metavar in _PATHS:
            _set(action, _PATHS[action.metavar])


def _set(action: Action, complete: object) -> None:
    action.complete = complete  # type: ignore[attr-defined]  # shtab's own extension
