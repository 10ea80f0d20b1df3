"""The splitter: one stream per case, and one for the items that no case takes."""

from dataclasses import dataclass

from wqc.contract.expression import EvaluationFailed, Expression
from wqc.patterns.condition import holds
from wqc.patterns.item import Failed, Item, Sent, Step

OTHERWISE = "otherwise"


@dataclass(frozen=True, slots=True)
class Splitter:
    """An item goes to every case that holds; if one can't be evaluated, to none of them."""

    cases: tuple[tuple[str, Expression], ...]
    drop: bool
    """Whether the items for which no case holds are forgotten."""
    reads_data = True

    def route(self, item: Item) -> Step:
        sent: list[Sent] = []
        for case, condition in self.cases:
            try:
                if holds(condition, item):
                    sent.append(Sent(case, item))
            except EvaluationFailed as error:
                return Failed(f"{case}: {error}")
        if not sent and not self.drop:
            sent.append(Sent(OTHERWISE, item))
        return tuple(sent)
