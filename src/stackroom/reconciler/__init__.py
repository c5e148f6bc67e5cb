"""
Bucket, records, index and control table compared, and mended where they tell differently.

- reconciliation: the audits in their order, a bounded piece at a time
- control, bucket, records, count_audit, deletions, index, sources, quarantine: an audit each; it
  finds
- of the index: listings (which data source), readings (both sides of it), set_reconciliation (what
  differs), recheck (that looked at again), orphans; places (where that stands), pace (how often it
  asks), retries (and how often again)
- open_documents: what is looked at between two full rounds
- rounds: when a full round is due, and how far it has come
- attended: whether a run looks after a catalog
- evictions: rejected files in an index, which a run takes out
- attempts: what events would have done with keys, and whether that was all
- mending: what is done about what was found; in a dry run, nothing
- discrepancies: what can be found, and its remedy
- auditors: the audits put together

Imports uploads, runs and ingestion's search check. Comes from: the schedule
(functions/reconciler), and `stackroom reconcile`. Goes to: the same code that events go through.
"""
