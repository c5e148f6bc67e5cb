"""
A catalog's run: it takes up the catalog's open documents, sends them to Bedrock, and records a
verdict for each.

- run_requests, run_leases, lease: a run is asked for, and a catalog has one at a time
- run, placement, data_sources: what a run carries through the state machine, and the data source
  on which its catalog lives
- ledger, admission, workload, capacity: who may use a knowledge base next, how long work takes, and
  how many data sources of which kind a knowledge base has. Grants and the queue are kept in the
  control table; a task token wakes whoever is granted a turn
- run_tasks, by_job, by_direct_calls, polling: the tasks of the state machine
- evidence, verdicts: what Bedrock, inspections and searches say becomes a document's status
- broken_runs: a run that broke gets a successor; outages: what a refusing service delays
- user_caps: documents over a cap wait
- estimates, retry_failed, rereading: what owners and operators ask for
- bedrock_calls, inventory: the ports

Imports search, uploads, access, text and model. Requests for runs come from uploads, deletions and
retries.
"""
