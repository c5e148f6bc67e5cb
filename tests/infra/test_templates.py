"""Rules of CloudFormation that the templates must follow."""

from stackroom_local import project_files, synthesis
from tests.infra.assembly import KEPT, Assembly
from tests.infra.rules import rule_violations, unknown_values

# The limit of a template.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
MAX_BYTES = 1_000_000


def test_templates_break_no_rule_of_their_resources(assembly: Assembly) -> None:
    assert rule_violations(assembly) == []


def test_templates_name_known_actions_and_values(assembly: Assembly) -> None:
    assert unknown_values(assembly) == []


def test_retained_resources_are_still_removed_after_a_failed_creation(
    assembly: Assembly, customised: Assembly
) -> None:
    policies = {
        (each.raw.get("DeletionPolicy", "Delete"), each.raw.get("UpdateReplacePolicy", "Delete"))
        for every in (assembly, customised)
        for stack in every.stacks
        for each in every.all(stack)
    }

    assert policies == {("Delete", "Delete"), (KEPT, "Retain")}


def test_templates_are_within_the_size_limit_and_account_agnostic(assembly: Assembly) -> None:
    manifest = (assembly.directory / "manifest.json").read_text("utf-8")

    assert all(path.stat().st_size < MAX_BYTES for path in assembly.files)
    assert "aws://unknown-account/unknown-region" in manifest


def test_saved_templates_match_infra(assembly: Assembly) -> None:
    saved = project_files.ROOT / synthesis.TEMPLATES / "default"

    for name, text in synthesis.without_code(assembly.directory).items():
        assert (saved / name).read_text("utf-8") == text, "run: make templates"
