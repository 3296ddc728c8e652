"""The HTTP interfaces of the server, one file per family of clients."""
