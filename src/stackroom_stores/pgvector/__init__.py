"""
Knowledge bases in PostgreSQL with the extension pgvector, in tables of our own.

`schema` defines the tables, `document_loading` writes into them, `repository` searches them, and
`pgvector_adapter` is the port's adapter over that. PostgreSQL's row level security decides which
rows a transaction sees: a statement that forgets its tenant finds nothing of others.

Needs PostgreSQL 15 and pgvector 0.8.0, or newer.
"""
