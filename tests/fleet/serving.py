"""Starts tests/fleet/metrics-made, which shows made-up intervals, and tells it what to show."""

import os
import re
import select
import subprocess
import urllib.parse

PROGRAM = os.path.join(os.environ.get("TOP_BUILDDIR", "."), "tests/fleet/metrics-made")
MINUTE = 60


def words(fields):
    return " ".join(f"{key}={urllib.parse.quote(value if isinstance(value, bytes) else str(value), safe='+:/,()')}"
                    for key, value in fields)


class Refused(Exception):
    """metrics_open() failed; the text is its reason."""


class Serving:
    """with Serving("0") as made: made.show({...}, [{...}]); made.port is that of the message, if there is one."""

    def __init__(self, where, command=()):
        self.process = subprocess.Popen([*command, PROGRAM, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.messages, self.status = b"", None
        answer = self.answer()
        if answer != "open":
            self.process.stdin.close()
            self.process.wait(MINUTE)
            raise Refused(answer + self.process.stderr.read().decode())
        # The message is written before the answer.
        while select.select([self.process.stderr], [], [], 0)[0]:
            self.messages += os.read(self.process.stderr.fileno(), 65536)
        url = re.search(rb"http://(\S+):(\d+)/metrics", self.messages)
        self.address, self.port = (url[1].decode().strip("[]"), int(url[2])) if url else (None, None)

    def answer(self):
        assert select.select([self.process.stdout], [], [], MINUTE)[0], "no answer"
        return self.process.stdout.readline().decode().rstrip("\n")

    def order(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = self.answer()
        assert answer == "done", (line, answer, self.process.poll())

    def show(self, interval, rows=()):
        for row in rows:
            fields = [(key, value) for key, value in row.items() if key != "frames"]
            frames = [("frame", frame) for frame in row.get("frames", ())]
            self.order("row " + words(fields + frames))
        self.order("interval " + words(interval.items()))

    def forget(self, pid):
        self.order(f"forget {pid}")

    def close(self):
        """Returns all messages."""
        if self.status is None:
            rest = self.process.communicate(timeout=MINUTE)[1]
            self.messages += rest
            self.status = self.process.returncode
        return self.messages.decode()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind and self.process.poll() is None:
            self.process.kill()
        messages = self.close()
        assert kind or self.status == 0, (self.status, messages)


def interval(pid=1, **changes):
    """An interval in which everything is known."""
    return {"pid": pid, "service": "shop", "host": "h1", "program": "shopd", "build_id": "ab12", "way": "kernel",
            "began": 1000, "begin": 1060, "end": 1120.5, "windows": 30, "looks": 12, "calls": 123456789012, "unseen": 3,
            "pause": 0.0025, "stacks": 40, "budget": 0.02, "target": 0.011, "own": 0.006, "share": 0.05,
            "heap_bytes": 5000000, "heap_blocks": 700, "before": 1000000, "unattributed": 250000, "lost": 4096,
            **changes}


def row(number, live=1000, growth=0, **changes):
    return {"id": f"{number:x}", "live": live, "live_low": live / 2, "live_high": live * 2, "growth": growth,
            "growth_low": growth / 2, "growth_high": growth * 2, "lost": 0, "verdict": 0,
            "frames": [f"make_{number}", "main"], **changes}
