"""An agent that runs once per event: a function, invoked directly or from a queue."""

from enum import StrEnum

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stackroom_constructs import environment
from stackroom_constructs.acknowledgments import accept, accept_wildcard
from stackroom_constructs.agent_definition import AgentDefinitionProps
from stackroom_constructs.agent_network import AgentNetwork
from stackroom_constructs.argument_checks import InvalidArgument, check_flag
from stackroom_constructs.base_agent import BaseAgent, agent_bundle, has_dependencies

TIMEOUT = cdk.Duration.minutes(10)
MEMORY_MB = 1024


class InvokeType(StrEnum):
    """The way in which the text of an event follows the prompt."""

    BATCH = "batch"
    ATTACH_DIRECTLY = "attach-directly"


class BatchAgent(BaseAgent):
    """
    A Lambda function (1,024 MB, at most 10 minutes) that runs a Strands agent on its event.

    It bundles Stackroom's own code and packages; with the CDK context `stackroom:bundling` = `none`
    without packages: enough to read, test and run locally.

    prompt: What the agent does with every event.
    expect_json: Parse the answer as JSON; ask once more if it isn't.
    invoke_type: `batch` separates the event's text from the prompt, `attach-directly` appends it.
    identity_from_event: Search as the user in the event's `identity`, which is otherwise
        refused.
    answers_queue: For answers to a queue's messages; dropped by default.

    For the other arguments see BaseAgent.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        agent_name: str,
        agent_definition: AgentDefinitionProps,
        prompt: str,
        expect_json: bool = False,
        invoke_type: str = InvokeType.BATCH,
        identity_from_event: bool = False,
        answers_queue: sqs.IQueue | None = None,
        enable_observability: bool = False,
        network: AgentNetwork | None = None,
        encryption_key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.DESTROY,
        agent_architecture: lambda_.Architecture = lambda_.Architecture.ARM_64,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            agent_name=agent_name,
            agent_definition=agent_definition,
            enable_observability=enable_observability,
            network=network,
            encryption_key=encryption_key,
            removal_policy=removal_policy,
            agent_architecture=agent_architecture,
        )
        if not prompt.strip():
            raise InvalidArgument(self, "prompt", prompt, "non-blank text")
        if invoke_type not in list(InvokeType):
            allowed = " or ".join(repr(each.value) for each in InvokeType)
            raise InvalidArgument(self, "invoke_type", invoke_type, allowed)
        check_flag(self, "expect_json", expect_json)
        check_flag(self, "identity_from_event", identity_from_event)
        variables = {
            **self.variables,
            "PROMPT": prompt,
            "EXPECT_JSON": "True" if expect_json else "",
            "INVOKE_TYPE": str(invoke_type),
        }
        if identity_from_event:
            variables["IDENTITY_FROM_EVENT"] = "true"
        elif unsearchable := self.knowledge_bases.with_access_control:
            cdk.Annotations.of(self).add_warning_v2(
                "stackroom:nobody",
                f"without identity_from_event every search in {', '.join(unsearchable)} fails,"
                " because enable_acl requires a user",
            )
        if answers_queue is not None:
            variables["ANSWERS_QUEUE_URL"] = answers_queue.queue_url
            grant_send(self.agent_role, answers_queue)
        environment.check(self, variables)
        self.agent_function = self._function(variables)
        # In the default policy, not in the statements of others.
        accept_wildcard(
            self.agent_role.node.find_child("DefaultPolicy"),
            "*",
            because="Traces and network interfaces know no resources: AWS takes only * here.",
        )
        accept(
            self.agent_function,
            "L1",
            because="Python 3.13 is what the packages are pinned, compiled and tested for.",
        )

    def consume(
        self, queue: sqs.IQueue, *, batch_size: int = 1, max_concurrency: int | None = None
    ) -> None:
        """
        Run the agent on each message of a queue; only failed messages are delivered again.

        batch_size: messages of one invocation, which share its 10 minutes. 1 to 10. Default: 1.

        max_concurrency: parallel invocations, 2 to 1,000. Default: Lambda's own.

        Raises InvalidArgument for a queue whose visibility timeout is shorter than the function's,
        which Lambda refuses; AWS advises six times it, an hour.
        """
        if not 1 <= batch_size <= 10:
            raise InvalidArgument(self, "batch_size", batch_size, "1 to 10")
        if max_concurrency is not None and not 2 <= max_concurrency <= 1000:
            raise InvalidArgument(self, "max_concurrency", max_concurrency, "2 to 1000")
        check_visibility(self, queue, TIMEOUT)
        self.agent_function.add_event_source(
            event_sources.SqsEventSource(
                queue,
                batch_size=batch_size,
                max_concurrency=max_concurrency,
                report_batch_item_failures=True,
            )
        )

    def _function(self, variables: dict[str, str]) -> lambda_.Function:
        network = self.network.function_arguments() if self.network is not None else {}
        return lambda_.Function(
            self,
            "Function",
            code=agent_bundle(self).code(with_dependencies=has_dependencies(self)),
            handler="stackroom_agents.batch_handler.handler",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=self.architecture,
            memory_size=MEMORY_MB,
            timeout=TIMEOUT,
            tracing=lambda_.Tracing.ACTIVE,  # by the platform; no tracing SDK in the code
            role=self.agent_role,
            log_group=self.log_group,
            layers=[*self.definition.lambda_layers, *self.knowledge_bases.layers],
            environment=variables,
            environment_encryption=self.encryption_key,
            **network,
        )


# The queues of a batch agent: for its messages and for its answers.

# SQS's own default [API reference: CreateQueue, VisibilityTimeout].
_DEFAULT_SECONDS = 30


def check_visibility(agent: Construct, queue: sqs.IQueue, timeout: cdk.Duration) -> None:
    """
    Raise InvalidArgument for a queue with a visibility timeout below the function's.

    Lambda refuses such a queue; AWS advises six times the function's timeout. The timeout of an
    imported queue isn't known here.
    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    """
    resource = queue.node.default_child
    if not isinstance(resource, sqs.CfnQueue):
        return
    hidden = resource.visibility_timeout
    hidden = _DEFAULT_SECONDS if hidden is None else hidden
    seconds = timeout.to_seconds()
    if hidden < seconds:
        allowed = f"{seconds:g} seconds or more, better {6 * seconds:,g}"
        raise InvalidArgument(agent, "visibility_timeout of the queue", hidden, allowed)


def grant_send(role: iam.Role, queue: sqs.IQueue) -> None:
    queue.grant(role, "sqs:SendMessage")
    if queue.encryption_master_key is not None:
        # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
        queue.encryption_master_key.grant(role, "kms:GenerateDataKey", "kms:Decrypt")
