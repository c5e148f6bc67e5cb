"""
Saved Logs Insights queries over the audit lines of tools, the console and agents' runs.

They answer who read what, and whose calls were refused. tests/contract/test_access_queries.py
checks them against a line.
"""

from collections.abc import Sequence

from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.deployment import Deployment
from infra.function import HandlerFunction

_WHO_READ_WHAT = """
fields @timestamp, user_id, session_id, tool, catalog_id, document_ids
| filter message = "catalog accessed" and strlen(document_ids) > 0
| sort @timestamp desc
| limit 1000
"""
_WHO_WAS_REFUSED = """
filter message = "catalog accessed" and outcome != "success"
| stats count(*) as calls, max(@timestamp) as last by user_id, tool, outcome
| sort calls desc
| limit 1000
"""


def save_access_queries(
    scope: Construct, *, deployment: Deployment, readers: Sequence[HandlerFunction]
) -> None:
    """Save the queries. They name the log groups, so that another stack's need no export."""
    for construct_id, name, query in (
        ("WhoReadWhat", "who-read-what", _WHO_READ_WHAT),
        ("WhoWasRefused", "who-was-refused", _WHO_WAS_REFUSED),
    ):
        logs.CfnQueryDefinition(
            scope,
            construct_id,
            name=f"{deployment.project}/{name}",
            query_string=query.strip(),
            log_group_names=[each.log_group_name for each in readers],
        )
