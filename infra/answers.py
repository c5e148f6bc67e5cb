"""The model that answers questions, its prompt, and the guardrail, from the CDK context."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import aws_cdk as cdk
from constructs import Construct

from infra.contexts import text
from stackroom_constructs.bedrock_model import BedrockModel

_ROOT = Path(__file__).parents[1]

# The placeholders that Bedrock requires [src/stackroom/aws/bedrock/answer_prompt.py].
_PLACEHOLDERS = ("$search_results$", "$output_format_instructions$")
# A function's variables have 4 KB in total, and the pool needs most of them.
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
_MAX_PROMPT = 2000

# GuardrailConfiguration in the API model of Bedrock's Retrieve.
_GUARDRAIL = re.compile(r"[a-z0-9]{1,64}")
_VERSION = re.compile(r"[1-9][0-9]{0,4}|DRAFT")


@dataclass(frozen=True, kw_only=True)
class AnswerModel:
    model: BedrockModel
    prompt: str | None  # None: the product's own prompt

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        try:
            model = BedrockModel.of(str(app.node.get_context("answer_model")))
        except ValueError as error:
            raise ValueError(f"context answer_model {error}") from error
        return cls(model=model, prompt=_prompt(app))

    def environment(self, scope: Construct) -> dict[str, str]:
        prompt = {"ANSWER_PROMPT": self.prompt} if self.prompt is not None else {}
        return {"ANSWER_MODEL_ARN": self.model.arn(scope), **prompt}


@dataclass(frozen=True, kw_only=True)
class Guardrail:
    id: str
    version: str

    @classmethod
    def from_context(cls, app: cdk.App) -> Self | None:
        chosen = str(app.node.get_context("guardrail_id"))
        version = str(app.node.get_context("guardrail_version"))
        if not chosen and not version:
            return None
        together = "set together with guardrail_"
        text(app, "guardrail_id", _GUARDRAIL, f"a guardrail's id, {together}version")
        text(app, "guardrail_version", _VERSION, f"a number or DRAFT, {together}id")
        return cls(id=chosen, version=version)

    @property
    def environment(self) -> dict[str, str]:
        return {"GUARDRAIL_ID": self.id, "GUARDRAIL_VERSION": self.version}


def _prompt(app: cdk.App) -> str | None:
    name = str(app.node.get_context("answer_prompt_file"))
    if not name:
        return None
    try:
        prompt = (_ROOT / name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"context answer_prompt_file {name!r} must be a text file") from error
    if missing := [each for each in _PLACEHOLDERS if each not in prompt]:
        raise ValueError(f"context answer_prompt_file {name!r} must hold {' and '.join(missing)}")
    if len(prompt.encode()) > _MAX_PROMPT:
        raise ValueError(
            f"context answer_prompt_file {name!r} must have at most {_MAX_PROMPT:,} bytes"
        )
    return prompt
