"""What a knowledge base may be kept in, and searched by: an adapter, filters and an entry each."""
