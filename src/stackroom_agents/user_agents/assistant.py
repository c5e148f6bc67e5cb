"""
The assistant: an agent over all of a user's catalogs, which every user has from the beginning.

It is saved with its first question, like any agent, and may then be changed and deleted.
"""

from datetime import datetime

from stackroom_agents.user_agents.agent import Agent, KnowledgeBaseLink, LinkedTool

ASSISTANT = "agent-" + "0" * 24  # its id, of each user's own
# In place of the id of one knowledge base: all catalogs of whoever asks.
ALL_CATALOGS = "all"
ALL_CATALOGS_NAME = "your documents"
ANSWER_FROM_SOURCES = """\
You answer questions from the documents that your tools search.

- Search before you answer, and again in other words if what you find doesn't settle it.
- Say only what the documents say. Don't add what you know from elsewhere.
- Name the document behind each statement, with its page or section where there is one.
- If documents contradict each other, say so, and show both.
- If the documents don't answer the question, say that, and say what you searched for.

Begin with the answer, in one or two sentences. Add details only if they help."""

SEARCH_ALL = LinkedTool(
    id="tool_kb_0_assista",
    name="search_documents",
    description="Search all of the user's documents by meaning and by words.",
    config=KnowledgeBaseLink(
        knowledge_base_id=ALL_CATALOGS, knowledge_base_name=ALL_CATALOGS_NAME, default_top_k=8
    ),
)


def assistant_of(user_id: str, model: str, at: datetime) -> Agent:
    """Return the assistant as it is before it is first saved or changed."""
    return Agent(
        id=ASSISTANT,
        user_id=user_id,
        name="Assistant",
        description="Answers from all of your catalogs",
        model=model,
        system_prompt=ANSWER_FROM_SOURCES,
        available_tools=(SEARCH_ALL,),
        created_at=at,
        updated_at=at,
    )
