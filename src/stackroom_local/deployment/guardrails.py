"""The guardrails of a template, made in the simulator and kept up to date there."""

from dataclasses import dataclass
from typing import Any

from stackroom_local.deployment.intrinsics import REF, Attributes


@dataclass(frozen=True)
class Guardrails:
    """
    `bedrock` is a boto3 client of the simulator's control plane.

    What Ref and Fn::GetAtt answer is as in the CloudFormation reference of each type.
    """

    bedrock: Any

    def guardrail(self, fallback: str, request: dict[str, Any]) -> Attributes:
        """Updated in place where one of its name is known, as CloudFormation does."""
        request.setdefault("name", fallback[:50])
        if "kmsKeyArn" in request:  # the one property that the API has by another name
            request["kmsKeyId"] = request.pop("kmsKeyArn")
        id_ = self._named(request["name"])
        if id_:
            self.bedrock.update_guardrail(guardrailIdentifier=id_, **request)
        else:
            id_ = str(self.bedrock.create_guardrail(**request)["guardrailId"])
        found = self.bedrock.get_guardrail(guardrailIdentifier=id_)
        arn = found["guardrailArn"]
        return {REF: arn, "GuardrailArn": arn, "GuardrailId": id_, "Version": found["version"]}

    def version(self, _: str, request: dict[str, Any]) -> Attributes:
        """
        A version is never changed: it stays what it was, whatever becomes of its guardrail, until
        its description changes. CloudFormation makes another one then, and so does this.
        """
        listed = self._versions(request["guardrailIdentifier"])
        [draft, *numbered] = listed
        same = [
            each["version"]
            for each in numbered
            if each.get("description") == request.get("description")
        ]
        number = same[-1] if same else self.bedrock.create_guardrail_version(**request)["version"]
        return {
            REF: f"{draft['id']}|{number}",
            "GuardrailArn": draft["arn"],
            "GuardrailId": draft["id"],
            "Version": number,
        }

    def _named(self, name: str) -> str | None:
        pages = self.bedrock.get_paginator("list_guardrails").paginate()
        return next(
            (
                str(each["id"])
                for page in pages
                for each in page["guardrails"]
                if each["name"] == name
            ),
            None,
        )

    def _versions(self, identifier: str) -> list[dict[str, Any]]:
        pages = self.bedrock.get_paginator("list_guardrails").paginate(
            guardrailIdentifier=identifier
        )
        return [each for page in pages for each in page["guardrails"]]
