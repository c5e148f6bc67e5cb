"""One order of several."""

from collections import defaultdict
from collections.abc import Sequence

# How little the very first ranks count more than those behind them: of Cormack, Clarke and
# Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"
# (SIGIR 2009).
_FUSION = 60


def fused(*orders: Sequence[int], of_equals: Sequence[int] = ()) -> list[int]:
    """
    Things by their numbers, best first, from several orders of them.

    What an order leaves out gets nothing from it. Of equals `of_equals` decides, which is an order,
    too; of those that it leaves out, the first one's order.
    """
    shares: defaultdict[int, float] = defaultdict(float)
    for order in orders:
        for rank, number in enumerate(order, start=1):
            shares[number] += 1 / (_FUSION + rank)
    places = {number: place for place, number in enumerate(of_equals)}
    last = len(places)
    return sorted(shares, key=lambda number: (-shares[number], places.get(number, last)))
