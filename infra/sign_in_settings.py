"""
The settings of sign-in: refresh tokens, second factor and threat protection, from the CDK context.
"""

from dataclasses import dataclass
from typing import Any, Self

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito

from infra.contexts import choice

# The longest that Cognito allows: a response that got lost can be requested again.
# https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_RefreshTokenRotationType.html
_GRACE = cdk.Duration.seconds(60)

_MFA = {
    "off": cognito.Mfa.OFF,
    "optional": cognito.Mfa.OPTIONAL,
    "required": cognito.Mfa.REQUIRED,
}
_THREATS = {
    "off": None,
    "audit": cognito.StandardThreatProtectionMode.AUDIT_ONLY,
    "enforced": cognito.StandardThreatProtectionMode.FULL_FUNCTION,
}


@dataclass(frozen=True, kw_only=True)
class SignInSettings:
    rotates_refresh_tokens: bool
    mfa: cognito.Mfa
    threat_protection: cognito.StandardThreatProtectionMode | None  # None: off

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        return cls(
            rotates_refresh_tokens=choice(app, "refresh_token_rotation", ("on", "off")) == "on",
            mfa=_MFA[choice(app, "mfa", tuple(_MFA))],
            threat_protection=_THREATS[choice(app, "threat_protection", tuple(_THREATS))],
        )

    @property
    def pool_arguments(self) -> dict[str, Any]:
        """
        The arguments of the user pool.

        The second factor is an authenticator app: text messages cost money and need an identity of
        their own. Threat protection requires the Plus plan.
        https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-sign-in-feature-plans.html
        """
        arguments: dict[str, Any] = {"mfa": self.mfa}
        if self.mfa is not cognito.Mfa.OFF:
            arguments["mfa_second_factor"] = cognito.MfaSecondFactor(sms=False, otp=True)
        if self.threat_protection is not None:
            arguments["feature_plan"] = cognito.FeaturePlan.PLUS
            arguments["standard_threat_protection_mode"] = self.threat_protection
        return arguments

    def client_arguments(self, **flows: bool) -> dict[str, Any]:
        """
        Return the arguments of an app client with these flows.

        Cognito rotates refresh tokens only without its flow REFRESH_TOKEN_AUTH, which is also in
        the default flows.
        https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-refresh-token.html
        """
        grace = _GRACE if self.rotates_refresh_tokens else None
        return {
            "auth_flows": cognito.AuthFlow(**flows),
            "refresh_token_rotation_grace_period": grace,
        }
