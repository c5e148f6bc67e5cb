"""Messages to queues."""
