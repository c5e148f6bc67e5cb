"""
KNOWLEDGE_BASES_CONFIG: an agent's knowledge bases, as a JSON array of entries, and their search.

    linked_retrieval(linked_settings(os.environ["KNOWLEDGE_BASES_CONFIG"]), session.client)

Errors name the entry and the field, for the person who wrote it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pydantic

from stackroom.search.budget import DEFAULT_BUDGET, Budget
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom_stores.entries import DEFAULT_TOOL, Clients, LinkedSettings, ToolsOwnSettings
from stackroom_stores.store_registry import STORES, bedrock

AnyLinkedSettings = LinkedSettings | ToolsOwnSettings


class LinkedKnowledgeBasesInvalid(ValueError):
    """The configuration can't be used; every line names an entry, a field, and what is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("KNOWLEDGE_BASES_CONFIG: " + "; ".join(problems))


def linked_settings(text: str) -> tuple[AnyLinkedSettings, ...]:
    """Return every entry, in order. Raises LinkedKnowledgeBasesInvalid with all that is wrong."""
    try:
        entries = json.loads(text, object_pairs_hook=_each_once)
    except LinkedKnowledgeBasesInvalid:
        raise
    except ValueError as error:
        raise LinkedKnowledgeBasesInvalid([f"is no JSON ({error})"]) from None
    except RecursionError:
        raise LinkedKnowledgeBasesInvalid(["is nested too deeply"]) from None
    if not isinstance(entries, list):
        raise LinkedKnowledgeBasesInvalid(["must be a JSON array of entries"])
    problems: list[str] = []
    read: list[AnyLinkedSettings] = []
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            problems.append(f"entry {number}: must be a JSON object")
            continue
        try:
            read.append(_kind_of(entry).model_validate(entry))
        except pydantic.ValidationError as error:
            problems += [f"{_named(number, entry)}: {each}" for each in _problems(error)]
    ids = [each.knowledge_base_id for each in read]
    for twice in dict.fromkeys(each for each in ids if ids.count(each) > 1):
        problems.append(f"knowledgeBaseId: {twice!r} stands in {ids.count(twice)} entries, not one")
    if problems:
        raise LinkedKnowledgeBasesInvalid(problems)
    return tuple(read)


def linked_retrieval(
    settings: Iterable[AnyLinkedSettings], client: Clients, *, budget: Budget = DEFAULT_BUDGET
) -> LinkedRetrieval:
    """Return a search of the entries without a tool of their own; `client` makes boto3 clients."""
    from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings

    embeddings = QuestionEmbeddings(client)
    return LinkedRetrieval(
        linked=tuple(
            LinkedKnowledgeBase(
                knowledge_base_id=each.knowledge_base_id,
                knowledge_base=each.knowledge_base(client, embeddings),
                limit=each.number_of_results,
                min_score=each.min_score,
                groups_in=each.groups_in,
                owner_in=each.owner_in,
                embedding=each.embedding,
            )
            for each in settings
            if isinstance(each, LinkedSettings)
        ),
        budget=budget,
    )


def _each_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a repeated field, of which Python would silently take the last."""
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        [twice, *_] = [name for name in found if names.count(name) > 1]
        raise LinkedKnowledgeBasesInvalid([f"{twice!r:.60} stands twice in one object"])
    return found


def _kind_of(entry: Mapping[str, Any]) -> type[LinkedSettings] | type[ToolsOwnSettings]:
    if entry.get("retrievalTool", DEFAULT_TOOL) != DEFAULT_TOOL:
        return ToolsOwnSettings
    store = entry.get("vectorStoreType")
    known = STORES.get(store) if isinstance(store, str) else None
    if known is None or (store == "OPENSEARCH_SERVERLESS" and "collectionEndpoint" not in entry):
        return bedrock()
    return known()


def _named(number: int, entry: Mapping[str, Any]) -> str:
    key = entry.get("knowledgeBaseId")
    return f"entry {number}" + (f" ({key!r:.60})" if isinstance(key, str) else "")


def _problems(error: pydantic.ValidationError) -> Iterator[str]:
    for each in error.errors(include_url=False, include_input=False):
        place, problem = ".".join(map(str, each["loc"])), each["msg"].removeprefix("Value error, ")
        yield f"{place}: {problem}" if place else problem
