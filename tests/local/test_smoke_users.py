"""The users of a smoke run, in a user pool that rotates tokens."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import boto3
import jwt
import pytest

from stackroom_cli.smoke.gateway_steps import of_rotation
from stackroom_cli.smoke.scene import AssumptionVerdict, StepFailed, made
from tests.workflow.answering import answered


@dataclass
class Pool:
    """Cognito as its API reference has it."""

    sessions: list[str]  # of the tokens, in their order; the last is that of all later ones
    asks_for: str = ""  # besides the password

    def answer(self, operation: Any, asked: dict[str, Any]) -> dict[str, Any]:
        match operation.name:
            case "AdminInitiateAuth":
                if self.asks_for:
                    return {"ChallengeName": self.asks_for}
                return {"AuthenticationResult": self._tokens()}
            case "GetTokensFromRefreshToken":
                return {"AuthenticationResult": self._tokens()}
        return {}

    def _tokens(self) -> dict[str, str]:
        session = self.sessions.pop(0) if len(self.sessions) > 1 else self.sessions[0]
        token = jwt.encode({"sub": "u-1", "origin_jti": session}, "k" * 32)
        return {"AccessToken": token, "RefreshToken": f"r-{len(token)}"}


def a_site(cognito: Any) -> Any:
    return SimpleNamespace(
        client=lambda _service: cognito, issuer="https://cognito/eu-west-1_abc", client_id="c-1"
    )


@pytest.mark.parametrize(
    ("sessions", "verdict"),
    [
        (["s-1"], AssumptionVerdict.CONFIRMED),
        (["s-1", "s-2"], AssumptionVerdict.REFUTED),
    ],
)
def test_smoke_user_signs_in_and_refreshes(
    sessions: list[str], verdict: AssumptionVerdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    pool = Pool(sessions)
    cognito = boto3.client("cognito-idp", region_name="eu-west-1")

    with answered(pool.answer, cognito):
        user = made(a_site(cognito), "smoke-a", "smokers")
        found = of_rotation(a_site(cognito), user)

    assert user.user_id == "u-1"
    assert found.verdict is verdict, found


def test_smoke_user_of_a_pool_that_requires_a_second_factor_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    cognito = boto3.client("cognito-idp", region_name="eu-west-1")

    with (
        answered(Pool(["s-1"], asks_for="MFA_SETUP").answer, cognito),
        pytest.raises(StepFailed, match="MFA_SETUP, too; deploy without mfa=required"),
    ):
        made(a_site(cognito), "smoke-a", "smokers")
