"""Steps at the gateway: who is let in, which tools are offered, and how others are refused."""

import base64
import json
from collections.abc import Sequence

import httpx
from botocore.exceptions import ClientError

from stackroom.access.identity import GROUPS_HEADER, SESSION_HEADER, USER_HEADER
from stackroom.access.interception import Malformed
from stackroom.aws.error_mapping import code_of, message_of
from stackroom.tools.tools import TOOLS
from stackroom_cli.sites.site import Site
from stackroom_cli.smoke.scene import (
    AssumptionVerdict,
    Finding,
    Scene,
    SmokeUser,
    StepFailed,
    StepOutcome,
    claims_of,
)
from stackroom_client.calls import SEARCH

_SECONDS = 60.0
_UNAUTHORIZED = 401
_ANSWERED = "it was answered: "
# https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
_DENIED_BY_FUNCTION = "with an explicit deny in a resource-based policy"


def people(scene: Scene) -> StepOutcome:
    scene.enter()
    text = f"{scene.owner.user_id} and {scene.other.user_id} are signed in"
    by_a_person = "a person signs in with an MCP client (docs/sign-in.md)"
    findings = (
        of_rotation(scene.site, scene.owner),
        Finding("cognito.resource-audience", AssumptionVerdict.NOT_SEEN, by_a_person),
    )
    return StepOutcome(text, findings)


def of_rotation(site: Site, user: SmokeUser) -> Finding:
    """Exchange the user's refresh token twice, as a client does that lost the first response."""
    name = "refresh.session"
    if user.refresh_token is None:
        return Finding(name, AssumptionVerdict.NOT_SEEN, "the local issuer minted the token")
    request = {"ClientId": site.client_id, "RefreshToken": user.refresh_token}
    try:
        answers = [
            site.client("cognito-idp").get_tokens_from_refresh_token(**request) for _ in range(2)
        ]
    except ClientError as error:
        # Of a sign-in by ADMIN_NO_SRP_AUTH somebody saw so: aws-sdk-js-v3 7162, 2025-06.
        return Finding(name, AssumptionVerdict.NOT_SEEN, f"{code_of(error)}: {message_of(error)}")
    tokens = [each["AuthenticationResult"] for each in answers]
    sessions = {claims_of(each["AccessToken"]).get("origin_jti") for each in tokens}
    rotated = sum("RefreshToken" in each for each in tokens)
    seen = f"two refreshes with one token give {len(sessions)} origin_jti and {rotated} new tokens"
    holds = sessions == {claims_of(user.token).get("origin_jti")}
    return Finding.of(name, seen, holds=holds)


def tools(scene: Scene) -> StepOutcome:
    offered = {each["name"] for each in scene.owner.client.tools()}
    wanted = {SEARCH, *(f"catalogs___{each.name}" for each in TOOLS)}
    seen = f"tools/list gives {len(offered)} tools"
    missing = ", ".join(sorted(wanted - offered))
    findings = (Finding.of("policy.username-tag", seen, holds=not missing),)
    return StepOutcome(f"{seen}, without {missing}" if missing else seen, findings)


def refusals(scene: Scene) -> StepOutcome:
    stranger = post(scene, "no-token", "{}")
    denied = [post(scene, scene.owner.token, each) for each in _DENIED]
    direct = _invoked(scene)
    if stranger.status_code != _UNAUTHORIZED:
        raise StepFailed(f"a bad token is answered {stranger.status_code} instead of 401")
    findings = (
        Finding.of("gateway.unauthorized-body", _shown(stranger), holds=bool(stranger.text)),
        _of_denials(denied),
        of_direct(direct),
    )
    return StepOutcome(
        f"a bad token, a batch and a direct invocation are refused: {direct}", findings
    )


def of_direct(seen: str) -> Finding:
    """
    Judge a direct invocation.

    An operator without lambda:InvokeFunction is refused whatever the function's policy says.
    """
    name = "function.resource-deny"
    if _ANSWERED in seen or _DENIED_BY_FUNCTION in seen:
        return Finding.of(name, seen, holds=_ANSWERED not in seen)
    return Finding(name, AssumptionVerdict.NOT_SEEN, seen)


# What the interceptor refuses with a good token, unless the gateway itself was the sooner: a batch,
# and a number that no JSON of ours can say again.
_LIST = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
_DENIED = (f"[{_LIST}]", _LIST.replace("1,", "1e999,"))
_OURS = ("Not authorised", Malformed.reason)


def _of_denials(answers: Sequence[httpx.Response]) -> Finding:
    seen = "; ".join(map(_shown, answers))
    if not all(each.text.strip() for each in answers):
        return Finding("gateway.denial-body", AssumptionVerdict.REFUTED, seen)
    has_reason = any(text in each.text for each in answers for text in _OURS)
    return Finding(
        "gateway.denial-body",
        AssumptionVerdict.CONFIRMED if has_reason else AssumptionVerdict.NOT_SEEN,
        seen,
    )


def post(scene: Scene, token: str, content: str, **others: str) -> httpx.Response:
    """Send JSON with headers other than the client's own."""
    headers = {
        **others,
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2025-11-25",
    }
    return httpx.post(scene.site.mcp_url, headers=headers, content=content, timeout=_SECONDS)


def _invoked(scene: Scene) -> str:
    """Return a tool function's answer to an operator who forges the gateway's headers."""
    headers = {USER_HEADER: scene.owner.user_id, GROUPS_HEADER: ",", SESSION_HEADER: "-"}
    context = {
        "custom": {
            "bedrockAgentCoreToolName": SEARCH,
            "bedrockAgentCorePropagatedHeaders": headers,
        }
    }
    try:
        answer = scene.site.client("lambda").invoke(
            FunctionName=f"{scene.site.project}-retrieve",
            ClientContext=base64.b64encode(json.dumps(context).encode()).decode(),
            Payload=json.dumps({"query": "who is there?"}).encode(),
        )
    except ClientError as error:
        return f"{code_of(error)}: {message_of(error)}"
    return f"{_ANSWERED}{answer['Payload'].read().decode()[:200]}"


def _shown(answer: httpx.Response) -> str:
    return f"{answer.status_code}, {answer.text.strip()[:200] or 'no body'}"
