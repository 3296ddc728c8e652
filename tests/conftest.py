from __future__ import annotations

import signal

# Started in the background of a script, tests and all that they start would ignore Ctrl-C, which some of them press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
