"""
CloudFormation's protocol for custom resources: what it asks, and the answer that it waits for.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref.html
"""

import json
import urllib.request
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

# An answer has at most 4,096 bytes; a line of the outputs is to be read by a person.
_LONGEST_STATE = 500
_SECONDS = 10
_TRIES = 3


class RequestType(StrEnum):
    CREATE = "Create"
    UPDATE = "Update"
    DELETE = "Delete"


def _none_as_written(value: Any) -> Any:
    return None if value == "none" else value


# "none" is the standard way to tell words apart, of no language.
Language = Annotated[str | None, BeforeValidator(_none_as_written)]


class Wanted(BaseModel):
    """The properties of the resource; CloudFormation adds some of its own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    index: str = Field(alias="IndexArn")
    bucket: str = Field(alias="VectorBucketArn")
    language: Language = Field(alias="Language")


class Request(BaseModel):
    """What CloudFormation asks, and whom to answer."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    type: RequestType = Field(alias="RequestType")
    wanted: Wanted = Field(alias="ResourceProperties")
    # Whoever has it may answer in our place until it expires, so it is never logged.
    answer_to: str = Field(alias="ResponseURL", repr=False)
    stack: str = Field(alias="StackId")
    request: str = Field(alias="RequestId")
    logical_id: str = Field(alias="LogicalResourceId")
    physical_id: str | None = Field(alias="PhysicalResourceId", default=None)

    def succeeded(self, *, state: str) -> None:
        """
        `state` is the resource's attribute State, which whoever deploys is shown.

        Raises OSError if it can't be told; Lambda then invokes the function again.
        """
        self._answer({"Status": "SUCCESS", "Data": {"State": state[:_LONGEST_STATE]}})

    def _answer(self, outcome: dict[str, Any]) -> None:
        answer = {
            **outcome,
            "PhysicalResourceId": self._identity(),
            "StackId": self.stack,
            "RequestId": self.request,
            "LogicalResourceId": self.logical_id,
        }
        # The URL is signed for no type of content; urllib would name one.
        request = urllib.request.Request(  # noqa: S310 - CloudFormation's own URL
            self.answer_to,
            data=json.dumps(answer).encode(),
            headers={"Content-Type": ""},
            method="PUT",
        )
        _put(request)

    def _identity(self) -> str:
        """The index, so that another is another resource; CloudFormation names what is to go."""
        of_old = self.physical_id if self.type is RequestType.DELETE else None
        return of_old or self.wanted.index


def _put(request: urllib.request.Request) -> None:
    for tries_left in reversed(range(_TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310 - as above
                return
        except OSError:
            if not tries_left:
                raise
