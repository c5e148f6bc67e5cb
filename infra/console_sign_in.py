"""
The console's sign-in: Cognito's own pages, by authorization code with PKCE.

Their domain is the gateway's (infra/sign_in.py), because a user pool has only one.
"""

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.sign_in_settings import SignInSettings

# Routes of the app [src/stackroom_console]; Cognito redirects to these addresses only.
SIGNED_IN, SIGNED_OUT = "/sign-in/callback", "/sign-in"


class ConsoleSignIn(Construct):
    """The console's app client, without a secret: using a code takes its verifier."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        user_pool: cognito.UserPool,
        origin: str,
        settings: SignInSettings,
    ) -> None:
        super().__init__(scope, construct_id)
        self.client = cognito.UserPoolClient(
            self,
            "Client",
            user_pool=user_pool,
            **settings.client_arguments(user_srp=True),
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(authorization_code_grant=True),
                scopes=[cognito.OAuthScope.OPENID],
                callback_urls=[f"{origin}{SIGNED_IN}"],
                logout_urls=[f"{origin}{SIGNED_OUT}"],
            ),
            supported_identity_providers=[cognito.UserPoolClientIdentityProvider.COGNITO],
            generate_secret=False,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            # The length of a session, after which the console asks Cognito again.
            access_token_validity=cdk.Duration.hours(1),
            id_token_validity=cdk.Duration.hours(1),
        )
        # Without one, the newer pages answer "Login pages unavailable".
        # https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-managed-login.html
        cognito.CfnManagedLoginBranding(
            self,
            "Branding",
            user_pool_id=user_pool.user_pool_id,
            client_id=self.client.user_pool_client_id,
            use_cognito_provided_values=True,
        )
