#!/usr/bin/env python3
"""The line with counts on a terminal while functrace is attached."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pty_attach import F, Target, attach
from terminal import equal, lacks, run_shell_tests, tracer_of, wait_until


def test_progress(shell):
    """a line of counts is shown while functrace is attached, and is erased before any message"""
    target = Target()
    attach(shell, target)
    line = r"functrace: [\d,]+ events, [\d,]+ blocks with [\d,]+ bytes live, \d+:\d\d"
    first = shell.expect(line).group(0)
    shell.expect("\r {%d}\r%s" % (len(first), line))
    shell.send("\x03")
    equal(shell.prompt(), 0)
    match = re.search(r"\r( *)\rfunctrace: process \d+ (?:\(sh, program |was stopped for )", shell.before)
    if not match:
        raise AssertionError("the line was not taken away: %r" % shell.before)
    shell.send(F + "-q -t %d\n" % target.pid)
    wait_until("the attach", lambda: tracer_of(target.pid))
    time.sleep(1.5)
    shell.send("\x03")
    equal(shell.prompt(), 0)
    lacks(shell.before, "functrace:")
    target.is_well()
    target.end()


def test_progress_of_what_is_launched(shell):
    """no line of counts is shown for a launched program, which uses the terminal"""
    equal(shell.run(F + "sh -c 'sleep 1.5'"), 0)
    lacks(shell.before, "bytes live")
    lacks(shell.before, "attached to")


if __name__ == "__main__":
    run_shell_tests(globals())
