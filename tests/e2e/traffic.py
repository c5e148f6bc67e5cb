"""Events on their way from the bucket to the functions: seen, held back, sent again."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from stackroom_local.state import Instance
from tests.e2e.people import eventually

Aws = Callable[[str], Any]
_BATCH = 10  # SendMessageBatch takes ten
_EMPTY = {"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"}


def aws_of(instance: Instance) -> Aws:
    """`aws("s3")` is the boto3 client of that service, with root's keys."""
    return instance.client


@dataclass(frozen=True)
class Queue:
    aws: Aws
    url: str

    @property
    def arn(self) -> str:
        return self._attributes(["QueueArn"])["QueueArn"]

    def send(self, bodies: Iterable[str]) -> None:
        """Ten at a time, as the fewest batches that there can be."""
        bodies = list(bodies)
        for start in range(0, len(bodies), _BATCH):
            entries = [
                {"Id": str(number), "MessageBody": body}
                for number, body in enumerate(bodies[start : start + _BATCH])
            ]
            answer = self.aws("sqs").send_message_batch(QueueUrl=self.url, Entries=entries)
            assert not answer.get("Failed"), answer

    def take(self) -> list[str]:
        """The bodies of what is there now; they are gone from the queue then."""
        taken = []
        while (
            messages := self.aws("sqs")
            .receive_message(QueueUrl=self.url, MaxNumberOfMessages=10)
            .get("Messages")
        ):
            for message in messages:
                taken.append(message["Body"])
                self.aws("sqs").delete_message(
                    QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"]
                )
        return taken

    def await_empty(self) -> None:
        """Nothing waits in it and nothing is being handled."""
        eventually(lambda: self.counts() == _EMPTY, f"{self.url} is empty")

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Failed messages come back after a second: five receives would take half an hour."""
        before = self._attributes(["VisibilityTimeout"])
        self.aws("sqs").set_queue_attributes(
            QueueUrl=self.url, Attributes={"VisibilityTimeout": "1"}
        )
        try:
            yield
        finally:
            self.aws("sqs").set_queue_attributes(QueueUrl=self.url, Attributes=before)

    def counts(self) -> dict[str, str]:
        return self._attributes(list(_EMPTY))

    def _attributes(self, names: list[str]) -> dict[str, str]:
        answer = self.aws("sqs").get_queue_attributes(QueueUrl=self.url, AttributeNames=names)
        return dict(answer["Attributes"])


def queue(aws: Aws, name: str) -> Queue:
    return Queue(aws, aws("sqs").get_queue_url(QueueName=name)["QueueUrl"])


@contextmanager
def held_back(aws: Aws) -> Iterator[None]:
    """What happens in the bucket inside the block, the pipeline is not told of."""
    arn = queue(aws, "stackroom-uploads").arn
    (rule,) = aws("events").list_rule_names_by_target(TargetArn=arn)["RuleNames"]
    aws("events").disable_rule(Name=rule)
    try:
        yield
    finally:
        aws("events").enable_rule(Name=rule)


def event(
    instance: Instance, key: str, detail_type: str = "Object Created", **details: object
) -> str:
    """As EventBridge delivers it [S3 user guide: ev-events]."""
    described = {"key": key, "sequencer": "0062E99A88DC407460", **details}
    return json.dumps(
        {
            "version": "0",
            "id": f"{detail_type} of {key}",
            "detail-type": detail_type,
            "source": "aws.s3",
            "resources": [f"arn:aws:s3:::{instance.bucket}"],
            "detail": {"bucket": {"name": instance.bucket}, "object": described},
        }
    )


def await_rest(aws: Aws) -> None:
    """Every upload is handled and no run is alive."""
    for name in ("stackroom-uploads", "stackroom-inspections"):
        queue(aws, name).await_empty()
    (machine,) = aws("stepfunctions").list_state_machines()["stateMachines"]
    arn = machine["stateMachineArn"]
    eventually(
        lambda: (
            not aws("stepfunctions").list_executions(stateMachineArn=arn, statusFilter="RUNNING")[
                "executions"
            ]
        ),
        "no run is alive",
    )


def states_of(aws: Aws, worklist_id: str) -> list[list[str]]:
    """The states that each execution of a worklist has gone through, oldest first."""
    steps = aws("stepfunctions")
    (machine,) = steps.list_state_machines()["stateMachines"]
    pages = steps.get_paginator("list_executions").paginate(
        stateMachineArn=machine["stateMachineArn"]
    )
    mine = [
        each
        for page in pages
        for each in page["executions"]
        if each["name"].startswith(f"{worklist_id}-")
    ]
    mine.sort(key=lambda each: each["startDate"])
    return [_entered(steps, each["executionArn"]) for each in mine]


def data_sources(aws: Aws, knowledge_base_id: str) -> dict[str, str]:
    """The id of each data source in Bedrock, by its name."""
    answer = aws("bedrock-agent").list_data_sources(knowledgeBaseId=knowledge_base_id)
    return {each["name"]: each["dataSourceId"] for each in answer["dataSourceSummaries"]}


def _entered(steps: Any, arn: str) -> list[str]:
    pages = steps.get_paginator("get_execution_history").paginate(executionArn=arn)
    events = [event for page in pages for event in page["events"]]
    found = (event.get("stateEnteredEventDetails") for event in events)
    return [each["name"] for each in found if each]
