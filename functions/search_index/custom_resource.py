"""
CloudFormation's protocol for custom resources: its requests and the response that it waits for.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref.html
"""

import json
import urllib.request
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

# A response has at most 4,096 bytes, and people read this line in the stack's outputs.
_MAX_STATE = 500
_SECONDS = 10
_TRIES = 3


class RequestType(StrEnum):
    CREATE = "Create"
    UPDATE = "Update"
    DELETE = "Delete"


def _none_if_none(value: Any) -> Any:
    return None if value == "none" else value


# "none" selects the standard tokenizer, which knows no language.
Language = Annotated[str | None, BeforeValidator(_none_if_none)]


class IndexProperties(BaseModel):
    """The properties of the resource; CloudFormation adds some of its own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    index: str = Field(alias="IndexArn")
    bucket: str = Field(alias="VectorBucketArn")
    language: Language = Field(alias="Language")


class Request(BaseModel):
    """A request of CloudFormation, with the address to respond to."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    type: RequestType = Field(alias="RequestType")
    properties: IndexProperties = Field(alias="ResourceProperties")
    # Anyone who has this URL can respond in our place until it expires, so it is never logged.
    response_url: str = Field(alias="ResponseURL", repr=False)
    stack: str = Field(alias="StackId")
    request: str = Field(alias="RequestId")
    logical_id: str = Field(alias="LogicalResourceId")
    physical_id: str | None = Field(alias="PhysicalResourceId", default=None)

    def succeeded(self, *, state: str) -> None:
        """
        Respond with success; `state` becomes the resource's attribute State, which deployers see.

        Raises OSError if the response can't be sent; Lambda then invokes the function again.
        """
        self._answer({"Status": "SUCCESS", "Data": {"State": state[:_MAX_STATE]}})

    def _answer(self, outcome: dict[str, Any]) -> None:
        answer = {
            **outcome,
            "PhysicalResourceId": self._identity(),
            "StackId": self.stack,
            "RequestId": self.request,
            "LogicalResourceId": self.logical_id,
        }
        # The URL is signed without a content type; urllib would add one.
        request = urllib.request.Request(  # noqa: S310 - CloudFormation's own URL
            self.response_url,
            data=json.dumps(answer).encode(),
            headers={"Content-Type": ""},
            method="PUT",
        )
        _put(request)

    def _identity(self) -> str:
        """
        Return the index, so that another index is another resource; a deletion names the resource.
        """
        previous = self.physical_id if self.type is RequestType.DELETE else None
        return previous or self.properties.index


def _put(request: urllib.request.Request) -> None:
    for tries_left in reversed(range(_TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310 - as above
                return
        except OSError:
            if not tries_left:
                raise
