"""Builds the use cases of agents that users make, their links, chats and runs."""

from functools import cached_property

from stackroom.app.deployment import Deployment
from stackroom_agents.user_agents.agent_records import (
    DynamoAgentRuns,
    DynamoAgents,
    DynamoChats,
    SqsAgentRunQueue,
)
from stackroom_agents.user_agents.agents import Agents, Models
from stackroom_agents.user_agents.available_knowledge_bases import AvailableKnowledgeBases
from stackroom_agents.user_agents.chats import Chats
from stackroom_agents.user_agents.links import Links
from stackroom_agents.user_agents.runs import Runs
from stackroom_agents.user_agents.shared_settings import shared_of


class AgentBuilder(Deployment):
    @cached_property
    def agent_book(self) -> DynamoAgents:
        return DynamoAgents(client=self._dynamodb, table=self._control_table)

    @cached_property
    def agent_run_book(self) -> DynamoAgentRuns:
        return DynamoAgentRuns(client=self._dynamodb, table=self._control_table)

    @cached_property
    def chat_book(self) -> DynamoChats:
        return DynamoChats(client=self._dynamodb, table=self._control_table)

    @cached_property
    def agents(self) -> Agents:
        allowed: tuple[str, ...] = self.settings.need("agent_models")
        arn: str = self.settings.need("answer_model_arn")  # Converse takes the id at its end
        usual = allowed[0] if allowed else arn.rpartition("/")[2]
        return Agents(book=self.agent_book, models=Models(usual=usual, allowed=allowed))

    @cached_property
    def agent_links(self) -> Links:
        return Links(agents=self.agents, available=self.available_knowledge_bases)

    @cached_property
    def agent_runs(self) -> Runs:
        queue = SqsAgentRunQueue(
            client=self.client("sqs"), url=self.settings.need("agent_runs_queue_url")
        )
        return Runs(agents=self.agents, book=self.agent_run_book, chats=self.chat_book, queue=queue)

    @cached_property
    def chats(self) -> Chats:
        return Chats(agents=self.agents, book=self.chat_book, runs=self.agent_run_book)

    @cached_property
    def available_knowledge_bases(self) -> AvailableKnowledgeBases:
        return AvailableKnowledgeBases(
            catalogs=self.catalogs,
            shared=shared_of(self.settings.need("knowledge_bases_config")),
        )
