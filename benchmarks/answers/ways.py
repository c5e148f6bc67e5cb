"""Two ways to ask one catalog: Bedrock's plain Retrieve, and the retrieval tool."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from benchmarks.answers.local import USER
from benchmarks.serving import NotMeasured
from stackroom.access.identity import Caller
from stackroom.app.search_builder import SearchBuilder
from stackroom.aws import session
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.model.filters import Filter
from stackroom.model.passages import KnowledgeBase, Retrieved
from stackroom.search.results import knowledge_base_retrieve
from stackroom.search.search import Retrieval
from stackroom_client.calls import SEARCH
from stackroom_evaluation.evaluation import passages_of
from stackroom_evaluation.judging import Shown
from stackroom_evaluation.plain_retrieve import PlainRetrieve
from stackroom_local.gateway.gateway_configuration import GatewayConfiguration
from stackroom_local.state import Instance

MOST = 10  # requested passages


@dataclass(frozen=True, kw_only=True)
class Given:
    """The answer to one question, best passage first; plain Retrieve has no relevance."""

    shown: Sequence[Shown]
    relevance: str | None = None


Way = Callable[[str], Given]


@contextmanager
def as_function(instance: Instance) -> Iterator[None]:
    """Provide the environment of the retrieve function, with the instance's key for its role."""
    written = (instance.state_dir / "gateway.json").read_bytes()
    targets = GatewayConfiguration.model_validate_json(written).targets
    [function] = [each.function for each in targets if SEARCH.startswith(f"{each.name}___")]
    deployed = instance.client("lambda").get_function_configuration(FunctionName=function)
    variables = deployed["Environment"]["Variables"]
    with patch.dict(os.environ, {**instance.environment(), **variables}):
        yield


def plain_of(catalog_id: str, knowledge_base_id: str) -> Way:
    retrieve = PlainRetrieve(
        client=session.client("bedrock-agent-runtime"),
        knowledge_base_id=knowledge_base_id,
        user_id=USER,
        catalog_id=catalog_id,
    )
    return lambda question: Given(shown=retrieve(question, MOST))


def retrieval_of() -> Retrieval:
    """Return the retrieval as it is deployed. Call it inside `as_function`."""
    # Imported here, because its logger takes the environment as it is then.
    from stackroom.app.function_settings import RetrieveSettings  # noqa: PLC0415 - see above

    return SearchBuilder(settings=RetrieveSettings.from_env()).retrieval


def tool_of(retrieval: Retrieval, catalog_id: str) -> Way:
    """Ask `knowledge_base_retrieve` with its defaults, except the number of passages."""

    def ask(question: str) -> Given:
        arguments = {"query": question, "catalog_id": catalog_id, "top_k": MOST}
        answer: dict[str, Any] = knowledge_base_retrieve(
            arguments, caller=Caller(USER), retrieval=retrieval
        )
        if not answer["success"]:
            raise NotMeasured(f"{question!r}: {answer['error']}")
        metadata = answer["metadata"]
        if "search_notices" in metadata:  # another way was used, whose figures must not be mixed in
            raise NotMeasured(f"searched in another way: {metadata['search_notices']}")
        return Given(shown=tuple(passages_of(answer)), relevance=metadata.get("relevance"))

    return ask


def without(retrieval: Retrieval, files: frozenset[str]) -> Retrieval:
    """Return the same retrieval over stores without these files."""
    pool = {key: _Without(each, files) for key, each in retrieval.pool.items()}
    return replace(retrieval, pool=pool)


@dataclass(frozen=True, eq=False)
class _Without:
    knowledge_base: KnowledgeBase
    files: frozenset[str]

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        found = self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
        left = (
            each for each in found.passages if each.attributes.get("filename") not in self.files
        )
        return replace(found, passages=tuple(left))
