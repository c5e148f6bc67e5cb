"""The reconciler over inventories of millions of documents, none of which is held in memory."""
