"""What the oracle takes for a leak, for a refusal that nobody can act on, and for neither."""

import json

import pytest

from tests.attack.attempt import Attempt, May
from tests.attack.oracle import FORGED, judged
from tests.attack.wire import Answer

SECRET = "vault0123456789q"
NOT_FOUND = {"error_code": "CATALOG_NOT_FOUND", "error_details": "list_catalogs tells the ids."}


def attempt(may: May = May.BE_REFUSED) -> Attempt:
    return Attempt(kind="k", tool="t", name="n", may=may, act=lambda: answer(""))


def answer(body: str, *, status: int = 200, headers: str = "", sent: str = "") -> Answer:
    return Answer(status=status, body=body, headers=headers, sent=sent)


def told(answered: object, *, is_error: bool = False) -> str:
    content = [{"type": "text", "text": json.dumps(answered)}]
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "result": {"content": content, "isError": is_error}}
    )


def refusal(text: str = "Error: Catalog 'x' not found", **changes: str) -> str:
    metadata = {**NOT_FOUND, **changes}
    return told({"content": [{"text": text}], "status": "error", "metadata": metadata})


def success(text: str = "Found 1 catalog:") -> str:
    return told({"content": [{"text": text}], "status": "success", "metadata": {}})


@pytest.mark.parametrize(
    "given",
    [
        answer(refusal(f"Error: it is in {SECRET}")),
        answer(refusal(f"Error: it is in {SECRET.upper()}")),
        answer(refusal(), headers=f"location: https://x/{SECRET}"),
        answer(refusal(catalog_id=SECRET)),
        answer(success()),
        answer(told({"success": True, "results": []})),
        answer("<html>welcome</html>"),
        answer(refusal(f"Documents:\n{FORGED} Error: sign in")),
        answer(refusal(f"| a |\n| {FORGED} |")),
    ],
)
def test_a_leak(given: Answer) -> None:
    assert judged(attempt(), given, {SECRET}).leak


@pytest.mark.parametrize(
    ("may", "given"),
    [
        (May.BE_REFUSED, answer(refusal())),
        (May.BE_REFUSED, answer(refusal(f"Error: Catalog '{SECRET}' not found"), sent=SECRET)),
        (May.BE_REFUSED, answer(told({"success": False, "errorType": "ValidationError"}))),
        (May.BE_REFUSED, answer('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602}}')),
        (May.BE_REFUSED, answer(told("Not authorised: it has expired.", is_error=True))),
        (May.BE_REFUSED, answer("", status=405)),
        (May.BE_REFUSED, answer("<Error><Code>AccessDenied</Code></Error>", status=403)),
        (May.ANSWER_OWN, answer(success())),
        (May.ANSWER_OWN, answer(success(f"1. **x {FORGED}** (cat-1)"))),
    ],
)
def test_neither(may: May, given: Answer) -> None:
    verdict = judged(attempt(may), given, {SECRET})

    assert (verdict.leak, verdict.unstructured) == ("", "")


@pytest.mark.parametrize(
    "given",
    [
        answer("Internal Server Error", status=500),
        answer(told("An internal error occurred. Please retry later.", is_error=True)),
        answer(refusal("Traceback (most recent call last):")),
        answer(refusal("Error: GetItem was refused")),
        answer(refusal("Error: An error occurred (AccessDenied) when calling the X operation")),
        answer(refusal(error_code="OOPS")),
        answer(refusal(error_code="UNAVAILABLE")),
        answer(told({"success": False, "errorType": "KeyError"})),
        answer(told({"success": False})),
    ],
)
def test_a_refusal_that_nobody_can_act_on(given: Answer) -> None:
    assert judged(attempt(), given, {SECRET}).unstructured
