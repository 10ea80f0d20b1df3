"""Which line ends count: those that end a statement or an entry, as a comma between braces does."""

from wqc.language.lexer import Token

_OPENERS = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}
_CLOSERS = {"RBRACE", "RPAR", "RSQB"}
_BINARY = {"OPERATOR", "MINUS", "IN", "QMARK", "COLON", "RANGE", "DOT"}


def laid_out(words: list[Token], end: int) -> list[Token]:
    """`words` with an `_END` after each statement and entry and no `NEWLINE`, up to `$END`."""
    tokens: list[Token] = []
    open_brackets: list[str] = []
    previous = "_END"
    for at, token in enumerate(words):
        kind = token[0]
        if kind == "NEWLINE":
            if previous == "_END" or previous in _BINARY or previous == "LBRACE":
                continue
            if open_brackets and open_brackets[-1] != "LBRACE":
                continue
            if at + 1 < len(words) and words[at + 1][0] in _BINARY:
                continue
            token = ("_END", token[1], token[1])
        elif kind == "COMMA":
            if open_brackets and open_brackets[-1] == "LBRACE":
                token = ("_END", token[1], token[2])
        elif kind in _OPENERS:
            open_brackets.append(kind)
        elif kind in _CLOSERS:
            if kind == "RBRACE" and previous not in ("_END", "LBRACE"):
                tokens.append(("_END", token[1], token[1]))
            if open_brackets:
                open_brackets.pop()
        tokens.append(token)
        previous = token[0]
    if previous != "_END":
        tokens.append(("_END", end, end))
    tokens.append(("$END", end, end))
    return tokens
