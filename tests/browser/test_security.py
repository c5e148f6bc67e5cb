"""
Two people in two browsers: nothing of one's comes to the other, whatever the other tries.

Made from the route table, so that a new line of it is tried without a word here.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, product
from string import Formatter

import pytest

from stackroom_console.endpoint import Audience, Endpoint, Kind
from stackroom_console.routes import ROUTES
from stackroom_local.state import Instance
from tests.browser.asking import Answer, ask, call
from tests.browser.belongings import Belongings, belongings_of
from tests.browser.conftest import NewAttempts, SignedIn
from tests.console.test_access import NOBODYS, told
from tests.console.things import Things
from tests.e2e.people import Person

GUARDED = [each for each in ROUTES if each.audience is not Audience.ANYONE]
NAMING = [each for each in GUARDED if "{" in each.path]
HTMX = {"HX-Request": "true"}
NUMBERS = count()  # each test has people of its own


@pytest.fixture
def hers(signed_in: SignedIn, instance: Instance) -> Belongings:
    return belongings_of(signed_in(f"ann-{next(NUMBERS)}"), instance, "heliotrope")


@pytest.fixture
def his(signed_in: SignedIn, instance: Instance) -> Belongings:
    return belongings_of(signed_in(f"tom-{next(NUMBERS)}"), instance, "vermilion")


def test_what_is_anothers_is_as_unknown_as_what_never_was(
    hers: Belongings, his: Belongings, attempts: NewAttempts
) -> None:
    """Each of her ids, alone and beside his own, in each address, by a script and by htmx."""
    tried, page, before = attempts("another's pages and endpoints"), his.owner.page, hers.kept()

    for endpoint in NAMING:
        for anothers, nobodys in mixed(endpoint, hers.things, his.things):
            for headers in ({}, HTMX):
                answer, unknown = (
                    call(page, endpoint, things.address(endpoint), things.body(endpoint), **headers)
                    for things in (anothers, nobodys)
                )
                is_told_apart = shape(answer, anothers) != shape(unknown, nobodys)
                tried.note(
                    f"{told(endpoint)} at {anothers.address(endpoint)}: {answer}, not {unknown}",
                    got_in=answer.status != 404 or is_told_apart,
                )

    assert hers.kept() == before
    tried.none_succeeded(least=2 * len(NAMING))


def test_no_page_of_ones_own_has_anything_of_anothers(
    hers: Belongings, his: Belongings, attempts: NewAttempts
) -> None:
    """Nor does a list go on from what is hers."""
    tried, page = attempts("another's things among one's own"), his.owner.page

    for endpoint in (each for each in GUARDED if not each.changes):
        address = his.things.address(endpoint)
        for query in ("", *map("?after={0}&catalog={0}".format, hers.ids)):
            answer = ask(page, "GET", address + query)
            tried.note(
                f"{address}{query}: {answer}",
                got_in=hers.are_in(answer.text.replace(query.rpartition("=")[2] or query, "")),
            )

    tried.none_succeeded(least=len(GUARDED) // 2)


def test_a_question_of_anothers_catalog_is_one_of_none(
    hers: Belongings, his: Belongings, attempts: NewAttempts
) -> None:
    tried, page = attempts("another's things in questions"), his.owner.page
    [asking] = [each for each in GUARDED if each.path == "/ask" and each.changes]

    anothers, nobodys = (
        call(page, asking, "/ask", {"query": f"What is {hers.word}?", "catalog": each})
        for each in (hers.things.catalog_id, NOBODYS.catalog_id)
    )
    of_all = call(page, asking, "/ask", {"query": "What are the contents?"})

    tried.note(f"{anothers}", got_in=anothers.status != 404)
    tried.note(f"{nobodys}", got_in=shape(anothers, hers.things) != shape(nobodys, NOBODYS))
    tried.note(f"{of_all}", got_in=hers.are_in(of_all.text))
    tried.none_succeeded(least=3)


def test_a_bearer_token_opens_what_is_its_own_alone(
    hers: Belongings, his: Belongings, instance: Instance, attempts: NewAttempts
) -> None:
    """Also beside her cookie and her CSRF token, since a token is all that counts."""
    tried, before = attempts("another's endpoints with a bearer token"), hers.kept()
    bearer = {"Authorization": f"Bearer {Person(instance, his.owner.name).token()}"}

    for endpoint in (each for each in NAMING if each.kind is Kind.API):
        address, given = hers.things.address(endpoint), hers.things.body(endpoint)
        answer = call(hers.owner.page, endpoint, address, given, **bearer)
        tried.note(f"{told(endpoint)}: {answer}", got_in=answer.status != 404)

    assert hers.kept() == before
    tried.none_succeeded(least=5)


def mixed(endpoint: Endpoint, hers: Things, his: Things) -> Iterator[tuple[Things, Things]]:
    """Each mixture of ids that isn't all his, and the same with nobody's in the place of hers."""
    named = {name for _, name, _, _ in Formatter().parse(endpoint.path) if name}
    names = {"catalog_id" if each == "knowledge_base_id" else each for each in named}
    if endpoint.changes and hers.catalog_id in hers.body(endpoint).values():
        names.add("catalog_id")
    for chosen in product((True, False), repeat=len(names)):
        taken = [name for name, is_hers in zip(sorted(names), chosen, strict=True) if is_hers]
        if taken:
            yield (
                replace(his, **{name: getattr(hers, name) for name in taken}),
                replace(his, **{name: getattr(NOBODYS, name) for name in taken}),
            )


def shape(answer: Answer, things: Things) -> tuple[int, str]:
    """But for the ids that whoever asked named."""
    text = answer.text
    for name, value in vars(things).items():
        text = text.replace(value, name)
    return answer.status, text
