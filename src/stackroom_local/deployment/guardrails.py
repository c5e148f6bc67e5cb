"""The guardrails of a template and their versions, made in the simulator."""

from dataclasses import dataclass
from typing import Any

from stackroom_local.deployment.intrinsics import REF, Attributes
from stackroom_local.deployment.making import Request


@dataclass(frozen=True)
class Guardrails:
    """`AWS::Bedrock::Guardrail`; `bedrock` is a boto3 client of the simulator's control plane."""

    bedrock: Any

    def create(self, request: Request) -> str:
        return str(self.bedrock.create_guardrail(**_with_key_id(request))["guardrailArn"])

    def known(self, request: Request) -> str | None:
        pages = self.bedrock.get_paginator("list_guardrails").paginate()
        return next(
            (
                str(each["arn"])
                for page in pages
                for each in page["guardrails"]
                if each["name"] == request["name"]
            ),
            None,
        )

    def attributes(self, physical_id: str) -> Attributes:
        found = self.bedrock.get_guardrail(guardrailIdentifier=physical_id)
        return {
            REF: physical_id,
            "GuardrailArn": physical_id,
            "GuardrailId": found["guardrailId"],
            "Version": found["version"],
        }

    def update(self, physical_id: str, request: Request) -> None:
        self.bedrock.update_guardrail(guardrailIdentifier=physical_id, **_with_key_id(request))

    def delete(self, physical_id: str) -> None:
        self.bedrock.delete_guardrail(guardrailIdentifier=physical_id)


@dataclass(frozen=True)
class GuardrailVersions:
    """
    `AWS::Bedrock::GuardrailVersion`. A version is never changed: it stays what it was, whatever
    becomes of its guardrail, until its description changes. CloudFormation makes another one then,
    and so does this.
    """

    bedrock: Any

    def create(self, request: Request) -> str:
        made = self.bedrock.create_guardrail_version(**request)
        return f"{made['guardrailId']}|{made['version']}"

    def known(self, request: Request) -> str | None:
        same = [
            each
            for each in self._listed(request["guardrailIdentifier"])
            if each["version"] != "DRAFT" and each.get("description") == request.get("description")
        ]
        return f"{same[-1]['id']}|{same[-1]['version']}" if same else None

    def attributes(self, physical_id: str) -> Attributes:
        id_, _, version = physical_id.partition("|")
        found = self.bedrock.get_guardrail(guardrailIdentifier=id_, guardrailVersion=version)
        return {
            REF: physical_id,
            "GuardrailArn": found["guardrailArn"],
            "GuardrailId": id_,
            "Version": version,
        }

    def update(self, physical_id: str, request: Request) -> None:
        pass

    def delete(self, physical_id: str) -> None:
        id_, _, version = physical_id.partition("|")
        self.bedrock.delete_guardrail(guardrailIdentifier=id_, guardrailVersion=version)

    def _listed(self, identifier: str) -> list[dict[str, Any]]:
        pages = self.bedrock.get_paginator("list_guardrails").paginate(
            guardrailIdentifier=identifier
        )
        return [each for page in pages for each in page["guardrails"]]


def _with_key_id(request: Request) -> Request:
    """The one property that the API has by another name."""
    kept = {name: value for name, value in request.items() if name != "kmsKeyArn"}
    return {**kept, "kmsKeyId": request["kmsKeyArn"]} if "kmsKeyArn" in request else kept
