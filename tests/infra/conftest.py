import os
from pathlib import Path

import pytest

# Before the CDK is imported: it reads both once.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
os.environ["CDK_VALIDATION"] = "false"

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.app import build_app
from tests.infra.assembly import Assembly


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """Everything, synthesised once: a finding of cdk-nag without acknowledgment fails it."""
    directory: Path = tmp_path_factory.mktemp("cdk")
    app = build_app(str(directory))
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return Assembly(directory)
