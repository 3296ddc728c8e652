"""The Python interface: the functions that `import nmt_cli as nmt` offers, and that the commands and the server call.

Prints nothing, sets no signal handler and never exits; every error that a user can cause is an `NmtError`. The names at
the top of the package (`nmt_cli/__init__.pyi`) are imported from here on first use.
"""
