"""The examples synthesise without findings of cdk-nag, and the page lists the arguments."""

import importlib
from pathlib import Path

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from docs.constructs import CLASSES, PAGE, arguments_of, with_arguments

EXAMPLES = Path(__file__).parents[2] / "examples" / "constructs"
APPS = sorted(
    path.stem for path in EXAMPLES.glob("*.py") if "def build(" in path.read_text("utf-8")
)
OFFLINE = {"stackroom:bundling": "none"}


@pytest.fixture(autouse=True)
def _as_a_script_finds_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)


@pytest.mark.parametrize("name", APPS)
def test_example_deploys_a_function_without_cdk_nag_findings(name: str, tmp_path: Path) -> None:
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path), context=OFFLINE)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    importlib.import_module(name).build(app)

    [stack] = app.synth().stacks
    kinds = {each["Type"] for each in stack.template["Resources"].values()}
    assert "AWS::Lambda::Function" in kinds


def test_page_lists_the_arguments() -> None:
    text = PAGE.read_text("utf-8")

    assert with_arguments(text) == text, "run: make docs"
    assert all(map(arguments_of, CLASSES))
