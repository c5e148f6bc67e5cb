"""How people sign in, and how a signed-in person writes to the bucket without us in between."""

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_iam as iam
from constructs import Construct


class SignIn(Construct):
    """
    One app client for the pool, and an identity pool that turns its tokens into AWS credentials
    whose tag `user_id` is the token's `sub`: the uploader policy opens just that prefix.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        user_pool: cognito.UserPool,
        uploader_policy: iam.ManagedPolicy,
    ) -> None:
        super().__init__(scope, construct_id)
        # As the `iss` of tokens has it, without the scheme. Put together, because not every
        # CloudFormation knows the pool's attribute that says the same: the local one does not.
        region = cdk.Stack.of(self).region
        provider = f"cognito-idp.{region}.amazonaws.com/{user_pool.user_pool_id}"
        self.issuer = f"https://{provider}"
        self.client = cognito.UserPoolClient(
            self,
            "Client",
            user_pool=user_pool,
            # The second for operators, who get a user's token with their own AWS credentials.
            auth_flows=cognito.AuthFlow(user_srp=True, admin_user_password=True),
            disable_o_auth=True,
            generate_secret=False,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            access_token_validity=cdk.Duration.hours(1),
            id_token_validity=cdk.Duration.hours(1),
        )
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
