"""The queues of a batch agent: one that it takes messages from, one for its answers."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stackroom_constructs.refusals import InvalidArgument

# SQS's own default [API reference: CreateQueue, VisibilityTimeout].
_SECONDS_HIDDEN = 30


def check_visibility(agent: Construct, queue: sqs.IQueue, timeout: cdk.Duration) -> None:
    """
    Raises InvalidArgument for a queue that shows a message again before the function's timeout,
    which Lambda refuses; six times it is what AWS advises. Of a queue that is only referred to,
    it isn't known here.
    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    """
    made = queue.node.default_child
    if not isinstance(made, sqs.CfnQueue):
        return
    hidden = made.visibility_timeout if made.visibility_timeout is not None else _SECONDS_HIDDEN
    seconds = timeout.to_seconds()
    if hidden < seconds:
        allowed = f"{seconds:g} seconds or more, better {6 * seconds:,g}"
        raise InvalidArgument(agent, "visibility_timeout of the queue", hidden, allowed)


def may_send(role: iam.Role, queue: sqs.IQueue) -> None:
    queue.grant(role, "sqs:SendMessage")
    if queue.encryption_master_key is not None:
        # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
        queue.encryption_master_key.grant(role, "kms:GenerateDataKey", "kms:Decrypt")
