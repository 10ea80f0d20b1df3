"""What mkdocs does with a page before it is HTML."""

import re


def on_page_markdown(markdown: str, **_: object) -> str:
    """Without the words after a block's language (`wq fragment`): with them mkdocs sees no block."""
    return re.sub(r"^(```\w+) [\w ]+$", r"\1", markdown, flags=re.MULTILINE)
