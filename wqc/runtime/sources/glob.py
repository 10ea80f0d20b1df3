"""Glob patterns over paths: `*` within a folder, `**` for any folders, `?`, `[a-z]`."""

import re


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Matches a whole path whose parts are joined by `/`."""
    parts: list[str] = []
    position = 0
    while position < len(glob):
        character = glob[position]
        position += 1
        if character == "*":
            if glob.startswith("*", position):
                position += 1
                if glob.startswith("/", position):
                    position += 1
                    parts.append("(?:[^/]+/)*")
                else:
                    parts.append(".*")
            else:
                parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "[" and (end := glob.find("]", position + 1)) > 0:
            inside = glob[position:end].replace("\\", r"\\")
            position = end + 1
            negated = inside[:1] in ("!", "^")
            parts.append(f"(?!/)[{'^' if negated else ''}{inside[1:] if negated else inside}]")
        else:
            parts.append(re.escape(character))
    return re.compile("".join(parts), re.DOTALL)
