"""The queue and the function that run users' agents."""

import json
from collections.abc import Sequence

import aws_cdk as cdk
from constructs import Construct

from infra.bundling import CACHED_RUNNER, RUNNER
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.queues import ConsumedQueue
from infra.retrieval_rights import grant_retrieve, retrieval_environment
from infra.rights import Rights
from infra.shared_knowledge_bases import shared_environment
from stackroom_constructs.agent_knowledge_bases import AgentKnowledgeBases
from stackroom_constructs.bedrock_model import BedrockModel

# Longer than a run may take, with its end [stackroom_agents.user_agents.runs].
_TIMEOUT = cdk.Duration.minutes(6)
# For all users together: further runs wait in the queue.
_CONCURRENT_RUNS = 10
# Partitions of the table [stackroom_agents.user_agents.agent_records].
_PARTITIONS = ("AGENTS#*", "AGENT_CHATS#*", "AGENT_DRAFTS#*", "AGENT_RUNS#*")
# Converse and ConverseStream: some models use tools only in the first.
_MODEL_ACTIONS = ("bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream")


class AgentRuns(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        rights: Rights,
        knowledge_base: KnowledgeBaseStack,
        models: Sequence[BedrockModel],
        shared: AgentKnowledgeBases,
    ) -> None:
        super().__init__(scope, construct_id)
        self._rights = rights
        self._models = models
        self._shared = shared
        self.runner = self._runner(knowledge_base)
        self.queue = ConsumedQueue(
            self,
            "Queue",
            queue_name=f"{rights.deployment.project}-agent-runs",
            consumer=self.runner,
            batch_size=1,  # a run takes as long as its model does, and no run waits for another
            batch_window=cdk.Duration.seconds(0),
            batches=rights.deployment.concurrency.batches(_CONCURRENT_RUNS),
        )

    def allow_requests(self, handler: HandlerFunction) -> None:
        """Let a function request runs, and set the models and knowledge bases that it offers."""
        models = json.dumps([model.id for model in self._models])
        handler.set_variable("AGENT_MODELS", models)
        self.queue.grant_send(handler, "AGENT_RUNS_QUEUE_URL")
        for name, value in shared_environment(self._shared).items():
            handler.set_variable(name, value)

    def _runner(self, knowledge_base: KnowledgeBaseStack) -> HandlerFunction:
        deployment = self._rights.deployment
        handler = HandlerFunction(
            self._rights.scope,
            "AgentRunner",
            deployment=deployment,
            package="agent_runner",
            timeout=_TIMEOUT,
            memory_size=1024,
            group=RUNNER if deployment.vector_cache is None else CACHED_RUNNER,
            environment={
                **retrieval_environment(self._rights, knowledge_base=knowledge_base),
                **shared_environment(self._shared),
            },
        )
        grant_retrieve(handler, rights=self._rights, knowledge_base=knowledge_base)
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            on=self._rights.data.control_table.table_arn,
            where={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(_PARTITIONS)}},
        )
        handler.allow(
            "dynamodb:DeleteItem",
            on=self._rights.data.control_table.table_arn,
            where={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["AGENT_DRAFTS#*"]}},
        )
        for statement in self._shared.statements:
            handler.role.add_to_principal_policy(statement)
        for model in self._models:
            for right in model.rights(handler, by=_MODEL_ACTIONS):
                handler.allow(
                    *right.actions, on=right.resources, where=right.where, because=right.because
                )
        return handler
