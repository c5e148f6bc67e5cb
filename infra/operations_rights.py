"""What a function may read that shows operators the deployment, over all its users."""

import aws_cdk as cdk

from infra.function import HandlerFunction
from infra.rights import Rights


def may_show_operations(handler: HandlerFunction, *, rights: Rights) -> None:
    """
    All catalogs, open receipts, runs, the dashboard with its alarms and figures; beside what it may
    anyway of `Rights.settle` and `Rights.coordinate`. None of this changes anything.
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
    # CloudWatch asks for the right on `alarm:*`, whichever alarms the request names.
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
    # https://github.com/aws-samples/amazon-cloudwatch-auto-alarms/issues/1
    # Composite alarms alone need it on *, and the dashboard has none.
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
