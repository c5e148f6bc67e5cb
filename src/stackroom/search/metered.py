"""A search that counts the questions of its callers once they are answered."""

from dataclasses import dataclass

from stackroom.access.identity import Caller
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.model.questions import QuestionMeter
from stackroom.model.usage import Used
from stackroom.search.excerpts import estimated_tokens
from stackroom.search.results import SearchAnswer
from stackroom.search.search import Retrieval
from stackroom.search.search_arguments import RetrieveArguments, SearchArguments


def used_by(query: str, found: SearchAnswer) -> Used:
    """
    Return the usage of a question: embedded once, or by each store that embeds it itself.

    A cache hit counts only if the caller is told of it: whether others asked the same stays
    private.
    """
    if found.is_embedding_cached is None:
        times = len(found.knowledge_bases)
    else:
        times = int(not found.is_embedding_cached)
    return Used(questions=1, question_tokens=times * estimated_tokens(query))


@dataclass(frozen=True, kw_only=True)
class MeteredRetrieval:
    """A `Searchable` that counts questions."""

    retrieval: Retrieval
    meter: QuestionMeter

    def search(
        self, request: SearchArguments, caller: Caller | None, *, deadline: Deadline = NO_DEADLINE
    ) -> SearchAnswer:
        """Raises what `Retrieval.search` raises, and LimitExceeded."""
        if caller is not None:
            self.meter.require_room(caller.user_id)
        found = self.retrieval.search(request, caller, deadline=deadline)
        assert caller is not None, "a search of the pool is for somebody"
        catalog_id = request.catalog_id if isinstance(request, RetrieveArguments) else None
        self.meter.count(caller.user_id, used_by(request.query, found), catalog_id=catalog_id)
        return found
