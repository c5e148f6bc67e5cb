"""A linked tool, asked by a model for a user: in a catalog of theirs, or in what all may read."""

import time
from dataclasses import dataclass, replace

from stackroom.agent import LinkedTool
from stackroom.agents.available import AvailableKnowledgeBases
from stackroom.agents.tool_answers import GONE, Asked, Response, asked_of, failure, success
from stackroom.deadlines import Deadline
from stackroom.errors import KnowledgeBaseNotFound, StackroomError
from stackroom.gateway.access import SUCCESS, AccessLog, access_of, document_of
from stackroom.gateway.encoding import encodable
from stackroom.identity import Caller, ToolCall
from stackroom.retrieval.linked import LinkedRetrieval
from stackroom.retrieval.results import Answer
from stackroom.retrieval.search import Retrieval

TOOL = "linked_knowledge_base"  # in the audit line: the tool's own name is its user's text


@dataclass(frozen=True, kw_only=True)
class Asking:
    """`shared` searches the knowledge bases of the deployment, those that `available` shares."""

    available: AvailableKnowledgeBases
    retrieval: Retrieval
    shared: LinkedRetrieval
    log: AccessLog

    def answer(
        self, tool: LinkedTool, given: object, caller: Caller, *, deadline: Deadline
    ) -> Response:
        """
        Never raises for what a model can get wrong, nor for a knowledge base that is gone or
        doesn't answer: `{"success": False, ...}` tells it.
        """
        started = time.perf_counter()
        outcome, shown = SUCCESS, list[object]()
        try:
            asked = asked_of(tool, given)
            answer = self._searched(tool, asked, caller, deadline)
            response = success(tool, asked, answer)
            shown = [
                document_of(vars(source))
                for each in answer.results
                for source in (each.source, *each.other_sources)
            ]
        except KnowledgeBaseNotFound as error:
            outcome, response = type(error).__name__, failure(GONE)
        except StackroomError as error:
            outcome, response = type(error).__name__, failure(str(error))
        self.log(
            access_of(
                ToolCall(TOOL, caller),
                tools=(TOOL,),
                outcome=outcome,
                seconds=time.perf_counter() - started,
                named_in=({"catalog_id": tool.config.knowledge_base_id},),
                shown=shown,
            )
        )
        encoded: Response = encodable(response)
        return encoded

    def _searched(
        self, tool: LinkedTool, asked: Asked, caller: Caller, deadline: Deadline
    ) -> Answer:
        """Raises KnowledgeBaseNotFound for one that is gone, going, or somebody else's."""
        key = tool.config.knowledge_base_id
        if self.available.find(caller.user_id, key) is None:
            raise KnowledgeBaseNotFound("Knowledge base")
        if any(each.knowledge_base_id == key for each in self.shared.linked):
            arguments = asked.arguments.model_copy(update={"knowledge_base_id": key})
            return self._of_shared(key, asked).search(arguments, caller, deadline=deadline)
        arguments = asked.arguments.model_copy(update={"catalog_id": key})
        return self.retrieval.search(arguments, caller, deadline=deadline)

    def _of_shared(self, key: str, asked: Asked) -> LinkedRetrieval:
        """That one, asked for as many as the tool says; what is never shown stays so."""
        [found] = [each for each in self.shared.linked if each.knowledge_base_id == key]
        said = asked.arguments.min_score or 0.0
        least = said if found.min_score is None else max(said, found.min_score)
        narrowed = replace(found, limit=asked.arguments.top_k, min_score=least or None)
        return replace(self.shared, linked=(narrowed,))
