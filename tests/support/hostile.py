"""Names and data of items that would break out of their place, if anything let them."""

from typing import Any

from hypothesis import strategies as st

SNIPPETS = (
    "\0",
    "\n",
    "\r\n",
    "'",
    '"',
    "`",
    "..",
    "../../../etc/passwd",
    "/",
    "a b",
    " ",
    "☃",
    "👩‍🚀",
    "\u202e",
    "\ud800",
    "$(touch canary)",
    "`touch canary`",
    "; touch canary;",
    "' ; touch canary ; '",
    '"; touch canary; "',
    "${HOME}",
    "$(HOME)",
    "$$",
    "-rf",
    "--help",
    "*",
    "~",
    "a: b",
    "- a",
    "&anchor",
    "!!python/object/apply:os.system ['touch canary']",
    "---",
    "# no comment",
    "|",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "{# #}",
    "%2e%2e%2f",
    "?a=b&c=d",
    "null",
    "0777",
    "wqc/item",
    "x" * 300,
)

TEXTS = st.lists(st.sampled_from(SNIPPETS) | st.text(st.characters(), max_size=5), max_size=4).map("".join)
"""Lone surrogates are in it, which JSON can say and UTF-8 can't."""
NAMES = TEXTS.filter(bool)
SCALARS = TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
DATA = SCALARS | st.dictionaries(TEXTS, SCALARS | st.lists(SCALARS, max_size=2), max_size=4)


def items(least: int, most: int) -> st.SearchStrategy[dict[str, Any]]:
    """Data by name."""
    return st.dictionaries(NAMES, DATA, min_size=least, max_size=most)
