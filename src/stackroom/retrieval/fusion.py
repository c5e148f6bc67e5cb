"""One order of several."""

from collections import defaultdict
from collections.abc import Sequence

# How little the very first ranks count more than those behind them: of Cormack, Clarke and
# Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"
# (SIGIR 2009).
_FUSION = 60


def fused(*orders: Sequence[int]) -> list[int]:
    """
    Things by their numbers, best first, from several orders of them.

    What an order leaves out gets nothing from it; of equals, the first one's order decides.
    """
    shares: defaultdict[int, float] = defaultdict(float)
    for order in orders:
        for rank, number in enumerate(order, start=1):
            shares[number] += 1 / (_FUSION + rank)
    return sorted(shares, key=lambda number: -shares[number])
