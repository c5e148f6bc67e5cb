"""The smoke run's conclusions from answers."""

import pytest

from stackroom_cli.smoke.gateway_steps import of_direct
from stackroom_cli.smoke.scene import AssumptionVerdict

REFUSED = "AccessDeniedException: User: me is not authorized to perform: lambda:InvokeFunction on r"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (
            f"{REFUSED} with an explicit deny in a resource-based policy",
            AssumptionVerdict.CONFIRMED,
        ),
        # The operator's own lack, which says nothing of the function's policy.
        (
            f"{REFUSED} because no identity-based policy allows the lambda:InvokeFunction action",
            AssumptionVerdict.NOT_SEEN,
        ),
        ("it was answered: {}", AssumptionVerdict.REFUTED),
    ],
)
def test_only_the_functions_own_deny_confirms_that_it_denies(
    answer: str, verdict: AssumptionVerdict
) -> None:
    assert of_direct(answer).verdict is verdict
