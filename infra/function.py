"""A Lambda function with the project's defaults, and the granting of its rights."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.bundling import CORE, Group, code_of
from infra.deployment import Deployment
from stackroom_constructs.acknowledgments import accept, accept_wildcard

# ARNs per statement. The CDK splits a role's statements into policies, which may have 6,144
# characters each, but it can't split a statement, which a large pool would make longer.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
_MAX_ARNS = 20


class HandlerFunction(Construct):
    """
    The function in `functions/<package>/handler.py`, with a role and a log group of its own.

    It starts with the rights to its own log group and traces only; the stack grants the rest, one
    line per right, where the resource and the function meet.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        package: str,
        timeout: cdk.Duration,
        memory_size: int,
        environment: Mapping[str, str],
        group: Group = CORE,
    ) -> None:
        super().__init__(scope, construct_id)
        self.service = package
        self.timeout = timeout
        self.memory_size = memory_size
        name = package.replace("_", "-")
        # Literals, so that other stacks' metrics and queries of this function need no export.
        self.name = f"{deployment.project}-{name}"
        self.log_group_name = f"/aws/lambda/{self.name}"
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=self.log_group_name,
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(
            self,
            "Role",
            role_name=deployment.role_name(name),
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        self.variables = {
            "POWERTOOLS_SERVICE_NAME": package,
            "POWERTOOLS_METRICS_NAMESPACE": "Stackroom",
            "LOG_LEVEL": "INFO",
            **environment,
        }
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=self.name,
            code=code_of(group, with_dependencies=deployment.with_dependencies),
            handler=f"functions.{package}.handler.handler",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            memory_size=memory_size,
            timeout=timeout,
            tracing=lambda_.Tracing.ACTIVE,  # by the platform; no tracing SDK in the code
            role=self.role,
            log_group=self.log_group,
            environment=self.variables,
        )
        accept_wildcard(self.role, "*", because="Traces know no resources: AWS takes only * here.")
        accept(
            self.function,
            "L1",
            because="Python 3.13 is what the packages are pinned, compiled and tested for.",
        )
        self.allow(
            "logs:CreateLogStream",
            "logs:PutLogEvents",
            on=f"{self.log_group.log_group_arn}:*",
            because="Streams are named when an environment starts.",
        )

    def set_variable(self, name: str, value: str) -> None:
        """Set a further environment variable."""
        self.variables[name] = value
        self.function.add_environment(name, value)

    def allow(
        self,
        *actions: str,
        on: str | Sequence[str],
        because: str = "",
        where: Mapping[str, object] | None = None,
    ) -> None:
        """
        Grant exactly these actions on exactly these ARNs; an ARN with a wildcard needs a reason.

        `where` are the conditions of the policy statement.
        """
        resources = [on] if isinstance(on, str) else list(on)
        for first in range(0, len(resources), _MAX_ARNS):
            some = resources[first : first + _MAX_ARNS]
            self.role.add_to_principal_policy(
                iam.PolicyStatement(actions=list(actions), resources=some, conditions=where)
            )
        for arn in resources:
            if "*" in arn:
                assert because, f"{arn} has a wildcard and needs a reason"
                accept_wildcard(self.role, arn, because=because)
