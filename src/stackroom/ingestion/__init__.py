"""
Rounds: a run takes up what is open in its catalog, by one job or by direct calls, and what became
of each document is written into its record.

The state machine calls its tasks: `run_tasks` begins things, `by_job` or `by_direct_calls`;
`polling` looks at them. What Bedrock says, completed by inspections and searches (`evidence`),
makes a verdict (`verdicts`). `broken_runs` has another run follow one that broke. `estimates` and
`retry_failed` answer the catalog's owner, `rereading` an operator. `bedrock_calls` and `inventory`
are the ports. Imports runs, quota, access, inspection, and the sidecars of uploads.
"""
