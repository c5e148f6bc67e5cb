from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.infra.assembly import Assembly
from tests.infra.synthesis import synthesise_once

if TYPE_CHECKING:
    import aws_cdk as cdk


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here `processes`, because the first one starts the CDK's process."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("processes")


@pytest.fixture
def stack() -> "cdk.Stack":
    """A stack that is not synthesised."""
    import aws_cdk as cdk  # noqa: PLC0415 - starts a Node process

    return cdk.Stack(cdk.App(analytics_reporting=False), "Stack")


@pytest.fixture(scope="session")
def created() -> Assembly:
    """Knowledge bases created in every way, synthesised with cdk-nag, and cached."""

    def make(directory: Path) -> None:
        import aws_cdk as cdk  # noqa: PLC0415 - starts a Node process
        from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

        from tests.constructs.made import make_all  # noqa: PLC0415

        app = cdk.App(outdir=str(directory), analytics_reporting=False)
        make_all(app)
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        app.synth()

    return Assembly(
        synthesise_once("constructs", make, files=[Path(__file__).with_name("made.py")]), "made"
    )
