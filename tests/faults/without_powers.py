"""Runs a command for which permissions count, even where it is run by root.

    python without_powers.py COMMAND ARGUMENT ...

Root may read and write everything; a process without these two capabilities may not, and neither
may those that it starts (capabilities(7)).
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2

WRAP = (sys.executable, __file__)
"""To be put before a command."""


def main() -> None:
    """Give the capabilities up and become the command."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "the capability cannot be given up")
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
