"""A knowledge base of which only a part is searched, whoever asks."""

from dataclasses import dataclass

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.filters import AllOf, Filter
from stackroom.ports.retrieval import KnowledgeBase, Retrieved


@dataclass(frozen=True)
class Narrowed:
    """A `KnowledgeBase` in front of another, which is never asked without `always`."""

    knowledge_base: KnowledgeBase
    always: Filter

    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002 - the port's name
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        demanded = (*_demands(self.always), *_demands(filter))
        whole = demanded[0] if len(demanded) == 1 else AllOf(demanded)
        return self.knowledge_base.retrieve(query, whole, limit, deadline=deadline)


def _demands(condition: Filter | None) -> tuple[Filter, ...]:
    """In as few levels as possible: what is demanded together needs no group in a group."""
    if condition is None:
        return ()
    return condition.conditions if isinstance(condition, AllOf) else (condition,)
