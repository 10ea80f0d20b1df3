"""The LALR automaton that Lark's tables describe."""

from collections.abc import Callable, Sequence
from typing import Any

from wqc.language.lexer import Token
from wqc.language.tables import PRODUCTIONS, STARTS, STATES

Build = Callable[..., Any]
"""Takes the start and end offsets of what was read, then the value of each symbol: its token for a word."""


def _settled(row: dict[str, int]) -> int | None:
    """The production that is complete whatever follows, if there is one."""
    actions = set(row.values())
    reductions = [action for action in actions if action < 0]
    symbols_made = {PRODUCTIONS[~action][0] for action in reductions}
    shifts = {symbol for symbol, action in row.items() if action >= 0}
    return ~reductions[0] if len(reductions) == 1 and shifts <= symbols_made else None


_SETTLED = tuple(_settled(row) for row in STATES)


def run(tokens: Sequence[Token], start: str, builder: object) -> Any:
    """What the tokens, the last being `$END`, build."""
    builds: list[Build | None] = [getattr(builder, name) if name else None for _, _, name in PRODUCTIONS]
    first, last = STARTS[start]
    states = [first]
    values: list[Any] = []
    starts: list[int] = []
    at = end = 0
    while True:
        state = states[-1]
        production = _SETTLED[state]
        if production is None:
            token = tokens[at]
            action = STATES[state].get(token[0])
            if action is None:
                raise SyntaxError(f"{token} {list(STATES[state])}")
            if action >= 0:
                states.append(action)
                values.append(token)
                starts.append(token[1])
                end = token[2]
                at += 1
                continue
            production = ~action
        symbol, size, _ = PRODUCTIONS[production]
        build = builds[production]
        if size == 0:
            starts.append(end)
            assert build is not None
            values.append(build(end, end))
        elif build is not None:
            begin = starts[-size]
            value = build(begin, end, *values[-size:])
            del states[-size:], values[-size:], starts[-size:]
            values.append(value)
            starts.append(begin)
        else:
            del states[-1:]
        states.append(STATES[states[-1]][symbol])
        if states[-1] == last:
            return values[-1]
