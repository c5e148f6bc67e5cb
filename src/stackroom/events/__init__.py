"""
What changed, told to whoever wants to know: events of documents, catalogs and deletions.

- changes: two states of a record -> the event that tells them apart, or none
- event_log: the events of each user, numbered, kept for a week; list_events reads them
- publishing: an event told to its owner's log, to EventBridge, and to webhooks
- webhooks: addresses that are told, and how their calls are signed

Nothing in the pipeline announces anything: a change is seen where it is recorded, in the tables'
streams (aws/dynamodb/stream_records.py), by functions/event_publisher. Imports documents.
"""
