"""Whether an expression holds for an item."""

from wqc.contract.expression import EvaluationFailed, Expression
from wqc.patterns.item import Item


def holds(condition: Expression, item: Item) -> bool:
    """Raises EvaluationFailed also for a value that is neither true nor false."""
    value = condition.evaluate(item.name, item.version, item.data)
    if not isinstance(value, bool):
        raise EvaluationFailed(f"`{condition.text}` gives neither true nor false, but {type(value).__name__}")
    return value
