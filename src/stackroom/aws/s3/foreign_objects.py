"""Objects of any bucket that an agent is told to read, and the queue for its answers."""

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError, ParamValidationError

from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.errors import ObjectRefused, StoreUnavailable

# A HEAD returns a status and no code; without s3:ListBucket a missing object is forbidden, too [S3
# API reference: HeadObject, Permissions].
_ABSENT = frozenset({"403", "404", "NoSuchKey", "NotFound"})
_CHANGED = "PreconditionFailed"


@dataclass(frozen=True, kw_only=True)
class S3Objects:
    """Reads any object that the client's credentials may read."""

    client: Any

    def read(self, bucket: str, key: str, *, limit: int) -> bytes:
        """
        Return the object, if it has at most `limit` bytes; its size is asked for first.

        Raises ObjectRefused if it can't be read or is too large, StoreUnavailable for errors that
        pass and for an object that was replaced between the two calls, and ServiceRefused for
        invalid credentials.
        """
        try:
            with store_errors():
                head = self.client.head_object(Bucket=bucket, Key=key)
                if (size := head["ContentLength"]) > limit:
                    raise ObjectRefused(
                        key, f"it has {size:,} bytes; allowed are at most {limit:,}"
                    )
                got = self.client.get_object(Bucket=bucket, Key=key, IfMatch=head["ETag"])
                return bytes(got["Body"].read())
        except ClientError as error:
            raise _refusal(bucket, key, error) from error
        except ParamValidationError as error:  # before anything is sent
            raise ObjectRefused(key, f"no bucket can be called {bucket[:100]!r}") from error


def _refusal(bucket: str, key: str, error: ClientError) -> ObjectRefused | StoreUnavailable:
    code = code_of(error)
    if code == _CHANGED:
        return StoreUnavailable(error.operation_name, code)
    if code in _ABSENT:
        return ObjectRefused(key, f"it is not in bucket {bucket!r}, or may not be read")
    return ObjectRefused(key, f"S3 answered {code}")


@dataclass(frozen=True, kw_only=True)
class SqsAnswers:
    """A queue, standard or FIFO."""

    client: Any
    url: str

    def send(self, body: str, *, message_id: str) -> None:
        """
        Send the answer. `message_id` is that of the question: a FIFO queue drops a repeated answer
        by it for five minutes [SQS API reference: SendMessage]. Raises StoreUnavailable, or
        botocore's error.
        """
        fifo = {"MessageGroupId": message_id, "MessageDeduplicationId": message_id}
        with store_errors():
            self.client.send_message(
                QueueUrl=self.url, MessageBody=body, **(fifo if self.url.endswith(".fifo") else {})
            )
