"""
Where browsers find the console: an HTTP API, which is made before the bucket so that the bucket
takes files from the console's own pages and from nobody else's.
"""

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.deployment import Deployment


class ConsoleAddress(Construct):
    """
    The API without its routes, which come with the console [infra/console_api.py]. It stays where a
    console is taken away, because an export can't go while a stack imports it; then it is closed.
    `origin` is None where there is no console.
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
            create_default_stage=False,  # whose log and throttling can't be chosen
            # Else there is a way around whatever stands before a domain of one's own.
            disable_execute_api_endpoint=console is None or domain is not None,
        )
        cdk.Stack.of(self).export_value(self.api.http_api_id)
        self.origin: str | None = None
        if console is not None:
            stack = cdk.Stack.of(self)
            host = f"{self.api.http_api_id}.execute-api.{stack.region}.{stack.url_suffix}"
            self.origin = f"https://{domain.name if domain else host}"
