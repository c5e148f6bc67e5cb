"""
Compare bucket, records, index and control table, and repair what differs.

- audit_rounds: runs the audits in order, a bounded piece at a time, and says when a round is due
- audited: all that is compared, which every audit receives
- control_audit, bucket_audit, count_audit, record_audit, search_audit, text_audit, index_audit:
  find discrepancies
- index_orphans: documents in an index that have no record
- bedrock_requests: limits and repeats requests to knowledge bases
- mending: repairs what was found; in a dry run it only reports
- discrepancies: the kinds of discrepancies and their remedies

Imports uploads and runs. The schedule (functions/reconciler) and `stackroom reconcile` start it. It
repairs through the code that handles events.
"""
