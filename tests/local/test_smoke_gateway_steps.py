"""The smoke run's conclusions from answers, and how it fills in a sign-in page."""

import pytest

from stackroom_cli.smoke.gateway_steps import of_direct
from stackroom_cli.smoke.scene import AssumptionVerdict
from stackroom_cli.smoke.sign_in_pages import filled_form

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


ANSWERS = {"user": "owner", "username": "owner", "password": "secret"}


def test_the_form_that_asks_for_the_user_is_filled_in() -> None:
    page = """
        <form action="/signup"><input name="email"></form>
        <form action="/login?state=1" method="post">
          <input type="hidden" name="_csrf" value="c"><input name="username" value="?">
          <input name="password" type="password"><input type="submit">
        </form>
        <form action="/twice"><input name="username"></form>
    """

    form = filled_form(page, ANSWERS)

    assert form is not None
    assert form.action == "/login?state=1"
    assert form.fields == {"_csrf": "c", "username": "owner", "password": "secret"}


def test_a_page_that_a_script_makes_has_no_form_to_fill_in() -> None:
    assert filled_form('<div id="app"></div><script src="app.js"></script>', ANSWERS) is None
