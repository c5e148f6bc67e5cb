"""
Errors that keep a command from working on a deployment; each message says what to do.

SiteError
├── UnknownDeployment    no deployment of that name was added
├── IncompatibleOutputs  the stacks' outputs are not those that this version reads
├── NotDeployed          there are no stacks of that project in that region
├── NotKept              the file of deployments, or of tokens, can't be written or read
├── SignInNeeded         nobody is signed in, or the sign-in has expired
├── NotTakenUp           an object's event has not arrived, or never will
└── ToolRefused          a function of the deployment refused the request
"""

from collections.abc import Iterable
from pathlib import Path

from stackroom.errors import StackroomError


class SiteError(StackroomError):
    """The base of these errors. The message is one line for the person at the keyboard."""


class UnknownDeployment(SiteError):
    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = ", ".join(map(repr, sorted(known)))
        known_text = f"known are {names}" if names else "none has been added yet"
        super().__init__(
            f"unknown deployment {name!r}: {known_text}; add it with: "
            f"stackroom deployments add {name} --outputs cdk.out/outputs.json"
        )


class IncompatibleOutputs(SiteError):
    def __init__(self, where: str, why: str) -> None:
        super().__init__(
            f"{where}: not the outputs of this version of Stackroom ({why}); "
            "deploy this version with `make deploy`, then add the deployment again"
        )


class NotDeployed(SiteError):
    def __init__(self, stack: str, region: str) -> None:
        super().__init__(
            f"there is no stack {stack!r} in {region}; name the project with --project, its region "
            "with --region, and use credentials of its account"
        )


class NotKept(SiteError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{path}: {why}; repair it or free space, or name another folder with STACKROOM_CONFIG"
        )


class SignInNeeded(SiteError):
    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{why}; sign in with: stackroom --deployment {name} login")


class NotTakenUp(SiteError):
    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"{key!r}: {why}; see: stackroom status, stackroom receipts")


class ToolRefused(SiteError):
    pass
