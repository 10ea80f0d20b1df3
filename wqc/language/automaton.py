"""The LALR automaton that Lark's tables describe."""

from collections.abc import Callable
from typing import Any

from wqc.language.lexer import Token
from wqc.language.tables import PRODUCTIONS, STARTS, STATES

Build = Callable[..., Any]
"""Takes the start and end offsets of what was read, then the value of each symbol: its token for a word."""


def _settled(row: dict[str, int]) -> int | None:
    """The production that is complete whatever follows, if there is one."""
    reductions = {action for action in row.values() if action < 0}
    if len(reductions) != 1:
        return None
    production = ~reductions.pop()
    shifts = {symbol for symbol, action in row.items() if action >= 0}
    return production if shifts <= {PRODUCTIONS[production][0]} else None


_SETTLED = tuple(_settled(row) for row in STATES)


def _direct(row: dict[str, int]) -> dict[str, int]:
    """The row without the states in which what was read just gets another name, whatever follows."""
    ways: dict[str, int] = {}
    for symbol, state in row.items():
        while state >= 0 and (production := _SETTLED[state]) is not None:
            name, size, build = PRODUCTIONS[production]
            if size != 1 or build:
                break
            state = row[name]
        ways[symbol] = state
    return ways


_WAYS = tuple(_direct(row) for row in STATES)


class Automaton:
    """One reading of one list of tokens, the last of which is `$END`.

    `rule` is what the whole should be. `at` is the index of the next token. `values` are what has been read
    and waits for more, `starts` the offsets where each begins; `floors` says for the file and for each `{`
    how many of the values lie below its current entry.
    """

    def __init__(self, tokens: list[Token], rule: str, builder: object) -> None:
        first, self._last = STARTS[rule]
        self._productions: list[tuple[str, int, Build | None]] = [
            (symbol, size, getattr(builder, name) if name else None) for symbol, size, name in PRODUCTIONS
        ]
        self.rule = rule
        self.tokens = tokens
        self.at = 0
        self.values: list[Any] = []
        self.starts: list[int] = []
        self.floors = [0 if rule == "single" else 1]
        self._states = [first]
        self._end = 0

    def run(self, recover: Callable[["Automaton"], None]) -> Any:
        """What the tokens build.

        `recover` is called where the next token fits nothing. It has to move `at` on, or to mend what has
        been read so that the token fits.
        """
        tokens, states, values, starts = self.tokens, self._states, self.values, self.starts
        productions = self._productions
        at, end, state = self.at, self._end, states[-1]
        while state != self._last:
            production = _SETTLED[state]
            if production is None:
                token = tokens[at]
                kind = token[0]
                action = STATES[state].get(kind)
                if action is None:
                    self.at, self._end = at, end
                    recover(self)
                    at, end, state = self.at, self._end, states[-1]
                    continue
                if action >= 0:
                    state = action
                    states.append(state)
                    values.append(token)
                    starts.append(token[1])
                    end = token[2]
                    at += 1
                    if kind == "LBRACE":
                        self.floors.append(len(values) + 1)
                    elif kind == "RBRACE":
                        self.floors.pop()
                    continue
                production = ~action
            symbol, size, build = productions[production]
            if size == 1:
                states.pop()
                if build is not None:
                    values[-1] = build(starts[-1], end, values[-1])
            else:
                assert build is not None
                first = len(values) - size
                start = starts[first] if size else end
                values[first:] = (build(start, end, *values[first:]),)
                starts[first:] = (start,)
                del states[first + 1 :]
            state = _WAYS[states[-1]][symbol]
            states.append(state)
        self.at = at
        return values[-1]

    def expects(self, symbol: str) -> bool:
        """Whether the symbol may come next."""
        return symbol in STATES[self._states[-1]]

    def forget(self, depth: int) -> None:
        """Drop all values but the first `depth`."""
        del self.values[depth:], self.starts[depth:], self._states[depth + 1 :]

    def put(self, symbol: str, value: object, start: int, end: int) -> None:
        """Take `value` for a `symbol` that has been read from `start` to `end`."""
        self._states.append(STATES[self._states[-1]][symbol])
        self.values.append(value)
        self.starts.append(start)
        self._end = end
