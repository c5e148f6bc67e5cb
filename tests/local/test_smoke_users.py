"""The users of a smoke run, in a user pool that requires a second factor and rotates tokens."""

import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import boto3
import jwt
import pytest

from stackroom_cli.smoke.gateway_steps import of_rotation
from stackroom_cli.smoke.scene import AssumptionVerdict, made, one_time_code
from tests.workflow.answering import answered

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
SESSION = "of the first factor alone"


@dataclass
class Pool:
    """Cognito as its API reference has it: no tokens before the second factor is verified."""

    sessions: list[str]  # of the tokens, in their order; the last is that of all later ones
    verified: bool = False

    def answer(self, operation: Any, asked: dict[str, Any]) -> dict[str, Any]:
        match operation.name:
            case "AdminInitiateAuth":
                return {"ChallengeName": "MFA_SETUP", "Session": SESSION}
            case "AssociateSoftwareToken":
                assert asked["Session"] == SESSION
                return {"SecretCode": SECRET, "Session": SESSION}
            case "VerifySoftwareToken":
                around = (time.time() - 30, time.time())
                assert asked["UserCode"] in {one_time_code(SECRET, at) for at in around}
                self.verified = True
                return {"Status": "SUCCESS", "Session": SESSION}
            case "AdminRespondToAuthChallenge":
                assert self.verified
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
def test_smoke_user_sets_up_second_factor_and_refreshes(
    sessions: list[str], verdict: AssumptionVerdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    pool = Pool(sessions)
    cognito = boto3.client("cognito-idp", region_name="eu-west-1")

    with answered(pool.answer, cognito):
        user = made(a_site(cognito), "smoke-a", "smokers")
        found = of_rotation(a_site(cognito), user)

    assert (user.user_id, pool.verified) == ("u-1", True)
    assert found.verdict is verdict, found


@pytest.mark.parametrize(("at", "code"), [(59, "287082"), (1111111109, "081804")])
def test_one_time_code_is_that_of_the_specification(at: int, code: str) -> None:
    # https://datatracker.ietf.org/doc/html/rfc6238#appendix-B, the last six digits
    assert one_time_code(SECRET, at) == code
