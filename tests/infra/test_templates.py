"""What CloudFormation would refuse."""

from stackroom_local import project_files, synthesis
from tests.infra.assembly import KEPT, Assembly
from tests.infra.rules import broken, unknown

# What a template has at most. https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
LARGEST = 1_000_000


def test_no_template_breaks_a_rule_of_its_resources(assembly: Assembly) -> None:
    assert broken(assembly) == []


def test_no_template_names_an_action_or_value_that_is_none(assembly: Assembly) -> None:
    assert unknown(assembly) == []


def test_retained_resources_are_still_removed_after_a_failed_creation(
    assembly: Assembly, otherwise: Assembly
) -> None:
    policies = {
        (each.raw.get("DeletionPolicy", "Delete"), each.raw.get("UpdateReplacePolicy", "Delete"))
        for every in (assembly, otherwise)
        for stack in every.stacks
        for each in every.all(stack)
    }

    assert policies == {("Delete", "Delete"), (KEPT, "Retain")}


def test_templates_are_small_and_for_any_account(assembly: Assembly) -> None:
    manifest = (assembly.directory / "manifest.json").read_text("utf-8")

    assert all(path.stat().st_size < LARGEST for path in assembly.files)
    assert "aws://unknown-account/unknown-region" in manifest


def test_templates_that_are_kept_for_serving_are_what_infra_makes(assembly: Assembly) -> None:
    kept = project_files.ROOT / synthesis.TEMPLATES / "default"

    for name, text in synthesis.without_code(assembly.directory).items():
        assert (kept / name).read_text("utf-8") == text, "run: make templates"
