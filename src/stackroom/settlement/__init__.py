"""
Settling rounds: what became of each document that a round took up, written into its record.

Imports runs, admission and tenancy; ingestion and audits are above it. Evidence comes from Bedrock,
our inspections and searches; verdicts go into records and receipts. What differs between the types
of data sources is a module each (`own_source`, `shared_source`). `broken_runs` settles what a
run that broke has left.
"""
