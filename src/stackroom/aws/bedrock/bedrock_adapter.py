"""A searchable Bedrock knowledge base."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.aws.bedrock.configured_filters import PARTS_OF_TEXTS, both
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.bedrock.retrieve_options import RetrieveOptions
from stackroom.aws.bedrock.retrieved_passages import OF_MANAGED, OF_VECTOR, passage_of
from stackroom.aws.error_mapping import search_error, understood
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Exists,
    Filter,
    Has,
    Lists,
    leaves,
)
from stackroom.model.passages import Passage, Retrieved, Search

if TYPE_CHECKING:
    from types_boto3_bedrock_agent_runtime.client import AgentsforBedrockRuntimeClient
    from types_boto3_bedrock_agent_runtime.type_defs import (
        KnowledgeBaseRetrievalResultTypeDef,
        RetrievalFilterTypeDef,
        RetrieveResponseTypeDef,
    )

_MOST_PAGES = 10  # of one search, each of which counts against Retrieve's 20 a second


class BedrockKnowledgeBase:
    """
    A `KnowledgeBase` over Bedrock's `Retrieve`, with its `options`.

    `first_page` is the number that Bedrock gives a document's first page: AWS doesn't say, and
    users have read both 0 and 1 out of it [assumed: page.first]. Without a `guardrail` nothing is
    held back.

    A reranked passage's score is taken for the model's relevance: AWS says of a score only that it
    is "the level of relevance", and that a reranking model orders by the scores that it calculates
    (unconfirmed). https://docs.aws.amazon.com/bedrock/latest/userguide/rerank.html
    """

    def __init__(
        self,
        client: "AgentsforBedrockRuntimeClient",
        knowledge_base_id: str,
        *,
        first_page: int = 1,
        guardrail: Guardrail | None = None,
        options: RetrieveOptions | None = None,
    ) -> None:
        self._client = client
        self._id = knowledge_base_id
        self._first_page = first_page
        self._guardrail = guardrail
        # No search type by default: S3 Vectors knows only semantic search.
        self._options = options or RetrieveOptions()

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        passages: list[Passage] = []
        intervened, notice, seen = False, None, set[str]()
        request = self._asked(query, condition, limit)
        while True:
            deadline.check("Retrieve")
            with understood("Retrieve"):
                page = self._page(request)
                passages += [self._passage(each) for each in page["retrievalResults"]]
            intervened = intervened or page.get("guardrailAction") == "INTERVENED"
            token = page.get("nextToken")
            if not token or len(passages) >= limit:
                break
            notice = _why_stopped(page, token, seen)
            if notice:
                break
            seen.add(token)
            request = {**request, "nextToken": token}
        return Retrieved(
            passages=tuple(passages[:limit]),
            guardrail_action="INTERVENED" if intervened else "NONE",
            search=Search.HYBRID if self._options.is_hybrid else Search.SEMANTIC,
            is_reranked=self._options.is_reranked,
            notice=notice,
        )

    def _asked(self, query: str, condition: Filter | None, limit: int) -> dict[str, Any]:
        if condition is not None and self._options.is_managed:
            _refuse_parts_of_texts(condition)
        try:
            whole = both(self._options.fixed_filter, condition)
        except ValueError as error:
            # The configuration is checked when it is read; here nothing is searched without it.
            raise KnowledgeBaseUnavailable("Retrieve", f"nothing: {error}") from error
        request: dict[str, Any] = {
            "knowledgeBaseId": self._id,
            "retrievalQuery": {"text": query},
            "retrievalConfiguration": self._options.configuration(
                limit, None if whole is None else rendered(whole)
            ),
        }
        if self._guardrail is not None:
            request["guardrailConfiguration"] = self._guardrail.configuration
        return request

    def _page(self, request: dict[str, Any]) -> "RetrieveResponseTypeDef":
        try:
            return self._client.retrieve(**request)
        except (ClientError, BotoCoreError) as error:
            raise search_error(error, "Retrieve") from error

    def _passage(self, found: "KnowledgeBaseRetrievalResultTypeDef") -> Passage:
        own = OF_MANAGED if self._options.is_managed else OF_VECTOR
        passage = passage_of(found, first_page=self._first_page, own=own)
        if self._options.reports_similarity:
            return passage
        reranked = self._options.is_reranked
        relevance = min(1.0, max(0.0, passage.score)) if reranked else None
        return replace(passage, similarity=None, relevance=relevance)


def _why_stopped(page: "RetrieveResponseTypeDef", token: str, seen: set[str]) -> str | None:
    """
    Return why to stop at a page that promises more, or None to go on. AWS documents no limit of
    pages.
    """
    if not page["retrievalResults"]:
        return "stopped at an empty page"
    if token in seen:
        return "stopped at a page that named itself as the next"
    if len(seen) + 1 >= _MOST_PAGES:
        return f"stopped after {_MOST_PAGES} pages"
    return None


def rendered(condition: Filter) -> "RetrievalFilterTypeDef":
    """
    Return the condition as Bedrock's filter, with as few operators as an S3 Vectors index takes.

    `equals` serves attributes that are lists too: S3 Vectors matches it against any element, and
    "equals or listContains" for five values would be ten filters in a group of at most five. `in`
    isn't used, because users have seen it rejected.
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-metadata-filtering.html
    """
    match condition:
        case Has(key, value):
            return {"equals": {"key": key, "value": cast("Any", value)}}
        case Lists(key, value):
            return {"listContains": {"key": key, "value": cast("Any", value)}}
        case Exists(key):
            # RetrievalFilter has no operator for it [API model of bedrock-agent-runtime].
            raise SearchRefused(f"Retrieve can't filter by whether there is {key!r}")
        case Compares(key, comparison, value):
            demanded = list(value) if isinstance(value, tuple) else value
            operand: Any = {"key": key, "value": demanded}
            return cast("RetrievalFilterTypeDef", {comparison.value: operand})
        case AnyOf(choices):
            return {"orAll": [rendered(choice) for choice in choices]}
        case AllOf(conditions):
            return {"andAll": [rendered(member) for member in conditions]}


def _refuse_parts_of_texts(condition: Filter) -> None:
    for each in leaves(condition):
        if isinstance(each, Compares) and each.comparison in PARTS_OF_TEXTS:
            raise SearchRefused(f"a MANAGED knowledge base knows no {each.comparison.value}")
