"""
Bucket, records, index and control table compared, and mended where they tell differently.

- audit_rounds: the audits in their order, a bounded piece at a time; when the next round is due
- audited: all that is compared, which every audit is given
- control_audit, bucket_audit, count_audit, record_audit, search_audit, index_audit: each finds
- of the index: index_orphans (what no record tells of)
- bedrock_requests: how often the knowledge bases are asked, and how often again
- mending: what is done about what was found; in a dry run, nothing
- discrepancies: what can be found, and its remedy

Imports uploads, runs and ingestion's search check. Comes from: the schedule
(functions/reconciler), and `stackroom reconcile`. Goes to: the same code that events go through.
"""
