"""
A catalog's run: it takes up the catalog's open documents, sends them to Bedrock, and records a
verdict for each.

- run_leases: worklists; a run is asked for, and a worklist has one at a time
- run, placement: what a run carries through the state machine, and the data source
  on which its catalog lives
- ledger, admission, capacity: who may use a knowledge base next, how long work takes, and how many
  data sources of which kind a knowledge base has. Grants and the queue are kept in the control
  table; a task token wakes the run that is granted a turn
- run_tasks, by_job, work_queue, direct_calls: the tasks of the state machine, and what they send
- polling: what became of it
- evidence, search_check, verdicts: what Bedrock, inspections and searches say becomes a document's
  status
- broken_runs: a run that broke gets a successor
- user_caps: documents over a cap wait
- estimates, retries: what owners and operators ask for
- bedrock_calls, inventory: the ports

Imports search, uploads, access, text and model. Requests for runs come from uploads, deletions and
retries.
"""
