"""The authorization server and its page: clients that do it wrongly, people who mean it ill."""

import secrets
from typing import Any

import httpx2
import jwt
import pytest

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.gateway.browser import a_browser, read, sign_in
from tests.gateway.conftest import ANOTHER
from tests.gateway.flow import CALLBACK, Flow
from tests.gateway.serving import RunningGateway

POSTED = ("token", "register", "revoke", "authorize", "sign-in")


@pytest.fixture
def flow(gateway: RunningGateway) -> Flow:
    return Flow(gateway=gateway)


def claims(tokens: dict[str, Any]) -> dict[str, Any]:
    return dict(jwt.decode(tokens["access_token"], options={"verify_signature": False}))


def test_discovery_documents_name_the_sign_in_endpoints_at_every_path(
    gateway: RunningGateway,
) -> None:
    issuer = f"{gateway.base}/issuer"
    needed = {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "registration_endpoint": f"{issuer}/register",
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    }
    for name in ("oauth-authorization-server", "openid-configuration"):
        for place in (f"/.well-known/{name}/issuer", f"/issuer/.well-known/{name}"):
            assert needed.items() <= httpx2.get(gateway.base + place).json().items(), place
    for base in (gateway.base, gateway.base.replace("127.0.0.1", "localhost")):
        for suffix in ("", "/mcp"):
            document = httpx2.get(f"{base}/.well-known/oauth-protected-resource{suffix}").json()

            assert document == {
                "resource": f"{base}/mcp",
                "authorization_servers": [issuer],
                "scopes_supported": ["openid"],
                "bearer_methods_supported": ["header"],
            }


def test_a_sign_in_gives_tokens_of_the_picked_user_that_the_gateway_takes(flow: Flow) -> None:
    state = 'a&b=c#d "<é%20+'

    with a_browser() as browser:
        answer = browser.sign_in(flow.link(state=state), "alice@example.com", "staff, research")
    tokens = flow.exchange(answer["code"]).json()

    assert answer == {"code": answer["code"], "state": state}
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    told = claims(tokens)
    assert (told["sub"], told["client_id"]) == ("alice@example.com", CLIENT_ID)
    assert told["cognito:groups"] == ["staff", "research"]
    seen = flow.gateway.echo(token=tokens["access_token"], query="hi")
    assert seen["custom"]["bedrockAgentCorePropagatedHeaders"]["x-session-id"] == told["origin_jti"]


def test_refresh_stays_in_its_session_and_may_be_repeated_at_once(flow: Flow) -> None:
    """A code may not: it ends what it began."""
    code = flow.code()
    of_code = flow.exchange(code).json()["refresh_token"]
    first = flow.tokens("alice", "staff")

    second = flow.refresh(first["refresh_token"]).json()

    before, after = claims(first), claims(second)
    for claim in ("sub", "cognito:groups", "origin_jti", "auth_time", "client_id"):
        assert after[claim] == before[claim]
    assert after["jti"] != before["jti"]
    assert second["refresh_token"] != first["refresh_token"]
    repeated = flow.refresh(first["refresh_token"]).json()
    assert claims(repeated)["origin_jti"] == before["origin_jti"]
    for token in (second["refresh_token"], repeated["refresh_token"]):
        assert flow.refresh(token).status_code == 200
    again = flow.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert flow.refresh(of_code).json()["error"] == "invalid_grant"


def test_a_token_for_a_resource_names_it_and_calls_a_tool(flow: Flow) -> None:
    for resource in (flow.gateway.url, f"{flow.gateway.url}/"):
        answer = sign_in(flow.link(resource=resource), "alice")
        first = flow.exchange(answer["code"], resource=resource).json()
        second = flow.refresh(first["refresh_token"]).json()

        for tokens in (first, second):
            assert claims(tokens)["aud"] == resource
            headers = flow.gateway.echo(token=tokens["access_token"], query="hi")["custom"]
            assert headers["bedrockAgentCorePropagatedHeaders"]["x-user-sub"] == "alice"
    assert "aud" not in claims(flow.tokens())


def test_code_is_refused_if_any_parameter_of_its_request_differs(flow: Flow) -> None:
    wrong: list[tuple[dict[str, str | None], str]] = [
        ({"code_verifier": secrets.token_urlsafe(48)}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"redirect_uri": "http://localhost:8976/other"}, "invalid_request"),
        ({"client_id": "nobody"}, "invalid_client"),
        ({"grant_type": "client_credentials"}, "invalid_request"),
    ]
    for changes, error in wrong:
        response = flow.exchange(flow.code(), **changes)

        assert response.status_code in (400, 401), changes
        assert response.json()["error"] == error, changes


def test_codes_and_tokens_of_one_client_are_nothing_to_another(gateway: RunningGateway) -> None:
    one, another = Flow(gateway=gateway), Flow(gateway=gateway, client_id=ANOTHER)
    code, tokens = one.code(), one.tokens()

    answers = [
        one.exchange(code, client_id=ANOTHER),
        another.refresh(tokens["refresh_token"]),
        one.refresh(tokens["refresh_token"]),
    ]
    another.post("revoke", client_id=ANOTHER, token=answers[2].json()["refresh_token"])

    assert [answer.status_code for answer in answers] == [400, 400, 200]
    assert one.refresh(answers[2].json()["refresh_token"]).status_code == 200
    assert claims(another.tokens())["client_id"] == ANOTHER


