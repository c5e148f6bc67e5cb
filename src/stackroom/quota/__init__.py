"""
Who may use a knowledge base, and when.

Imports ports and the model; the rules (`schedule`) are pure. Runs queue up here from ingestion, and
give back from ingestion; grants and the queue are kept in one book, in the control
table, and whoever is granted something is woken by a task token.
"""
