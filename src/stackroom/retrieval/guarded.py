"""A knowledge base whose questions pass a guardrail first, for stores that know of none."""

from collections.abc import Callable
from dataclasses import dataclass

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.filters import Filter
from stackroom.ports.retrieval import KnowledgeBase, Retrieved


@dataclass(frozen=True)
class Guarded:
    """
    A `KnowledgeBase` in front of another. `lets_through` is what the guardrail says to a question;
    passages are not shown to it, as Bedrock's Retrieve doesn't show them.

    Where it can't be asked nothing is searched: what it raises is raised.
    """

    knowledge_base: KnowledgeBase
    lets_through: Callable[[str], bool]

    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002 - the port's name
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        deadline.check("ApplyGuardrail")
        if not self.lets_through(query):
            return Retrieved(passages=(), guardrail_action="INTERVENED")
        return self.knowledge_base.retrieve(query, filter, limit, deadline=deadline)
