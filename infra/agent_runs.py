"""What carries out the runs of users' agents: a queue, and the function that takes from it."""

import json
from collections.abc import Sequence

import aws_cdk as cdk
from constructs import Construct

from infra.bundling import CACHED_RUNNER, RUNNER
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.queues import ConsumedQueue
from infra.retrieval_rights import environment_of_retrieval, may_retrieve
from infra.rights import Rights
from infra.shared_knowledge_bases import environment_of_shared
from stackroom_constructs.agent_knowledge_bases import GivenKnowledgeBases
from stackroom_constructs.bedrock_model import BedrockModel

# More than a run may take with its end [stackroom.agents.runs].
_LONGEST_RUN = cdk.Duration.minutes(6)
# Of all users together: what more are asked for waits in the queue.
_RUNS_AT_ONCE = 10
# Partitions of the table [stackroom.aws.dynamodb.agent_records].
_OF_AGENTS = ("AGENTS#*", "AGENT_CHATS#*", "AGENT_DRAFTS#*", "AGENT_RUNS#*")
# Converse and ConverseStream: some models use tools in the first alone.
_ASKS = ("bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream")


class AgentRuns(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        rights: Rights,
        knowledge_base: KnowledgeBaseStack,
        models: Sequence[BedrockModel],
        shared: GivenKnowledgeBases,
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
            batch_size=1,  # a run takes as long as its model does, and nobody waits for another's
            batch_window=cdk.Duration.seconds(0),
            batches=rights.deployment.concurrency.batches(_RUNS_AT_ONCE),
        )

    def let_ask(self, handler: HandlerFunction) -> None:
        """For a run; which models and knowledge bases there are to choose from is told, too."""
        models = json.dumps([model.id for model in self._models])
        handler.tell("AGENT_MODELS", models)
        self.queue.let_send(handler, "AGENT_RUNS_QUEUE_URL")
        for name, value in environment_of_shared(self._shared).items():
            handler.tell(name, value)

    def _runner(self, knowledge_base: KnowledgeBaseStack) -> HandlerFunction:
        deployment = self._rights.deployment
        handler = HandlerFunction(
            self._rights.scope,
            "AgentRunner",
            deployment=deployment,
            package="agent_runner",
            timeout=_LONGEST_RUN,
            memory_size=1024,
            group=RUNNER if deployment.vector_cache is None else CACHED_RUNNER,
            environment={
                **environment_of_retrieval(self._rights, knowledge_base=knowledge_base),
                **environment_of_shared(self._shared),
            },
        )
        may_retrieve(handler, rights=self._rights, knowledge_base=knowledge_base)
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            on=self._rights.data.control_table.table_arn,
            where={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(_OF_AGENTS)}},
        )
        handler.allow(
            "dynamodb:DeleteItem",
            on=self._rights.data.control_table.table_arn,
            where={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["AGENT_DRAFTS#*"]}},
        )
        for statement in self._shared.statements:
            handler.role.add_to_principal_policy(statement)
        for model in self._models:
            for right in model.rights(handler, by=_ASKS):
                handler.allow(
                    *right.actions, on=right.resources, where=right.where, because=right.because
                )
        return handler
