"""
The console's address: an HTTP API, created before the documents' bucket.

So the bucket's CORS rules can name the console's origin.
"""

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.deployment import Deployment


class ConsoleAddress(Construct):
    """
    The API without its routes, which come with the console [infra/console_api.py].

    It remains when the console is removed, because an export can't be deleted while a stack imports
    it; then its endpoint is disabled, and `origin` is None.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
    """

    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment) -> None:
        super().__init__(scope, construct_id)
        console = deployment.console
        domain = console.domain if console else None
        self.api = apigateway.HttpApi(
            self,
            "Http",
            api_name=f"{deployment.project}-console",
            description="The console in the browser.",
            create_default_stage=False,  # its log and throttling can't be configured
            # Otherwise requests could bypass whatever protects a custom domain.
            disable_execute_api_endpoint=console is None or domain is not None,
        )
        cdk.Stack.of(self).export_value(self.api.http_api_id)
        self.origin: str | None = None
        if console is not None:
            stack = cdk.Stack.of(self)
            host = f"{self.api.http_api_id}.execute-api.{stack.region}.{stack.url_suffix}"
            self.origin = f"https://{domain.name if domain else host}"
