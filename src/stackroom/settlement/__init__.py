"""
Settling rounds: what became of each document that a round took up, written into its record.

Imports runs, admission and tenancy; ingestion and the reconciler are above it. Evidence comes from
Bedrock, our inspections and searches; verdicts go into records and receipts. `broken_runs` settles
what a run that broke has left, and `restart` has another follow it.
"""
