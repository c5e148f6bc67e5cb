"""How people prove who they are, and how long a refresh token holds: from the context."""

from dataclasses import dataclass
from typing import Any, Self

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito

# As long as Cognito allows: an answer that got lost can be asked for once more.
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
    threat_protection: cognito.StandardThreatProtectionMode | None  # None: there is none

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        return cls(
            rotates_refresh_tokens=_chosen(
                app, "refresh_token_rotation", {"on": True, "off": False}
            ),
            mfa=_chosen(app, "mfa", _MFA),
            threat_protection=_chosen(app, "threat_protection", _THREATS),
        )

    @property
    def of_pool(self) -> dict[str, Any]:
        """
        Arguments of the user pool. A second factor is an app's code: text messages cost, and need
        an identity of their own. Threat protection is of the Plus plan.
        https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-sign-in-feature-plans.html
        """
        found: dict[str, Any] = {"mfa": self.mfa}
        if self.mfa is not cognito.Mfa.OFF:
            found["mfa_second_factor"] = cognito.MfaSecondFactor(sms=False, otp=True)
        if self.threat_protection is not None:
            found["feature_plan"] = cognito.FeaturePlan.PLUS
            found["standard_threat_protection_mode"] = self.threat_protection
        return found

    def of_client(self, **flows: bool) -> dict[str, Any]:
        """
        Arguments of an app client that takes these flows. Cognito has no rotation beside its flow
        REFRESH_TOKEN_AUTH, which a client that names no flow has, too.
        https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-refresh-token.html
        """
        grace = _GRACE if self.rotates_refresh_tokens else None
        return {
            "auth_flows": cognito.AuthFlow(**flows),
            "refresh_token_rotation_grace_period": grace,
        }


def _chosen(app: cdk.App, name: str, choices: dict[str, Any]) -> Any:
    told = app.node.get_context(name)
    if told not in choices:
        allowed = ", ".join(map(repr, choices))
        raise ValueError(f"context {name} {told!r} must be one of {allowed}")
    return choices[told]
