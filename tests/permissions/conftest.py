"""An assembly of one small function, as CloudFormation has it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.infra.assembly import Assembly
from tests.permissions.roles import Role, roles

MakeRole = Callable[..., Role]


@pytest.fixture
def role_of(tmp_path: Path) -> MakeRole:
    """The role of a function `reader` with these statements, over a bucket that denies those."""

    def made(*statements: dict[str, Any], denied: tuple[dict[str, Any], ...] = ()) -> Role:
        role = {"Fn::GetAtt": ["Role", "Arn"]}
        policy = {"PolicyDocument": {"Statement": statements}, "Roles": [{"Ref": "Role"}]}
        resources = {
            "Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "reads"}},
            "Policy": {"Type": "AWS::IAM::Policy", "Properties": policy},
            "Function": {
                "Type": "AWS::Lambda::Function",
                "Properties": {"FunctionName": "stackroom-reader", "Role": role},
            },
        }
        bucket = {"PolicyDocument": {"Statement": denied}}
        data = {"Policy": {"Type": "AWS::S3::BucketPolicy", "Properties": bucket}}
        for stack, made in {"pipeline": resources, "data": data}.items():
            file = tmp_path / f"stackroom-{stack}.template.json"
            file.write_text(json.dumps({"Resources": made}))
        return roles(Assembly(tmp_path))["reader"]

    return made
