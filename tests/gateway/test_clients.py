"""Several clients of the stand-in at the same time."""

from concurrent.futures import ThreadPoolExecutor

from stackroom_local.gateway.issuer import Issuer
from tests.gateway.serving import RunningGateway


def test_parallel_calls_of_two_users_never_mix(gateway: RunningGateway, issuer: Issuer) -> None:
    users = ["alice", "bob"] * 10
    tokens = {user: issuer.mint(user) for user in set(users)}

    def call(numbered: tuple[int, str]) -> tuple[str, str]:
        number, user = numbered
        seen = gateway.echo(token=tokens[user], query=f"{user}-{number}")
        headers = seen["custom"]["bedrockAgentCorePropagatedHeaders"]
        return headers["x-user-sub"], seen["event"]["query"]

    with ThreadPoolExecutor(max_workers=20) as pool:
        answers = list(pool.map(call, enumerate(users)))

    assert answers == [(user, f"{user}-{number}") for number, user in enumerate(users)]
