"""
The knowledge bases that an agent was given, read once: KNOWLEDGE_BASES_CONFIG.

    registry = from_environment()
    Agent(system_prompt=registry.prompted(prompt), tools=[*registry.tools(), ...])

A tool of a knowledge base's own finds its entry in `registry.knowledge_bases`, or in the variable.

A notebook, or a Lambda function without Strands, searches them without a tool, by stackroom alone:

    from stackroom.stores.linked_knowledge_bases import linked_retrieval
    from stackroom.stores.linked_knowledge_bases import linked_settings
    from stackroom.aws.session import client
    from stackroom.retrieval.search_tool import retrieve_from_knowledge_base

    entries = linked_settings(os.environ["KNOWLEDGE_BASES_CONFIG"])
    answer = retrieve_from_knowledge_base(
        {"query": "annual leave"}, caller=None, retrieval=linked_retrieval(entries, client)
    )
    for result in answer["results"]:
        print(result["source"]["uri"], result["content"])

`caller` is `stackroom.identity.Caller("alice", groups=("hr",))` there, from a token that the
program has verified. None is nobody: a knowledge base that tells groups apart then isn't searched,
and the answer's `errorType` is MissingIdentity.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stackroom.retrieval.search_tool import Searchable
from stackroom.stores.entries import LinkedSettings
from stackroom.stores.linked_knowledge_bases import AnyLinkedSettings, linked_retrieval
from stackroom_agents import prompt
from stackroom_agents.configuration import client_of
from stackroom_agents.observability import Watched
from stackroom_agents.retrieval_tool import retrieval_tool
from stackroom_agents.settings import KnowledgeBaseSettings


@dataclass(frozen=True, kw_only=True)
class Registry:
    """Without knowledge bases there are no tools, and a prompt stays as it is."""

    knowledge_bases: tuple[AnyLinkedSettings, ...]
    retrieval: Searchable

    def tools(self) -> list[Any]:
        """`retrieve_from_knowledge_base`, unless every knowledge base has a tool of its own."""
        if not any(isinstance(each, LinkedSettings) for each in self.knowledge_bases):
            return []
        return [retrieval_tool(self)]

    def prompted(self, users: bytes) -> str:
        """The user's system prompt and what it is to say of these. Raises AgentMisconfigured."""
        return prompt.system_prompt(users, self.knowledge_bases)


def from_environment(environ: Mapping[str, str] = os.environ) -> Registry:
    """
    By KNOWLEDGE_BASES_CONFIG, without which there are none; by ENABLE_OBSERVABILITY, and by
    RETRIEVE_MAX_TOKENS and RETRIEVE_PRIORITIZE_BY, where a model asks for nothing else.

    Makes no call to AWS. Raises LinkedKnowledgeBasesInvalid (a ValueError), whose parts name entry
    and field, and pydantic's ValidationError.
    """
    return of_settings(KnowledgeBaseSettings.from_env(environ))


def of_settings(settings: KnowledgeBaseSettings) -> Registry:
    knowledge_bases = settings.knowledge_bases
    found = linked_retrieval(knowledge_bases, client_of, budget=settings.budget)
    return Registry(
        knowledge_bases=knowledge_bases,
        retrieval=Watched(retrieval=found, is_observed=settings.enable_observability),
    )
