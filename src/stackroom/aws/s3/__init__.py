"""Objects of the documents' bucket, and of others."""
