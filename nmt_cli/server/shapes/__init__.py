"""The shapes of requests and answers, a file for each family of clients."""
