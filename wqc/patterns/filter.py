"""The filter: the items for which a condition holds."""

from dataclasses import dataclass

from wqc.contract.expression import EvaluationFailed, Expression
from wqc.patterns.condition import holds
from wqc.patterns.item import Failed, Item, Sent, Step


@dataclass(frozen=True, slots=True)
class Filter:
    where: Expression
    reads_data = True

    def route(self, item: Item) -> Step:
        try:
            return (Sent("", item),) if holds(self.where, item) else ()
        except EvaluationFailed as error:
            return Failed(f"where: {error}")
