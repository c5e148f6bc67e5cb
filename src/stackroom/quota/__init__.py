"""
Who may use a knowledge base, and when.

- ledger: what is granted, who waits, and whom a use case asks for it
- grants: asking for a turn, giving it back, and waking who is next
- schedule: whose turn it is, by rules alone; workload: how much somebody has to do, and how long
  such work took
- capacity: how many data sources, and of which, fit into a knowledge base

Runs queue up here from ingestion. Grants and the queue are kept in the control table, and whoever
is granted something is woken by a task token.
"""
