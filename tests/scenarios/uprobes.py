"""Whether someone traces the whole machine meanwhile: a uprobe in the C library (bpftrace, perf) is a breakpoint
in the text of every process, this one too. What a scenario finds then is not functrace's doing."""

import ctypes
import os
import threading
import time

BREAKPOINT = b'\xcc'


class Watch:
    """Looks at this process's own malloc and free all the time; where they are x86's, for elsewhere nobody else traces, and
    looking so often takes an emulated machine's time."""

    def __init__(self):
        library = ctypes.CDLL(None)
        self.places = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                       for name in ('malloc', 'free', 'calloc', 'realloc')]
        self.seen = 0.0  # when last, on the monotonic clock
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
        """Whether there was one at any time since then."""
        return self.seen >= start - 0.1

    def wait_until_gone(self, seconds):
        end = time.monotonic() + seconds
        while self.since(time.monotonic() - 0.5) and time.monotonic() < end:
            time.sleep(0.1)