def test_invalid_redirect_or_client_is_refused_without_a_redirect(flow: Flow) -> None:
    redirects = (
        "https://attacker.example/callback",
        "http://localhost:8976@attacker.example/callback",
        "http://localhost:8976/callback#fragment",
        "javascript:alert(1)",
        "cursor://not.registered/callback",
        f"http://localhost/{'x' * 3000}",
        "",
        None,
    )
    wrong: list[dict[str, str | None]] = [
        *({"redirect_uri": each} for each in redirects),
        {"redirect_uri": redirects[0], "code_challenge": None},
        {"client_id": "<script>alert(1)</script>"},
    ]
    for changes in wrong:
        response = httpx2.get(flow.link(**changes))

        assert response.status_code == 400, changes
        assert "location" not in response.headers, changes
        assert response.headers["content-type"] == "application/json", changes


def register(gateway: RunningGateway, **metadata: Any) -> httpx2.Response:
    return httpx2.post(f"{gateway.base}/issuer/register", json=metadata, timeout=120)


def test_a_registration_answers_with_the_client_that_the_gateway_allows(
    gateway: RunningGateway,
) -> None:
    wanted = {
        "redirect_uris": ["cursor://an.app/callback", "https://page.example/callback"],
        "token_endpoint_auth_method": "client_secret_post",
        "client_name": "<script>alert(1)</script>",
        "scope": "",
    }

    response = register(gateway, **wanted)

    assert response.status_code == 201
    told = response.json()
    assert told["client_id"] == CLIENT_ID
    assert told["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in told
    assert told["redirect_uris"] == wanted["redirect_uris"]
    for uri in wanted["redirect_uris"]:
        assert Flow(gateway=gateway, redirect_uri=uri).tokens()["token_type"] == "Bearer"


def test_missing_malformed_or_too_large_body_is_a_client_error(
    gateway: RunningGateway,
) -> None:
    of_form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"
    of_a_file = (
        b'--b\r\nContent-Disposition: form-data; name="client_id"; filename="f"\r\n\r\nx\r\n'
    )
    bodies = (
        (of_form, b"\xff\xfe=%ff%00&client_id=%00"),
        ("application/json", b"[" * 5000),
        ("application/json", b'{"redirect_uris": ["\\ud800"]}'),
        (parts, b"--b\r\nbroken"),
        (parts, of_a_file + b"--b--\r\n"),
        (of_form, b"x" * 100_000),
    )
    for endpoint in POSTED:
        url = f"{gateway.base}/issuer/{endpoint}"
        for of_type, body in bodies:
            headers = {"Content-Type": of_type}
            response = httpx2.post(url, content=body, headers=headers, timeout=120)

            assert 400 <= response.status_code < 500, (endpoint, of_type, body)
        assert response.status_code == 413, endpoint
    assert "Traceback" not in (gateway.data_dir / "gateway.log").read_text()


EVIL = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>"


def test_the_page_can_be_neither_framed_nor_scripted_nor_kept(flow: Flow) -> None:
    """It says where one goes."""
    with a_browser() as browser:
        response = browser.http.get(flow.link(), follow_redirects=True)

    assert f"<code>{CALLBACK}</code>" in response.text
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-store"
    cookie = response.headers["set-cookie"].lower()
    assert {"httponly", "samesite=strict"} <= {each.strip() for each in cookie.split(";")}


def test_forged_sign_in_form_is_refused(flow: Flow) -> None:
    with a_browser() as browser:
        page = browser.open(flow.link())
        without_cookie = httpx2.post(page.url, data={**page.fields, "user": "mallory"})
        without_field = browser.submit(page, user="mallory", form="")
        with_another = browser.submit(page, user="mallory", form="another")

        assert {answer.status_code for answer in (without_cookie, without_field, with_another)} == {
            403
        }
        assert browser.submit(page, user="alice").status_code == 303


def test_invalid_user_or_group_shows_the_sign_in_form_again(flow: Flow) -> None:
    users = ("", "-alice", "alice/research", "é", "a" * 129, EVIL)
    groups = ("a b", "x" * 129, ",".join(map(str, range(21))), f"<b>{EVIL}")
    wrong = [*((user, "staff") for user in users), *(("alice", each) for each in groups)]
    with a_browser() as browser:
        page = browser.open(flow.link())
        for user, group in wrong:
            response = browser.submit(page, user=user, groups=group)

            assert response.status_code == 400, (user, group)
            assert 'role="alert"' in response.text
            assert EVIL not in response.text
            page = read(response)
            assert (page.fields["user"], page.fields["groups"]) == (user, group)
        assert browser.submit(page, user="alice", groups="staff").status_code == 303


def test_sign_in_page_escapes_what_clients_send_or_register(flow: Flow) -> None:
    registered = "com.example:<script>alert(1)</script>"
    url = f"{flow.gateway.base}/issuer/register"
    httpx2.post(url, json={"redirect_uris": [registered]}, timeout=120).raise_for_status()

    with a_browser() as browser:
        for uri in (f"http://localhost/callback?x={EVIL}", registered):
            page = browser.http.get(flow.link(redirect_uri=uri, state=EVIL), follow_redirects=True)

            assert page.status_code == 200
            assert "<script>" not in page.text
            assert "onerror='" not in page.text
    assert "&lt;script&gt;" in page.text
