"""Steps at the gateway's door: who comes in, what they are offered, and how others are refused."""

import base64
import json
from typing import Any

import httpx
from botocore.exceptions import ClientError

from stackroom.aws.translation import code_of, message_of
from stackroom.catalog_tools.tools import TOOLS
from stackroom.identity import GROUPS_HEADER, SESSION_HEADER, USER_HEADER
from stackroom_local.gateway.client import list_tools
from stackroom_local.smoke.scene import Finding, Scene, StepFailed, Told, Verdict

_SECONDS = 60.0
_OK, _UNAUTHORIZED = 200, 401
_OURS = "send one JSON-RPC message at a time"  # what the interceptor says of a batch
_RETRIEVE = "knowledge___knowledge_base_retrieve"


def people(scene: Scene) -> Told:
    scene.enter()
    return Told(f"{scene.owner.user_id} and {scene.other.user_id} are signed in")


def tools(scene: Scene) -> Told:
    offered = {each["name"] for each in list_tools(scene.site.mcp_url, scene.owner.token)}
    wanted = {_RETRIEVE, *(f"catalogs___{each.name}" for each in TOOLS)}
    seen = f"tools/list gives {len(offered)} tools"
    missing = ", ".join(sorted(wanted - offered))
    findings = (Finding.of("policy.username-tag", seen, holds=not missing),)
    return Told(f"{seen}, without {missing}" if missing else seen, findings)


def refusals(scene: Scene) -> Told:
    stranger, denied = post(scene, "no-token", {}), post(scene, scene.owner.token, [_LIST])
    direct = _invoked(scene)
    if stranger.status_code != _UNAUTHORIZED:
        raise StepFailed(f"a bad token is answered {stranger.status_code} instead of 401")
    body = f"a bad token: 401, {_shown(stranger)}"
    findings = (
        Finding.of("gateway.unauthorized-body", body, holds=bool(stranger.text.strip())),
        _of_denial(denied),
        Finding.of("function.resource-deny", direct, holds=direct.startswith("AccessDenied")),
    )
    return Told(f"a bad token, a batch and a direct invocation are refused: {direct}", findings)


_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def _of_denial(answer: httpx.Response) -> Finding:
    seen = f"a batch: {answer.status_code}, {_shown(answer)}"
    if _OURS in answer.text:
        return Finding("gateway.denial-body", Verdict.CONFIRMED, seen)
    if answer.text.strip():  # the gateway's own, which did not ask the interceptor
        return Finding("gateway.denial-body", Verdict.NOT_SEEN, seen)
    return Finding("gateway.denial-body", Verdict.REFUTED, seen)


def post(scene: Scene, token: str, body: Any, **others: str) -> httpx.Response:
    """Bare, with other headers than a client's own."""
    headers = {
        **others,
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    return httpx.post(scene.site.mcp_url, headers=headers, json=body, timeout=_SECONDS)


def _invoked(scene: Scene) -> str:
    """What a tool's function answers an operator who forges what the gateway sends."""
    headers = {USER_HEADER: scene.owner.user_id, GROUPS_HEADER: ",", SESSION_HEADER: "-"}
    context = {
        "custom": {
            "bedrockAgentCoreToolName": _RETRIEVE,
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
    return f"it was answered: {answer['Payload'].read().decode()[:200]}"


def _shown(answer: httpx.Response) -> str:
    return answer.text.strip()[:200] or "no body"
