"""docs/deploy.md names things that exist: a newcomer copies its lines as they stand."""

import json
import re

from infra.bundling import ROOT
from infra.gateway import KNOWLEDGE
from infra.outputs import report
from infra.tool_target import tools
from stackroom_local.sites.outputs import NAMES, STACKS
from tests.infra.assembly import Assembly

GUIDE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def test_the_guide_and_make_pin_the_same_cli() -> None:
    pins = set(re.findall(r"aws-cdk@([\d.]+)", GUIDE + MAKEFILE))

    assert len(pins) == 1


def test_every_setting_is_explained() -> None:
    context = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]

    settings = {name for name in context if not name.startswith("@")} - {"bundling"}

    assert settings == set(re.findall(r"^\| `(\w+)` \| [`\w.:-]+ \|", GUIDE, re.MULTILINE))


def test_every_stack_is_told_with_what_becomes_of_it(assembly: Assembly) -> None:
    rows = re.findall(r"^\| `stackroom-([\w-]+)` \| .* \| (stays|goes) \|$", GUIDE, re.MULTILINE)

    kept = {stack for stack, outcome in rows if outcome == "stays"}

    assert {stack for stack, _ in rows} == assembly.stacks
    assert kept == {"data", "knowledge-base"}


def test_every_alarm_is_explained(assembly: Assembly) -> None:
    explained = re.findall(r"`(…?[A-Z]\w+)`", GUIDE.split("| alarm |")[1].split("\n\n")[0])

    unexplained = {
        each.properties["AlarmName"]
        for each in assembly.all("operations", "AWS::CloudWatch::Alarm")
        if not each.properties["AlarmName"].endswith(tuple(name.lstrip("…") for name in explained))
    }

    assert unexplained == set()


def test_the_variables_of_the_guide_are_printed_by_the_deployment(assembly: Assembly) -> None:
    printed = report({stack: assembly.outputs(stack) for stack in assembly.stacks})

    exported = set(re.findall(r"(STACKROOM_\w+)=", printed))

    assert set(re.findall(r"\$(STACKROOM_\w+)", GUIDE)) == exported | {"STACKROOM_USER"}
    assert "STACKROOM_USER=$(" in GUIDE


def test_the_guide_asks_a_tool_that_there_is() -> None:
    names = {f"{KNOWLEDGE}___{tool['name']}" for tool in tools(KNOWLEDGE)}

    assert set(re.findall(rf"{KNOWLEDGE}___\w+", GUIDE)) == names


def test_every_output_that_the_command_line_reads_is_one_of_the_stacks(assembly: Assembly) -> None:
    told = {name for stack in STACKS for name in assembly.outputs(stack)}

    assert set(NAMES.values()) <= told
