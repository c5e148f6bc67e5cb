"""docs/stores.md: its prices are those of docs/store_prices.py, and the sums are right."""

import pytest

from docs import store_prices
from docs.store_prices import PAGE, Cost, costs, with_prices


def cost_of(store: str) -> Cost:
    return next(each for each in costs() if each.store == store)


def test_the_page_is_in_step() -> None:
    page = PAGE.read_text()

    assert page == with_prices(page), "run `make docs`"


def test_what_a_month_and_a_thousand_questions_cost_is_as_worked_out_by_hand() -> None:
    # 4,096 + 1,200 + 500 + 500 bytes, a million times, at $0.06 a GB
    assert cost_of("S3_VECTORS").month == "$0.38"
    # 1,000 x $0.0000025 + 1,000 x 4,596 bytes x (100,000 x $0.004 + 900,000 x $0.002) a TB
    # + 20,000 tokens x $0.00000002 = 0.0025 + 0.0101 + 0.0004
    assert cost_of("S3_VECTORS").questions == "$0.013"
    assert cost_of("MANAGED").month.startswith("$4.80 ")
    assert cost_of("MANAGED").questions == "$1.00"


def test_twice_as_many_chunks_cost_twice_as_much_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_prices, "CHUNKS", 2_000_000)

    assert cost_of("S3_VECTORS").month == "$0.76"
    assert cost_of("MANAGED").month.startswith("$9.60 ")


def test_every_price_says_where_it_was_read() -> None:
    assert all(each.source and each.dollars > 0 for each in store_prices.PRICES)
