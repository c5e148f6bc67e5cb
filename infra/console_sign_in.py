"""
How people sign in to the console: Cognito's own pages, by authorization code with PKCE.

The pages' domain is the gateway's (infra/sign_in.py): a user pool has one.
"""

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.sign_in_settings import SignInSettings

# Of the app [src/stackroom_console]; Cognito sends people back to these addresses and no other.
SIGNED_IN, SIGNED_OUT = "/sign-in/callback", "/sign-in"


class ConsoleSignIn(Construct):
    """A client for the console alone, without a secret: who holds its code needs the verifier."""

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
            **settings.of_client(user_srp=True),
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
            # As long as a session lasts before Cognito is asked again.
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
