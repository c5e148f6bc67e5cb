"""The sign-in of people, and their AWS credentials to write to the bucket directly."""

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.deployment import Deployment


def identity_provider(user_pool: cognito.UserPool) -> str:
    """
    Return the `iss` of the pool's tokens, without the scheme.

    It is composed, because not every CloudFormation supports the pool's attribute with this value:
    the local one does not.
    """
    return f"cognito-idp.{cdk.Aws.REGION}.amazonaws.com/{user_pool.user_pool_id}"


class SignIn(Construct):
    """
    A public app client with Cognito's sign-in pages, and an identity pool for AWS credentials.

    The identity pool turns the client's tokens into credentials whose tag `user_id` is the token's
    `sub`: the uploader policy allows just that prefix.

    A program signs a person in by authorization code with PKCE and finds all addresses at
    `{issuer}/.well-known/openid-configuration`. Cognito can't require PKCE of a public client.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        user_pool: cognito.UserPool,
        uploader_policy: iam.ManagedPolicy,
    ) -> None:
        super().__init__(scope, construct_id)
        provider = identity_provider(user_pool)
        self.issuer = f"https://{provider}"
        self.client = cognito.UserPoolClient(
            self,
            "Client",
            user_pool=user_pool,
            # The second flow is for operators, who get a user's token with their own AWS
            # credentials.
            **deployment.sign_in.client_arguments(user_srp=True, admin_user_password=True),
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(authorization_code_grant=True),
                # A client without configured scopes requests all that the issuer's discovery lists,
                # which
                # are these, and is refused if the app client lacks one.
                scopes=[
                    cognito.OAuthScope.OPENID,
                    cognito.OAuthScope.EMAIL,
                    cognito.OAuthScope.PHONE,
                    cognito.OAuthScope.PROFILE,
                ],
                callback_urls=list(deployment.callback_urls),
            ),
            generate_secret=False,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            access_token_validity=cdk.Duration.hours(1),
            id_token_validity=cdk.Duration.hours(1),
        )
        self._pages(deployment, user_pool)
        self.identity_pool = cognito.CfnIdentityPool(
            self,
            "IdentityPool",
            allow_unauthenticated_identities=False,
            allow_classic_flow=False,
            cognito_identity_providers=[
                cognito.CfnIdentityPool.CognitoIdentityProviderProperty(
                    client_id=self.client.user_pool_client_id,
                    provider_name=provider,
                    server_side_token_check=True,
                )
            ],
        )
        cognito.CfnIdentityPoolPrincipalTag(
            self,
            "UserIdTag",
            identity_pool_id=self.identity_pool.ref,
            identity_provider_name=provider,
            principal_tags={"user_id": "sub"},
            use_defaults=False,
        )
        cognito.CfnIdentityPoolRoleAttachment(
            self,
            "Roles",
            identity_pool_id=self.identity_pool.ref,
            roles={"authenticated": self._uploader(uploader_policy).role_arn},
        )

    def _pages(self, deployment: Deployment, user_pool: cognito.UserPool) -> None:
        """Set up managed login, which shows nothing to a client without a style."""
        cognito.UserPoolDomain(
            self,
            "Domain",
            user_pool=user_pool,
            # Unique in the region over all accounts.
            cognito_domain=cognito.CognitoDomainOptions(
                domain_prefix=f"{deployment.project}-{cdk.Aws.ACCOUNT_ID}"
            ),
            managed_login_version=cognito.ManagedLoginVersion.NEWER_MANAGED_LOGIN,
        )
        cognito.CfnManagedLoginBranding(
            self,
            "Style",
            user_pool_id=user_pool.user_pool_id,
            client_id=self.client.user_pool_client_id,
            use_cognito_provided_values=True,
        )

    def _uploader(self, policy: iam.ManagedPolicy) -> iam.Role:
        signed_in = {
            "StringEquals": {"cognito-identity.amazonaws.com:aud": self.identity_pool.ref},
            "ForAnyValue:StringLike": {"cognito-identity.amazonaws.com:amr": "authenticated"},
        }
        return iam.Role(
            self,
            "Uploader",
            assumed_by=iam.FederatedPrincipal(
                "cognito-identity.amazonaws.com", signed_in, "sts:AssumeRoleWithWebIdentity"
            ).with_session_tags(),
            managed_policies=[policy],
        )
