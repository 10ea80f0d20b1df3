"""`$(NAME)` in commands, arguments and environment values, as Kubernetes replaces it.

https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
"""

import re
from collections.abc import Mapping

_PIECE = re.compile(r"\$\$|\$\(([^)]*)\)")


def expand(text: str, environment: Mapping[str, str]) -> str:
    """An unknown name is left as it stands; `$$` is a `$`."""

    def replaced(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$"
        return environment.get(match[1], match[0])

    return _PIECE.sub(replaced, text)
