"""Signing in and out: a session for whoever proved who they are, and for nobody else."""

from tests.console.browser import Browser


def test_a_sign_in_begins_a_session_and_leads_back(browser: Browser) -> None:
    answer = browser.sign_in("alice", return_to="/catalogs/new")

    assert (answer.status_code, answer.headers["location"]) == (303, "/catalogs/new")
    assert browser.get("/catalogs").status_code == 200
    assert "alice" in browser.get("/catalogs").text
