"""
Knowledge bases in PostgreSQL with the extension pgvector, in tables of our own.

`schema` says what there is and makes it, `document_loading` writes into it, `repository` searches
it, and `pgvector_adapter` is the port's adapter over that. Whose rows a transaction sees is
PostgreSQL's to say, by row level security: a statement that forgets its tenant finds nothing of
others.

Needs PostgreSQL 15 and pgvector 0.8.0, or newer.
"""
