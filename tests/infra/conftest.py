import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.infra.assembly import Assembly

# Before the CDK is imported: it reads both once.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
os.environ["CDK_VALIDATION"] = "false"

Synthesised = Callable[..., Assembly]


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """Everything, synthesised once: a finding of cdk-nag without acknowledgment fails it."""
    # Importing the CDK starts a Node process, which no other test has a use for.
    import aws_cdk as cdk  # noqa: PLC0415
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

    from infra.app import build_app  # noqa: PLC0415

    directory: Path = tmp_path_factory.mktemp("cdk")
    app = build_app(str(directory))
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return Assembly(directory)


@pytest.fixture(scope="module")
def synthesised(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """By a context: a finding of cdk-nag without acknowledgment fails it."""
    import aws_cdk as cdk  # noqa: PLC0415 - starts a Node process
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

    from infra.app import build_app  # noqa: PLC0415

    def one(**context: str) -> Assembly:
        directory: Path = tmp_path_factory.mktemp("chosen")
        app = build_app(str(directory), context)
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        app.synth()
        return Assembly(directory)

    return one
