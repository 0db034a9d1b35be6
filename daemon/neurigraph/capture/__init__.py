"""Bringing conversations in and out: imports, the inbox, followed logs, exports."""
