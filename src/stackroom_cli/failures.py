"""Reports a command's failure on standard error: a line for people, or a JSON document."""

import errno
import sys

from stackroom.errors import StackroomError
from stackroom_cli.untrusted_text import in_json, lines

# An invalid command line, beyond what typer checks.


class WrongUsage(StackroomError):
    """
    The command line is wrong and nothing was done; the message is one line that says what is
    allowed.
    """


_UNWRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT})


def tell(message: str, kind: str, *, is_json: bool) -> None:
    """Print an error. `kind`, the error's name, is printed in JSON alone."""
    if is_json:
        from stackroom_cli.json_output import ErrorTold, Failed  # noqa: PLC0415 - where wanted

        failed = Failed(error=ErrorTold(type=kind, message=message))
        print(in_json(failed.model_dump_json(indent=2)), file=sys.stderr)  # noqa: T201 - see above
    else:
        print(f"stackroom: {lines(message)}", file=sys.stderr)  # noqa: T201 - a command line


def refused(error: BaseException) -> str | None:
    """Return a sentence for an error that comes from AWS, or None for any other."""
    if "botocore" not in sys.modules:  # to import it takes longer than most commands
        return None
    from stackroom_cli.sites.aws_refusals import sentence  # noqa: PLC0415 - see above

    return sentence(error)


def of_gateway(error: BaseException) -> str | None:
    """Return the message of an error from the gateway or the issuer, or None for any other."""
    if "stackroom_client" not in sys.modules:  # see above
        return None
    from stackroom_client.errors import StackroomError as ClientError  # noqa: PLC0415 - see above

    return str(error) if isinstance(error, ClientError) else None


def unwritable(error: BaseException) -> str | None:
    """
    Return a sentence for a file that this machine can't write or open, or None for any other error.
    """
    if not isinstance(error, OSError) or error.errno not in _UNWRITABLE:
        return None
    file = "" if error.filename is None else f"{error.filename}: "  # a write knows no name
    return (
        f"{file}{error.strerror}; templates are written to the checkout's .cache, and everything"
        " else to --state-dir: free space there and make it writable, or name another directory"
    )
