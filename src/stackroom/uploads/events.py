"""S3 notifications as EventBridge wraps them and SQS delivers them."""

from pydantic import BaseModel, ConfigDict, Field
from pydantic import ValidationError as Malformed

from stackroom.errors import MalformedEvent


class _Named(BaseModel):
    name: str = Field(min_length=1)


class _Keyed(BaseModel):
    key: str = Field(min_length=1)
    sequencer: str | None = None  # logged only: deletes of old versions carry newer ones


class _Detail(BaseModel):
    bucket: _Named
    object: _Keyed


class ObjectEvent(BaseModel):
    """
    A hint that something happened to an object.

    The key is not URL-encoded, unlike in notifications that S3 sends directly
    [S3 user guide: ev-events].
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    id: str = Field(min_length=1)
    detail_type: str = Field(alias="detail-type")
    detail: _Detail

    @property
    def key(self) -> str:
        return self.detail.object.key

    @property
    def correlation_id(self) -> str:
        """The id in every log line and record that results from the upload."""
        return self.id


def object_event(body: str) -> ObjectEvent:
    """Parse the event in an SQS message's body. Raises MalformedEvent, naming the problem."""
    try:
        return ObjectEvent.model_validate_json(body)
    except Malformed as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in error.errors()
        )
        raise MalformedEvent(problems) from error
