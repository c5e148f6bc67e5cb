"""
Bucket, records, index and control table compared, and mended where they tell differently.

- reconciliation: the audits in their order, a bounded piece at a time
- control, bucket, records, index (with listings and orphans), sources: an audit each; it finds
- attempts: what events would have done with keys, and whether that was all
- mending: what is done about what was found; in a dry run, nothing
- discrepancies: what can be found, and its remedy
- auditors: the audits put together

Imports uploads, runs and settlement's search check. Comes from: the schedule
(functions/reconciler), and `stackroom reconcile`. Goes to: the same code that events go through.
"""
