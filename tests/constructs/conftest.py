import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.infra.assembly import Assembly

if TYPE_CHECKING:
    import aws_cdk as cdk

# Before the CDK is imported: it reads both once.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
os.environ["CDK_VALIDATION"] = "false"


@pytest.fixture
def stack() -> "cdk.Stack":
    """To make something in that is not synthesised."""
    import aws_cdk as cdk  # noqa: PLC0415 - starts a Node process

    return cdk.Stack(cdk.App(analytics_reporting=False), "Stack")


@pytest.fixture(scope="session")
def created(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """Knowledge bases made in every way, synthesised once, with cdk-nag watching."""
    import aws_cdk as cdk  # noqa: PLC0415 - starts a Node process
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

    from tests.constructs.made import make_all  # noqa: PLC0415

    directory: Path = tmp_path_factory.mktemp("constructs")
    app = cdk.App(outdir=str(directory), analytics_reporting=False)
    make_all(app)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return Assembly(directory, "made")
