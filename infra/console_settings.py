"""
The console's settings: its domain, and the models and knowledge bases that its agents may use.
"""

import re
from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk

from infra.contexts import choice, text
from infra.shared_knowledge_bases import SharedKnowledgeBases
from stackroom_constructs.bedrock_model import BedrockModel

_HOST = re.compile(r"|(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_ORIGIN = r"\s*https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?\s*"
_ORIGINS = re.compile(rf"({_ORIGIN}(,{_ORIGIN})*)?")
_CERTIFICATE = re.compile(r"|arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[0-9a-f-]{36}")

# A function's variables have 4 KB in total, and the pool needs most of them.
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
_MAX_MODELS = 10


@dataclass(frozen=True, kw_only=True)
class Domain:
    """A custom domain; its certificate is one of ACM's in the deployment's region."""

    name: str
    certificate_arn: str


@dataclass(frozen=True, kw_only=True)
class ConsoleSettings:
    domain: Domain | None  # None: the address that API Gateway assigns
    models: tuple[BedrockModel, ...]  # that agents may use, the default first
    shared: SharedKnowledgeBases  # that agents of all users may be linked to

    @classmethod
    def from_context(cls, app: cdk.App) -> Self | None:
        chosen = choice(app, "console", ("on", "off"))
        domain, models = _domain(app), _models(app)
        shared = SharedKnowledgeBases.from_context(app)
        if chosen == "off":
            return None
        return cls(domain=domain, models=models, shared=shared)


def upload_origins(app: cdk.App) -> tuple[str, ...]:
    """
    Return the origins, besides the console's, whose pages may upload to the documents' bucket.
    """
    meaning = "origins such as 'https://app.example.com', separated by commas, or empty"
    origins = text(app, "upload_origins", _ORIGINS, meaning)
    return tuple(each.strip() for each in origins.split(",")) if origins else ()


def _domain(app: cdk.App) -> Domain | None:
    host = "a host name in lower case, such as 'console.example.com', or empty"
    name = text(app, "console_domain", _HOST, host)
    arn = "the ARN of an ACM certificate, or empty"
    certificate = text(app, "console_certificate_arn", _CERTIFICATE, arn)
    for setting, value, other_setting, other in (
        ("console_domain", name, "console_certificate_arn", certificate),
        ("console_certificate_arn", certificate, "console_domain", name),
    ):
        if value and not other:
            raise ValueError(
                f"context {setting} {value!r} must be set together with {other_setting}"
            )
    return Domain(name=name, certificate_arn=certificate) if name else None


def _models(app: cdk.App) -> tuple[BedrockModel, ...]:
    """Return the models of `agent_models`, or else the model that answers questions."""
    models = str(app.node.get_context("agent_models"))
    setting = "agent_models" if models else "answer_model"
    ids = [each.strip() for each in (models or str(app.node.get_context(setting))).split(",")]
    if len(ids) > _MAX_MODELS or len(set(ids)) < len(ids):
        allowed = f"at most {_MAX_MODELS} different ids"
        raise ValueError(f"context {setting} {models!r} must be {allowed}")
    try:
        return tuple(map(BedrockModel.of, ids))
    except ValueError as error:
        raise ValueError(f"context {setting} {error}") from error
