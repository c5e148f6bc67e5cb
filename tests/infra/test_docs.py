"""What the pages tell of a deployment is what the templates have."""

import json
import re

import pytest

from docs.generate import README, UNDEPLOYED, permissions, section
from infra.outputs import report
from stackroom_local.sites.outputs import NAMES, STACKS
from tests.infra.assembly import Assembly
from tests.infra.opensearch import kept
from tests.infra.synthesis import ROOT, deployment

GUIDE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
CLIENTS = (ROOT / "docs" / "clients.md").read_text("utf-8")


def test_the_readmes_table_of_permissions_is_that_of_the_templates(assembly: Assembly) -> None:
    text = README.read_text("utf-8")
    templates = [assembly.template(stack) for stack in sorted(assembly.stacks)]

    assert section(text, "permissions") == permissions(templates), "run: make docs"


@pytest.mark.parametrize("function", ["prewarm", "opensearch_retrieve"])
def test_the_readme_tells_the_rights_of_what_is_not_deployed_by_itself(function: str) -> None:
    assembly = deployment("warmed")
    alone = kept()

    templates = [each.template(stack) for each in (assembly, alone) for stack in each.stacks]
    [row] = [
        line for line in permissions(templates).splitlines() if line.startswith(f"| `{function}` |")
    ]

    rights = row.split("|")[2].strip()
    assert UNDEPLOYED[function].startswith(f"{rights}, ")


def test_the_page_of_clients_names_the_versions_that_the_gateway_takes(assembly: Assembly) -> None:
    [named] = re.findall(r"^- The gateway takes MCP of (.+), no other\.$", CLIENTS, re.MULTILINE)
    gateway = assembly.one("gateway", "AWS::BedrockAgentCore::Gateway").properties

    taken = gateway["ProtocolConfiguration"]["Mcp"]["SupportedVersions"]

    assert re.findall(r"\d{4}-\d\d-\d\d", named) == taken


def test_the_guide_explains_every_setting() -> None:
    context = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]

    settings = {name for name in context if not name.startswith("@")} - {"bundling"}

    assert settings == set(re.findall(r"^\| `(\w+)` \| [`\w.:-]+ \|", GUIDE, re.MULTILINE))


def test_the_guide_tells_what_becomes_of_every_stack_and_explains_every_alarm(
    assembly: Assembly,
) -> None:
    rows = re.findall(r"^\| `stackroom-([\w-]+)` \| .* \| (stays|goes) \|$", GUIDE, re.MULTILINE)
    explained = re.findall(r"`(…?[A-Z]\w+)`", GUIDE.split("| alarm |")[1].split("\n\n")[0])
    alarms = [
        each.properties["AlarmName"]
        for each in assembly.all("operations", "AWS::CloudWatch::Alarm")
    ]

    assert {stack for stack, _ in rows} == assembly.stacks
    stays = {stack for stack, outcome in rows if outcome == "stays"}
    assert stays == {"data", "knowledge-base"}
    endings = tuple(name.lstrip("…") for name in explained)
    assert [name for name in alarms if not name.endswith(endings)] == []


def test_a_deployment_prints_the_variables_of_the_guide(assembly: Assembly) -> None:
    printed = report({stack: assembly.outputs(stack) for stack in assembly.stacks})

    exported = set(re.findall(r"(STACKROOM_\w+)=", printed))

    assert set(re.findall(r"\$(STACKROOM_\w+)", GUIDE)) == exported | {"STACKROOM_USER"}
    assert "bucket           stackroom-kb-docs-{account}-{region}" in printed
    assert "admin-create-user" in printed


def test_every_output_that_the_command_line_reads_is_one_of_the_stacks(assembly: Assembly) -> None:
    told = {name for stack in STACKS for name in assembly.outputs(stack)}

    assert set(NAMES.values()) <= told
