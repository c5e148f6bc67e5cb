"""Queues, runs, users and data sources of a running local mode."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.e2e.people import eventually

Aws = Callable[[str], Any]  # `aws("s3")` is the boto3 client of that service
_EMPTY = {"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"}


@contextmanager
def iam_user(aws: Aws, name: str, *statements: object) -> Iterator[tuple[str, str]]:
    """The key of a new IAM user with these rights: its id, and its secret."""
    iam = aws("iam")
    iam.create_user(UserName=name)
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_user_policy(UserName=name, PolicyName="rights", PolicyDocument=policy)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    try:
        yield key["AccessKeyId"], key["SecretAccessKey"]
    finally:
        iam.delete_access_key(UserName=name, AccessKeyId=key["AccessKeyId"])
        iam.delete_user_policy(UserName=name, PolicyName="rights")
        iam.delete_user(UserName=name)


def await_empty(aws: Aws, queue: str) -> None:
    """Nothing waits in it and nothing is being handled."""
    sqs = aws("sqs")
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]

    def is_empty() -> bool:
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(_EMPTY))
        return bool(found["Attributes"] == _EMPTY)

    eventually(is_empty, f"{queue} is empty")


def await_rest(aws: Aws) -> None:
    """Every upload is handled and no run is alive."""
    for name in ("stackroom-uploads", "stackroom-inspections"):
        await_empty(aws, name)
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
