"""The console's routes: its HTTP API sends every request to one function."""

import json

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.console_address import ConsoleAddress
from infra.console_settings import Domain
from infra.function import HandlerFunction
from stackroom_constructs.acknowledgments import accept

# An HTTP API waits 30 seconds for a function. A function that times out earlier logs it.
# https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
TIMEOUT = cdk.Duration.seconds(29)

# For all users together. Beyond it API Gateway responds with 429, which the pages show as "try
# again".
_REQUESTS_A_SECOND, _BURST = 100, 200

# Without the query, which holds a sign-in's code, and without headers, which hold cookies and
# tokens.
# https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html
_LOGGED = {
    "time": "$context.requestTime",
    "request_id": "$context.requestId",
    "source_ip": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "latency_ms": "$context.responseLatency",
    "error": "$context.integrationErrorMessage",
}


class ConsoleApi(Construct):
    """The routes from the console's address to its function, which `serve` sets."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        project: str,
        domain: Domain | None,
        address: ConsoleAddress,
    ) -> None:
        super().__init__(scope, construct_id)
        self._project = project
        self._api = address.api
        self._domain = _domain_name(self, domain) if domain else None
        self.name = self._api.http_api_id
        assert address.origin is not None, "the console is on"
        self.origin = address.origin

    def serve(self, handler: HandlerFunction) -> None:
        route = apigateway.HttpRoute(
            self,
            "Every",
            http_api=self._api,
            route_key=apigateway.HttpRouteKey.DEFAULT,
            integration=integrations.HttpLambdaIntegration(
                "Console",
                handler.function,
                payload_format_version=apigateway.PayloadFormatVersion.VERSION_2_0,
            ),
        )
        accept(
            route,
            "APIG4",
            because="The app checks session, token and group of each route in one place; its pages"
            " for who isn't signed in yet must be open.",
        )
        self._stage()
        if self._domain is not None:
            cdk.CfnOutput(
                cdk.Stack.of(self),
                "ConsoleDomainTarget",
                value=self._domain.regional_domain_name,
                description="What a CNAME of the console's domain must point to.",
            )

    def _stage(self) -> None:
        log = logs.LogGroup(
            self,
            "Requests",
            # Under this prefix AWS adds nothing to the account's policy for logs, which is short.
            # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html
            log_group_name=f"/aws/vendedlogs/{self._project}-console",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self._api,
            stage_name="$default",  # so that paths are the app's own
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(rate_limit=_REQUESTS_A_SECOND, burst_limit=_BURST),
            domain_mapping=(
                apigateway.DomainMappingOptions(domain_name=self._domain) if self._domain else None
            ),
        )
        cfn_stage = stage.node.default_child
        assert isinstance(cfn_stage, apigateway.CfnStage), "an HttpStage is one of these"
        cfn_stage.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=log.log_group_arn, format=json.dumps(_LOGGED)
        )


def _domain_name(scope: Construct, domain: Domain) -> apigateway.DomainName:
    return apigateway.DomainName(
        scope,
        "Domain",
        domain_name=domain.name,
        certificate=acm.Certificate.from_certificate_arn(
            scope, "Certificate", domain.certificate_arn
        ),
        security_policy=apigateway.SecurityPolicy.TLS_1_2,
    )
