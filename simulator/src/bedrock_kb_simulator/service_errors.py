"""The errors of simulated services, and those that end work early."""


class ServiceError(Exception):
    """An error of the AWS service model; the wire turns `code` into its shape and HTTP status."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ConnectionDropped(Exception):
    """The operation took effect, but the connection ends without a response: an injected fault."""


class Stopped(Exception):
    """StopIngestionJob was called, or the simulator closes."""


class Unindexable(Exception):
    """
    A document that can't be indexed, with AWS's text for the cause.

    `cause` may hold `{count}`: AWS counts the files of one cause in one failure reason.
    """

    def __init__(self, cause: str, *, at_store: bool = False) -> None:
        super().__init__(cause)
        self.cause = cause
        self.at_store = at_store
