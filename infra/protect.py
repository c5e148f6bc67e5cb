"""
Protects the tables from deletion once they are deployed.

    python infra/protect.py cdk.out/outputs.json      the file of `cdk deploy --outputs-file`

`make deploy` runs it at its end. The template doesn't do it: CloudFormation can't roll back a table
that is protected from the start if the first deployment fails, and it would block the next one.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3

_TABLES = ("CatalogTableName", "ControlTableName")


def protect(outputs: Mapping[str, Mapping[str, str]], dynamodb: Any) -> None:
    """Turn on deletion protection where it is off."""
    for stack in outputs.values():
        for table in (stack[name] for name in _TABLES if name in stack):
            dynamodb.get_waiter("table_exists").wait(TableName=table)  # no concurrent change
            if not dynamodb.describe_table(TableName=table)["Table"]["DeletionProtectionEnabled"]:
                dynamodb.update_table(TableName=table, DeletionProtectionEnabled=True)


if __name__ == "__main__":
    # boto3 itself reads AWS_DEFAULT_REGION only.
    session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
    protect(json.loads(Path(sys.argv[1]).read_text("utf-8")), session.client("dynamodb"))
