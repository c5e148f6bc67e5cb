"""What the simulated services answer when they refuse."""


class ServiceError(Exception):
    """An error of the AWS service model; the wire turns `code` into its shape and HTTP status."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ConnectionDropped(Exception):
    """The operation was done, and its caller never hears of it: an injected fault."""


class Stopped(Exception):
    """StopIngestionJob was called, or the simulator closes."""


class Unindexable(Exception):
    """
    A document that can't be indexed, in the words that AWS would use.

    `cause` may hold `{count}`, since AWS counts the files of one cause in one failure reason.
    """

    def __init__(self, cause: str, *, at_store: bool = False) -> None:
        super().__init__(cause)
        self.cause = cause
        self.at_store = at_store
