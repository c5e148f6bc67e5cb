"""The house defaults of a Lambda function, and how it is granted its rights."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.bundling import CORE, Group, code_of
from infra.deployment import Deployment
from stackroom_constructs.acknowledgments import accept, accept_wildcard

# ARNs. The CDK deals a role's statements out to policies, of which AWS takes 6,144 characters each,
# but it can't part a statement: that of a large pool would be longer.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
_OF_A_STATEMENT = 20


class HandlerFunction(Construct):
    """
    The function in `functions/<package>/handler.py`, with a role and a log group of its own.

    It starts with no rights but its own log group and traces; the stack allows the rest, one line
    per right, where the resource and the function meet.
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
        # Literals, so that another stack's metrics and queries of this function need no export.
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

    def tell(self, name: str, value: str) -> None:
        """By a further variable."""
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
        Grants exactly these actions on exactly these ARNs; one with a wildcard says why.

        `where` are conditions, as a policy has them.
        """
        resources = [on] if isinstance(on, str) else list(on)
        for first in range(0, len(resources), _OF_A_STATEMENT):
            some = resources[first : first + _OF_A_STATEMENT]
            self.role.add_to_principal_policy(
                iam.PolicyStatement(actions=list(actions), resources=some, conditions=where)
            )
        for arn in resources:
            if "*" in arn:
                assert because, f"{arn} has a wildcard and no reason for it"
                accept_wildcard(self.role, arn, because=because)
