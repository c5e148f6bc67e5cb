"""
A catalog's run: the lease that makes it the only one, where it stands, and where the catalog lives.

- run_requests, run_leases: a run is asked for, and there is one at a time; lease: the ports of both
- run: what a run carries through the state machine, and how long it waits
- placement, data_sources: on which data source a catalog lives, and the port of these

It knows nothing of how documents are ingested. Requests for runs come from uploads, deletions and
retries; executions of the state machine come out. Leases and slots are kept in the control table.
"""
