"""The TypeScript SDK's client, unmodified, for somebody who signed in before."""

import json
import os
import subprocess
from pathlib import Path

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.clients.clients import NPM
from tests.clients.environments import installed
from tests.gateway.flow import Flow
from tests.gateway.serving import TOOL, RunningGateway

_SCRIPT = Path(__file__).with_name("typescript-client.mjs")


def test_a_client_of_the_typescript_sdk_refreshes_an_expired_token_by_itself(
    gateway: RunningGateway,
) -> None:
    tokens = Flow(gateway=gateway).tokens("frank", "staff")
    expired = gateway.issuer.mint("frank", lifetime_seconds=-60)
    given = {"url": gateway.url, "tool": TOOL, "client": {"client_id": CLIENT_ID}}

    run = subprocess.run(
        ["node", "--input-type=module", "--eval", _SCRIPT.read_text("utf-8")],
        cwd=installed(NPM.name),  # where it finds what it imports
        input=json.dumps({**given, "tokens": {**tokens, "access_token": expired}}),
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    seen = json.loads(told["text"])["custom"]["bedrockAgentCorePropagatedHeaders"]
    assert (seen["x-user-sub"], seen["x-user-groups"]) == ("frank", "staff")
    assert told["tokens"]["refresh_token"] != tokens["refresh_token"]
