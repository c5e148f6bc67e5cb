"""What the pages tell of a deployment is what the templates have."""

import pytest

from benchmarks.running_costs import PAGE, idle_table
from docs.generate import README, UNDEPLOYED, permissions, section
from stackroom_local.sites.outputs import NAMES, STACKS
from tests.infra.assembly import Assembly
from tests.infra.opensearch import kept
from tests.infra.synthesis import deployment


def test_the_readmes_table_of_permissions_is_that_of_the_templates(assembly: Assembly) -> None:
    text = README.read_text("utf-8")
    templates = [assembly.template(stack) for stack in sorted(assembly.stacks)]

    assert section(text, "permissions") == permissions(templates), "run: make docs"


def test_what_a_month_costs_while_nobody_does_anything_is_counted_in_the_templates(
    assembly: Assembly,
) -> None:
    templates = [assembly.template(stack) for stack in assembly.stacks]

    assert idle_table(templates) in PAGE.read_text("utf-8"), "run: make bench-costs"


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


def test_every_output_that_the_command_line_reads_is_one_of_the_stacks(assembly: Assembly) -> None:
    told = {name for stack in STACKS for name in assembly.outputs(stack)}

    assert set(NAMES.values()) <= told
