"""The shapes of requests and answers, one file per family of clients."""
