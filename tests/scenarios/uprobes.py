"""Finds out whether another program traces the whole machine meanwhile: a uprobe in the C library (bpftrace, perf) is a
breakpoint in the text of every process, also of this one. A failure of a scenario is then not functrace's."""

import ctypes
import os
import threading
import time

BREAKPOINT = b'\xcc'


class Watch:
    """Reads malloc and free of this process all the time, on x86 only: on other machines nothing else traces, and in an
    emulated one reading so often takes too much time."""

    def __init__(self):
        library = ctypes.CDLL(None)
        self.places = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                       for name in ('malloc', 'free', 'calloc', 'realloc')]
        self.seen = 0.0  # the last time when one was seen, on the monotonic clock
        if os.uname().machine in ('x86_64', 'i686'):
            threading.Thread(target=self.run, daemon=True).start()

    def here(self):
        return any(ctypes.string_at(place, 1) == BREAKPOINT for place in self.places)

    def run(self):
        while True:
            if self.here():
                self.seen = time.monotonic()
            time.sleep(0.02)

    def since(self, start):
        """Returns true if there was a uprobe at any time since then."""
        return self.seen >= start - 0.1

    def wait_until_gone(self, seconds):
        end = time.monotonic() + seconds
        while self.since(time.monotonic() - 0.5) and time.monotonic() < end:
            time.sleep(0.1)
