"""The shapes of requests and responses, one file per family of clients."""
