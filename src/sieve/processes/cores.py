"""How many cores this process may use. Knows nothing of who asks."""

import os


def usable_cores() -> int:
    """Cores that the scheduler lets this process run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
