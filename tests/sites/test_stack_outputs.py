"""A deployment is known by the outputs of its stacks, and by no others."""

import json
from pathlib import Path

import pytest

from stackroom.errors import ValidationError
from stackroom_cli.deployments import NAMES, load_from_file
from stackroom_cli.sites.site import AwsSite
from stackroom_cli.sites.site_errors import IncompatibleOutputs
from tests.sites.conftest import OUTPUTS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "outputs.json"


def test_a_file_of_outputs_tells_all_of_a_deployment(path: Path, site: AwsSite) -> None:
    path.write_text(json.dumps(OUTPUTS))

    assert load_from_file("prod", path) == site


@pytest.mark.parametrize("missing", NAMES.values())
def test_outputs_of_another_version_are_told_by_what_they_lack(path: Path, missing: str) -> None:
    others = {
        stack: {name: value for name, value in outputs.items() if name != missing}
        for stack, outputs in OUTPUTS.items()
    }
    path.write_text(json.dumps(others))

    with pytest.raises(
        IncompatibleOutputs, match=rf"\({missing} missing\); deploy this version with"
    ):
        load_from_file("prod", path)


@pytest.mark.parametrize("name", ["../x", "x" * 65])
def test_a_name_that_can_name_no_file_is_refused(path: Path, name: str) -> None:
    path.write_text(json.dumps(OUTPUTS))

    with pytest.raises(ValidationError, match="is not a deployment's name"):
        load_from_file(name, path)
