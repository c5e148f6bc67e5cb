"""Queues, runs, users and data sources of a running local mode."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Aws = Callable[[str], Any]  # `aws("s3")` is the boto3 client of that service


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
