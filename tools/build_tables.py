"""Write wqc/language/tables.py from grammar/wq.lark: what Lark works out, as plain data.

Why: docs/decisions/parser.md.

`--check` writes nothing and fails where the grammar is ambiguous or the file isn't what it gives.
"""

import argparse
import sys
from pathlib import Path

from lark import Lark
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_parser import LALR_Parser

ROOT = Path(__file__).resolve().parent.parent
STARTS = ("document", "params", "single")
TABLES = ROOT / "wqc" / "language" / "tables.py"


def grammar(strict: bool = False) -> Lark:
    """The grammar as Lark reads it."""
    return Lark.open(
        str(ROOT / "grammar" / "wq.lark"), parser="lalr", lexer="basic", start=list(STARTS), strict=strict
    )


def tables() -> str:
    """The text of the module."""
    lark = grammar()
    parser = lark.parser.parser
    assert isinstance(parser, LALR_Parser)
    table = parser._parse_table
    # Lark's numbers depend on the hash seed: ours follow from the grammar alone
    numbers: dict[int, int] = {}
    waiting = [table.start_states[start] for start in STARTS]
    while waiting:
        state = waiting.pop(0)
        if state not in numbers:
            numbers[state] = len(numbers)
            actions = sorted(table.states[state].items())
            waiting += [argument for _, (action, argument) in actions if action is Shift]
    productions: dict[object, int] = {}
    rows = []
    for state in numbers:
        cells = []
        for symbol, (action, argument) in sorted(table.states[state].items()):
            if action is Shift:
                cells.append(f'"{symbol}": {numbers[argument]}')
            else:
                cells.append(f'"{symbol}": {~productions.setdefault(argument, len(productions))}')
        rows.append(f"    {{{', '.join(cells)}}},")
    rules = []
    for rule in productions:
        passed_on = rule.options.expand1 and not rule.alias and len(rule.expansion) == 1
        build = "" if passed_on else rule.alias or rule.origin.name
        rules.append(f'    ("{rule.origin.name}", {len(rule.expansion)}, "{build}"),')
    starts = ", ".join(
        f'"{start}": ({numbers[table.start_states[start]]}, {numbers[table.end_states[start]]})'
        for start in STARTS
    )
    ignored = ", ".join(f'"{name}"' for name in sorted(lark.ignore_tokens))
    words = [
        f"    {f'(?P<{word.name}>{word.pattern.to_regexp()})'!r},"
        for word in lark.parser.lexer.terminals
        if not word.name.startswith("__")
    ]
    return "\n".join(
        [
            '"""Made from grammar/wq.lark by tools/build_tables.py: not to be edited."""',
            "# fmt: off",
            "# ruff: noqa: E501",
            "",
            "WORDS = (",
            *words,
            ")",
            '"""The words in the order in which they are tried."""',
            "",
            f"IGNORED = ({ignored})",
            "",
            "PRODUCTIONS = (",
            *rules,
            ")",
            '"""What each makes, of how many symbols, and what builds it (nothing: the one value passes)."""',
            "",
            "STATES: tuple[dict[str, int], ...] = (",
            *rows,
            ")",
            '"""By symbol: the state to go to, or, inverted (`~`), the production that is complete."""',
            "",
            f"STARTS = {{{starts}}}",
            '"""The first and the last state of each start symbol."""',
            "",
        ]
    )


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    if arguments.parse_args().check:
        grammar(strict=True)
        if TABLES.read_text(encoding="utf-8") != tables():
            print("wqc/language/tables.py is not what grammar/wq.lark gives: make tables", file=sys.stderr)
            return 1
    else:
        TABLES.write_text(tables(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
