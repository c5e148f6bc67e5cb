"""The pages agree with the templates."""

import re

import pytest

from benchmarks.running_costs import PAGE, idle_table, vectors_written
from stackroom_cli.deployments import NAMES, STACKS
from tests.campaigns.permissions.report import DOCUMENT
from tests.campaigns.permissions.roles import roles
from tests.infra.assembly import Assembly
from tests.infra.opensearch import cached_assembly


def test_idle_monthly_cost_table_matches_the_templates(
    assembly: Assembly,
) -> None:
    templates = [assembly.template(stack) for stack in assembly.stacks]

    assert idle_table(templates) in PAGE.read_text("utf-8"), "run: make bench-costs"


def test_small_document_written_alone_is_billed_for_128_kb_of_vectors() -> None:
    together, alone = vectors_written(1_000), vectors_written(1_000, writes=1_000)

    assert together == pytest.approx(0.012, abs=5e-4)
    assert alone == pytest.approx(0.0262, abs=5e-5)


def test_page_names_exactly_the_rights_granted_to_opensearch_retrieve() -> None:
    sentence = re.search(r"`opensearch-retrieve`[^;]*? may ([^;.]*)", DOCUMENT.read_text("utf-8"))
    granted = {each.action for each in roles(cached_assembly())["opensearch-retrieve"].used_by_code}
    assert sentence is not None
    assert set(re.findall(r"`([a-z0-9]+:\w+)`", sentence[1])) == granted


def test_stacks_have_every_output_that_the_command_line_reads(assembly: Assembly) -> None:
    outputs = {name for stack in STACKS for name in assembly.outputs(stack)}

    assert set(NAMES.values()) <= outputs
