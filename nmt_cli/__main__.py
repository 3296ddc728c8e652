"""`python -m nmt_cli` is the command `nmt`."""

from nmt_cli.cli.app import main

if __name__ == "__main__":
    main()
