"""The synthesised templates of a deployment."""

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


@dataclass(frozen=True)
class Model:
    """A model; `id` is the id to call it by: `foundation`, or an inference profile of it."""

    id: str
    foundation: str


@dataclass(frozen=True, kw_only=True)
class PlannedDeployment:
    """The deployment that the settings describe."""

    project: str
    models: tuple[Model, ...]
    stacks: Mapping[str, Mapping[str, Any]]  # templates by stack

    @property
    def ocr(self) -> bool:
        """True if a function uses Textract to read pages."""
        return any(
            "OCR" in resource["Properties"].get("Environment", {}).get("Variables", {})
            for resource in self.resources()
            if resource["Type"] == "AWS::Lambda::Function"
        )

    def resources(self) -> Iterator[Mapping[str, Any]]:
        for template in self.stacks.values():
            yield from template["Resources"].values()


def plan_deployment(context: Mapping[str, str]) -> PlannedDeployment:
    """
    Synthesise cdk.json with this context, without the functions' packages; takes seconds.

    Raises ValueError that names a setting that is wrong.
    """
    # Imported here, because it starts Node, for which a caller without credentials need not wait.
    from infra.app import build_app  # noqa: PLC0415 - see above
    from infra.deployment import Deployment  # noqa: PLC0415 - see above
    from stackroom_constructs.bedrock_model import TITAN  # noqa: PLC0415 - see above

    # The CDK prints a line for each function's folder, which means nothing here.
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
        return read_assembly(Path(folder), project=deployment.project, models=tuple(models))


def read_assembly(folder: Path, *, project: str, models: tuple[Model, ...]) -> PlannedDeployment:
    """Load a cloud assembly."""
    artifacts = json.loads((folder / "manifest.json").read_text("utf-8"))["artifacts"]
    stacks = {
        name: each["properties"]
        for name, each in artifacts.items()
        if each["type"] == "aws:cloudformation:stack"
    }
    return PlannedDeployment(
        project=project,
        models=models,
        stacks={
            name: json.loads((folder / each["templateFile"]).read_text("utf-8"))
            for name, each in stacks.items()
        },
    )
