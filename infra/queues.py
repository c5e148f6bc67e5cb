"""Queues that functions consume, with dead-letter queues for messages that keep failing."""

import json
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.function import HandlerFunction
from stackroom_constructs.acknowledgments import accept

_RECEIVES = 5
_FIFO = ".fifo"


class DeadLetters(sqs.Queue):
    """A dead-letter queue with SQS's longest retention, so that messages survive a weekend."""

    def __init__(self, scope: Construct, construct_id: str, *, queue_name: str) -> None:
        self.name = queue_name
        super().__init__(
            scope,
            construct_id,
            queue_name=queue_name,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=cdk.Duration.days(14),
        )
        accept(self, "SQS3", because="It is a dead-letter queue; a rule's isn't recognised as one.")

    def keep_failures_of(self, handler: HandlerFunction) -> None:
        """
        Keep each event, with its error, that `handler` fails at in all asynchronous invocations.

        Lambda invokes a function three times by default and drops the event otherwise; a rule's
        dead-letter queue gets only events that Lambda did not accept.
        https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html
        """
        handler.allow("sqs:SendMessage", on=self.queue_arn)
        of = lambda_.CfnEventInvokeConfig
        config = of(
            self,
            f"FailuresOf{handler.node.id}",
            function_name=handler.function.function_name,
            qualifier="$LATEST",
            destination_config=of.DestinationConfigProperty(
                on_failure=of.OnFailureProperty(destination=self.queue_arn)
            ),
        )
        # Lambda checks the rights when it creates the configuration.
        config.node.add_dependency(handler.role)


class ConsumedQueue(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue_name: str,
        consumer: HandlerFunction,
        batch_size: int,
        batch_window: cdk.Duration | None = None,
        batches: int,
        receives: int = _RECEIVES,
        visibility: cdk.Duration | None = None,
    ) -> None:
        """
        Create the queue, with at most `batches` in parallel and `receives` attempts per message.

        A name that ends in `.fifo` makes a queue that keeps the order in each message group; it
        takes no window. A message that is not done returns after its `visibility`, by default long
        enough for Lambda to be throttled for several batches.
        """
        super().__init__(scope, construct_id)
        self.name = queue_name
        is_fifo = queue_name.endswith(_FIFO)
        dead = f"{queue_name.removesuffix(_FIFO)}-dead{_FIFO if is_fifo else ''}"
        self.dead_letters = DeadLetters(self, "DeadLetters", queue_name=dead)
        window = batch_window or cdk.Duration.seconds(0)
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=queue_name,
            # A limit per group allows thousands of messages a second instead of three hundred.
            # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/high-throughput-fifo.html
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP if is_fifo else None,
            fifo_throughput_limit=(
                sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID if is_fifo else None
            ),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            # Six times the function's timeout plus the window; otherwise a slow batch is delivered
            # twice.
            # https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
            visibility_timeout=visibility
            or cdk.Duration.seconds(
                6 * int(consumer.timeout.to_seconds()) + int(window.to_seconds())
            ),
            retention_period=cdk.Duration.days(14),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letters, max_receive_count=receives
            ),
        )
        consumer.function.add_event_source(
            event_sources.SqsEventSource(
                self.queue,
                batch_size=batch_size,
                max_batching_window=batch_window,
                # https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
                max_concurrency=batches,
                report_batch_item_failures=True,
            )
        )

    def grant_send(self, handler: HandlerFunction, variable: str) -> None:
        """Let a function send to the queue, whose URL the variable holds."""
        handler.set_variable(variable, self.queue.queue_url)
        handler.allow("sqs:SendMessage", on=self.queue.queue_arn)


def enable_fair_turns(
    consumer: HandlerFunction, queues: Sequence[ConsumedQueue], *, batch: int
) -> None:
    """Let the consumer resend messages by user (functions/batch.py)."""
    consumer.set_variable("QUEUE_URLS", json.dumps([each.queue.queue_url for each in queues]))
    consumer.set_variable("QUEUE_BATCH", str(batch))
    for each in queues:
        consumer.allow("sqs:SendMessage", on=each.queue.queue_arn)
