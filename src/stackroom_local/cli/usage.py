"""What makes a command line itself wrong, beyond what typer sees."""

from stackroom.errors import StackroomError


class WrongUsage(StackroomError):
    """Nothing was done; `str()` of it is one line that says what is allowed."""
