"""Runs the reconciler over millions of documents, without holding them in memory."""
