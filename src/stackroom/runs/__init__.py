"""
A catalog's run: the lease that makes it the only one, where it stands, and where the catalog lives.

Imports ports and the model; knows nothing of how documents are ingested. Requests for runs come
from uploads, deletions and retries; executions of the state machine come out. What a run carries
(`progress`) travels through the state machine; leases and slots are kept in the control table.
"""
