"""What the smoke concludes from how a direct invocation is answered."""

import pytest

from stackroom_local.smoke.doors import of_direct
from stackroom_local.smoke.scene import Verdict

REFUSED = "AccessDeniedException: User: me is not authorized to perform: lambda:InvokeFunction on r"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (f"{REFUSED} with an explicit deny in a resource-based policy", Verdict.CONFIRMED),
        # The operator's own lack, which says nothing of the function's policy.
        (
            f"{REFUSED} because no identity-based policy allows the lambda:InvokeFunction action",
            Verdict.NOT_SEEN,
        ),
        ("it was answered: {}", Verdict.REFUTED),
        ("TooManyRequestsException: Rate exceeded", Verdict.NOT_SEEN),
    ],
)
def test_only_the_functions_own_deny_confirms_that_it_denies(answer: str, verdict: Verdict) -> None:
    assert of_direct(answer).verdict is verdict
