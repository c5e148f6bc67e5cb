"""
Where an agent keeps what was said in a session: one object of S3 for each.

    {user id}/{session id}.json

The user's id is the one of a verified token, so whoever sends another's session id has a session of
their own by that name. Neither id can hold a slash (stackroom.access.identity).
"""

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, store_errors


@dataclass(frozen=True, kw_only=True)
class AgentSessions:
    """Both raise StoreUnavailable for what passes, and ServiceRefused for rights that lack."""

    client: Any
    bucket: str

    def read(self, user_id: str, session_id: str) -> bytes | None:
        """None for one that is new, or that has expired."""
        try:
            with store_errors():
                got = self.client.get_object(Bucket=self.bucket, Key=_key(user_id, session_id))
                return bytes(got["Body"].read())
        except ClientError as error:
            if code_of(error) == "NoSuchKey":  # which S3 says to whoever may list the bucket
                return None
            raise

    def write(self, user_id: str, session_id: str, body: bytes) -> None:
        """Whole: of two turns of a session at the same time the one that ends last is kept."""
        with store_errors():
            self.client.put_object(Bucket=self.bucket, Key=_key(user_id, session_id), Body=body)


def _key(user_id: str, session_id: str) -> str:
    return f"{user_id}/{session_id}.json"
