"""What the CDK writes of a deployment, and the names in it as they are in an account and region."""

import io
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Account:
    id: str
    region: str

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{self.region}:{self.id}:{resource}"

    def filled(self, pattern: str) -> str:
        """A text of the assembly's manifest, with what it holds places for."""
        places = {"Partition": "aws", "AccountId": self.id, "Region": self.region}
        for name, value in places.items():
            pattern = pattern.replace(f"${{AWS::{name}}}", value)
        return pattern

    def resolved(self, name: Any) -> str | None:
        """A name of a template; None where it refers to another resource."""
        if isinstance(name, str):
            return name
        pseudo = {"AWS::AccountId": self.id, "AWS::Region": self.region}
        parts = [
            each if isinstance(each, str) else pseudo.get(each.get("Ref"))
            for each in name.get("Fn::Join", ("", [{}]))[1]
        ]
        return None if None in parts else "".join(map(str, parts))


@dataclass(frozen=True)
class Model:
    """`id` is what it is called by: `foundation`, or an inference profile of that."""

    id: str
    foundation: str


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A deployment as its settings have it."""

    project: str
    models: tuple[Model, ...]
    stacks: Mapping[str, Mapping[str, Any]]  # the template of each
    bootstrap_parameter: str  # of SSM, which has the version of what `cdk bootstrap` made
    bootstrap_version: int  # that the stacks need at least
    execution_role: str  # of CloudFormation, by its ARN with `${AWS::AccountId}` and the like

    @property
    def ocr(self) -> bool:
        """True where a function asks Textract to read pages."""
        return any(
            "OCR" in resource["Properties"].get("Environment", {}).get("Variables", {})
            for _, _, resource in self.resources()
            if resource["Type"] == "AWS::Lambda::Function"
        )

    def resources(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Stack, logical id, and resource."""
        for stack, template in self.stacks.items():
            for logical_id, resource in template["Resources"].items():
                yield stack, logical_id, resource


def wanted(context: Mapping[str, str]) -> Wanted:
    """
    By cdk.json and this context, without the functions' packages; takes seconds.

    Raises ValueError for a setting that is wrong, naming it.
    """
    # Imported here: it starts Node, which whoever has no credentials need not wait for.
    from infra.app import build_app  # noqa: PLC0415 - see above
    from infra.deployment import Deployment  # noqa: PLC0415 - see above
    from stackroom_constructs.bedrock_model import TITAN  # noqa: PLC0415 - see above

    # The CDK tells of each function's folder, which is about nothing here.
    quiet = redirect_stderr(io.TextIOWrapper(io.BytesIO()))
    with tempfile.TemporaryDirectory() as folder, quiet:
        app = build_app(folder, {**context, "bundling": "none"})
        deployment = Deployment.from_context(app)
        app.synth()
        answering = (
            deployment.answer_model.model,
            *(deployment.console.models if deployment.console else ()),
        )
        embedding = () if deployment.is_managed else (Model(TITAN, TITAN),)
        models = dict.fromkeys((*embedding, *(Model(each.id, each.model) for each in answering)))
        return read(Path(folder), project=deployment.project, models=tuple(models))


def read(folder: Path, *, project: str, models: tuple[Model, ...]) -> Wanted:
    """A cloud assembly."""
    artifacts = json.loads((folder / "manifest.json").read_text("utf-8"))["artifacts"]
    stacks = {
        name: each["properties"]
        for name, each in artifacts.items()
        if each["type"] == "aws:cloudformation:stack"
    }
    [parameter] = {each["bootstrapStackVersionSsmParameter"] for each in stacks.values()}
    [role] = {each["cloudFormationExecutionRoleArn"] for each in stacks.values()}
    return Wanted(
        project=project,
        models=models,
        stacks={
            name: json.loads((folder / each["templateFile"]).read_text("utf-8"))
            for name, each in stacks.items()
        },
        bootstrap_parameter=parameter,
        bootstrap_version=max(each["requiresBootstrapStackVersion"] for each in stacks.values()),
        execution_role=role,
    )
