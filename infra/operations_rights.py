"""The rights to show operators a deployment, across all its users."""

import aws_cdk as cdk

from infra.function import HandlerFunction
from infra.rights import Rights


def grant_operations(handler: HandlerFunction, *, rights: Rights) -> None:
    """
    Allow to read all catalogs, open receipts, runs, and the dashboard with its alarms and metrics.

    This adds to `Rights.settle` and `Rights.coordinate`, and changes nothing.
    """
    handler.allow("dynamodb:Scan", on=rights.data.catalog_table.by_user_arn)
    handler.allow("dynamodb:Query", on=rights.data.control_table.live_arn)
    deployment, stack = rights.deployment, rights.scope
    handler.allow("states:ListExecutions", on=rights.state_machine_arn())
    handler.allow(
        "states:GetExecutionHistory",
        on=deployment.state_machine_arn(stack, "execution"),
        because="One execution per run.",
    )
    handler.allow(
        "cloudwatch:GetDashboard",
        on=stack.format_arn(
            service="cloudwatch",
            region="",
            resource="dashboard",
            resource_name=deployment.dashboard_name,
        ),
    )
    # CloudWatch requires the right on `alarm:*`, whichever alarms the request names.
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
    # https://github.com/aws-samples/amazon-cloudwatch-auto-alarms/issues/1
    # Only composite alarms need it on *, and the dashboard has none.
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/permissions-reference-cw.html
    handler.allow(
        "cloudwatch:DescribeAlarms",
        on=stack.format_arn(
            service="cloudwatch",
            resource="alarm",
            resource_name="*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        ),
        because="It describes the account's alarms, and was seen denied on fewer.",
    )
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
    handler.allow(
        "cloudwatch:GetMetricData",
        on="*",
        because="Metrics have no ARNs; figures hold numbers and names of tools.",
    )
