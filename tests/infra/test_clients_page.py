"""docs/clients.md says which versions of MCP the deployed gateway takes."""

import re

from infra.bundling import ROOT
from tests.infra.assembly import Assembly

PAGE = (ROOT / "docs" / "clients.md").read_text("utf-8")


def test_the_page_names_the_versions_that_the_gateway_takes(assembly: Assembly) -> None:
    [named] = re.findall(r"^- The gateway takes MCP of (.+), no other\.$", PAGE, re.MULTILINE)
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway").properties

    taken = gateway["ProtocolConfiguration"]["Mcp"]["SupportedVersions"]

    assert re.findall(r"\d{4}-\d\d-\d\d", named) == taken
