"""
The console in the browser: its routes, its sign-in, and the function that runs users' agents.

The context `console=off` leaves it out of a deployment.
"""

import json

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_secretsmanager as secrets
from constructs import Construct

from infra.agent_runs import AgentRuns
from infra.bundling import CONSOLE
from infra.catalog_rights import catalog_environment, grant_catalogs
from infra.console_api import TIMEOUT, ConsoleApi
from infra.console_settings import ConsoleSettings
from infra.console_sign_in import ConsoleSignIn
from infra.data import DataStack
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.gateway import GatewayStack
from infra.knowledge_base import KnowledgeBaseStack
from infra.operations_rights import grant_operations
from infra.rights import Rights
from infra.search_rights import ASKS, STREAMS
from stackroom_constructs.acknowledgments import accept


class ConsoleStack(cdk.Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        settings: ConsoleSettings,
        data: DataStack,
        knowledge_base: KnowledgeBaseStack,
        gateway: GatewayStack,
    ) -> None:
        super().__init__(scope, construct_id)
        self._rights = Rights(scope=self, deployment=deployment, data=data)
        self._knowledge_base = knowledge_base
        self.api = ConsoleApi(
            self,
            "Api",
            project=deployment.project,
            domain=settings.domain,
            address=data.console_address,
        )
        self.sign_in = ConsoleSignIn(
            self,
            "SignIn",
            user_pool=data.user_pool,
            origin=self.api.origin,
            settings=deployment.sign_in,
        )
        self.runs = AgentRuns(
            self,
            "AgentRuns",
            rights=self._rights,
            knowledge_base=knowledge_base,
            models=settings.models,
            shared=settings.shared.resolve(self),
        )
        clients = [self.sign_in.client, gateway.sign_in.client]
        self.console = self._console(gateway, clients=clients)
        self.runs.allow_requests(self.console)
        self.api.serve(self.console)
        self.handlers = [self.console, self.runs.runner]

    def _console(
        self, gateway: GatewayStack, *, clients: list[cognito.UserPoolClient]
    ) -> HandlerFunction:
        """
        Create the console's function, outside of the VPC of a cache for questions.

        From the VPC it couldn't reach Cognito's token endpoint. So it caches the vectors of
        questions by itself.
        """
        key, issuer = self._cookie_key(), gateway.sign_in.issuer
        handler = HandlerFunction(
            self,
            "Console",
            deployment=self._rights.deployment,
            package="console",
            timeout=TIMEOUT,
            memory_size=1024,
            group=CONSOLE,
            environment={
                **catalog_environment(self._rights, knowledge_base=self._knowledge_base),
                "DASHBOARD_NAME": self._rights.deployment.dashboard_name,
                "RETRIEVE_SHARING": self._rights.deployment.retrieve_sharing,
                "IDENTITY_ISSUER": issuer,
                "IDENTITY_JWKS_URL": f"{issuer}/.well-known/jwks.json",
                # Its own client signs people in; tokens of the other one open the API, too.
                "IDENTITY_CLIENT_IDS": json.dumps([each.user_pool_client_id for each in clients]),
                "CONSOLE_CLIENT_ID": self.sign_in.client.user_pool_client_id,
                "CONSOLE_URL": self.api.origin,
                "MCP_URL": gateway.mcp_url,
                "CONSOLE_KEY_ARN": key.secret_arn,
            },
        )
        grant_catalogs(
            handler,
            rights=self._rights,
            knowledge_base=self._knowledge_base,
            asks_by=(ASKS, STREAMS),
        )
        grant_operations(handler, rights=self._rights)
        handler.allow("secretsmanager:GetSecretValue", on=key.secret_arn)
        return handler

    def _cookie_key(self) -> secrets.Secret:
        """
        Create the key that encrypts sessions. AWS generates it: it is in no template or variable.
        """
        key = secrets.Secret(
            self,
            "CookieKey",
            description="What the console's sessions are encrypted with.",
            generate_secret_string=secrets.SecretStringGenerator(
                password_length=64, exclude_punctuation=True
            ),
        )
        accept(
            key,
            "SMG4",
            because="It encrypts sessions of an hour and nothing that is kept; docs/operations.md"
            " says how to change it at once, which ends them all.",
        )
        return key
