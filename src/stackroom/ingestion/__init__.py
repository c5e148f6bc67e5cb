"""
Beginning rounds: a run takes up what is open in its catalog, by one job or by direct calls.

Imports runs, admission, settlement, and the sidecars of uploads. The state machine calls its tasks
(`run_tasks`); open documents come from the catalog's records, and what was taken up goes back there
under the round's id, for settlement. `estimates` and `retry` answer the catalog's owner.
"""
