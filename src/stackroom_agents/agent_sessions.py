"""
An agent's memory of its sessions: one S3 object for each.

    {user id}/{session id}.json

The user's id comes from a verified token, so a caller who sends another user's session id gets a
session of their own by that name. Neither id can contain a slash (stackroom.access.identity).
"""

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, store_errors


@dataclass(frozen=True, kw_only=True)
class AgentSessions:
    """
    Reads and writes sessions.

    Both methods raise StoreUnavailable for temporary failures, and ServiceRefused for missing
    rights.
    """

    client: Any
    bucket: str

    def read(self, user_id: str, session_id: str) -> bytes | None:
        """Return a session, or None if it is new or has expired."""
        try:
            with store_errors():
                got = self.client.get_object(Bucket=self.bucket, Key=_key(user_id, session_id))
                return bytes(got["Body"].read())
        except ClientError as error:
            if code_of(error) == "NoSuchKey":  # which S3 says to whoever may list the bucket
                return None
            raise

    def write(self, user_id: str, session_id: str, body: bytes) -> None:
        """Replace a session; of two simultaneous turns, the one that ends last is kept."""
        with store_errors():
            self.client.put_object(Bucket=self.bucket, Key=_key(user_id, session_id), Body=body)


def _key(user_id: str, session_id: str) -> str:
    return f"{user_id}/{session_id}.json"
