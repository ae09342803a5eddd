#!/usr/bin/env python3
"""Tests the processes of functrace with an engine that only follows the target (engine_fake.c), in cases that only the
fake engine can provoke. With CHECK_LONG it also plays the scenarios that are played with the real functrace."""
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "..", "scenarios")
sys.path.insert(0, SCENARIOS)
os.environ["FUNCTRACE"] = os.path.join(os.path.abspath(os.environ.get("TOP_BUILDDIR", ".")), "tests/unit/functrace-fake")
from rounds import LONG
from terminal import FUNCTRACE, PATIENCE, Processes, contains, equal, run_tests, setup, wait_until, will_end

# The program prints the address of a page of its own, and then for each line that it reads the first bytes of that
# page.
PAGE = r"""
import ctypes, mmap, sys
page = mmap.mmap(-1, 4096)
page[:4] = b"\x55\x48\x89\xe5"
print(ctypes.addressof(ctypes.c_char.from_buffer(page)), flush=True)
for line in sys.stdin:
    print(page[:4].hex(), flush=True)
"""


class Page:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-S", "-c", PAGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        will_end(self.process.pid)
        self.address = int(self.process.stdout.readline())

    def bytes(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        equal(self.process.wait(PATIENCE), 0)
        self.process.stdout.close()


def start(*words, **environment):
    return subprocess.Popen([FUNCTRACE] + list(words), stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, **environment))


def test_guard():
    """the engine dies: functrace restores the text"""
    page = Page()
    for cause in ({"FAKE_CRASH": "1"}, {}):
        process = start("-t", str(page.process.pid), FAKE_BREAKPOINT=str(page.address), **cause)
        if not cause:
            wait_until("the breakpoint", lambda: page.bytes() == "cc4889e5")
            os.kill(children_of(children_of(process.pid)[0])[0], signal.SIGKILL)
        errors = process.communicate(timeout=PATIENCE)[1]
        equal(process.returncode, 1)
        contains(errors, "(breakpoints removed: 1)")
        equal(page.bytes(), "554889e5")
    page.end()


def test_guard_of_a_watch():
    """the engine dies: the message of functrace names the trace, or with --watch the results, as what remains"""
    page = Page()
    for options, remains in (((), "the trace can be read up to the last record"),
                             (("--watch", "-o", "."), "the results of the watch up to the last interval are kept"),
                             (("--watch",), "what the watch has seen since the last interval is lost")):
        process = start("-t", str(page.process.pid), *options, FAKE_BREAKPOINT=str(page.address), FAKE_CRASH="1")
        contains(process.communicate(timeout=PATIENCE)[1], remains)
        equal(process.returncode, 1)
    page.end()


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(word) for word in f.read().split()]


def test_no_guard_needed():
    """the engine detaches: functrace has nothing to restore"""
    page = Page()
    process = start("-t", str(page.process.pid), FAKE_BREAKPOINT=str(page.address))
    wait_until("the breakpoint", lambda: page.bytes() == "cc4889e5")
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=PATIENCE)[1]
    equal((process.returncode, errors), (0, "functrace: attached to %d\nfunctrace: the summary\n" % page.process.pid))
    equal(page.bytes(), "554889e5")
    page.end()


def test_visible_killed_guard():
    """functrace itself is killed: the engine removes its breakpoints"""
    page = Page()
    process = start("-t", str(page.process.pid), FAKE_BREAKPOINT=str(page.address))
    wait_until("the breakpoint", lambda: page.bytes() == "cc4889e5")
    process.kill()
    process.wait()
    wait_until("the text to be whole", lambda: page.bytes() == "554889e5")
    process.stderr.close()
    page.end()


def test_no_answer():
    """the tracing thread does not answer SIGTERM: functrace ends it and restores the text"""
    page = Page()
    process = start("-t", str(page.process.pid), FAKE_BREAKPOINT=str(page.address), FAKE_HANG="1")
    wait_until("the breakpoint", lambda: page.bytes() == "cc4889e5")
    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=PATIENCE)[1]
    equal(process.returncode, 1)
    contains(errors, "has not answered a request to detach for 1 s")
    contains(errors, "(breakpoints removed: 1)")
    equal(page.bytes(), "554889e5")
    page.end()


def test_slow_end():
    """the tracing thread detaches for longer than it may wait with its answer: a second SIGTERM does not end it"""
    page = Page()
    process = start("-S", "USR2", "-t", str(page.process.pid), FAKE_BREAKPOINT=str(page.address), FAKE_SLOW="1")
    wait_until("the breakpoint", lambda: page.bytes() == "cc4889e5")
    equal(process.stderr.readline(), "functrace: attached to %d\n" % page.process.pid)
    process.send_signal(signal.SIGTERM)
    # From the answer on, the limit is 0.3 s. Before it, the tracing thread may get no processor for longer.
    equal(process.stderr.readline(), "functrace: detaches slowly\n")
    for number in (signal.SIGTERM, signal.SIGUSR2):
        time.sleep(0.6)  # twice as long as the limit of this test
        process.send_signal(number)
    equal(process.wait(PATIENCE), 0)
    equal(process.stderr.read(), "functrace: the summary\n")
    process.stderr.close()
    equal(page.bytes(), "554889e5")
    page.end()


def test_ticks():
    """ticks arrive while the program sleeps"""
    process = start("sleep", "1000", FAKE_TICKS="1")
    p = Processes(os.getpid(), "sleep")
    for number in (1, 2, 3):
        equal(process.stderr.readline(), "functrace: tick %d\n" % number)
    os.kill(p.target, signal.SIGKILL)
    equal(process.wait(PATIENCE), -signal.SIGKILL)
    process.stderr.close()


def test_toggles():
    """each toggle signal arrives while the program sleeps"""
    process = start("-S", "USR2", "sleep", "1000")
    p = Processes(os.getpid(), "sleep")
    for number in range(1, 101):
        os.kill(p.visible, signal.SIGUSR2)
        equal(process.stderr.readline(), "functrace: toggle %d\n" % number)
    os.kill(p.target, signal.SIGTERM)
    equal(process.wait(PATIENCE), -signal.SIGTERM)
    equal(process.stderr.read(), "functrace: the summary\n")
    process.stderr.close()


def test_lost_midway():
    """the trace is lost while the program runs: functrace still ends with the program's status"""
    process = start("sh", "-c", "while [ ! -e go-on ]; do sleep 0.02; done; exit 9", FAKE_LOSE="1")
    equal(process.stderr.readline(), "functrace: the trace is lost\n")
    equal(process.stderr.readline(), "functrace: the summary\n")
    open("go-on", "w").close()
    equal(process.wait(PATIENCE), 9)
    process.stderr.close()


def test_failed():
    """tracing fails before it begins: status 1, and the program has not run"""
    process = start("touch", "ran", FAKE_FAIL="1")
    equal(process.communicate(timeout=PATIENCE)[1], "functrace: tracing is refused\n")
    equal(process.returncode, 1)
    equal(os.path.exists("ran"), False)


def test_crash_launched():
    """the engine dies under a launched program: the program runs on, functrace waits for it and ends with its status"""
    process = start("sh", "-c", "while [ ! -e go-on2 ]; do sleep 0.02; done; echo done >result; exit 7", FAKE_CRASH="1")
    contains(process.stderr.readline(), "was killed by signal 9")
    equal(process.poll(), None)
    open("go-on2", "w").close()
    process.communicate(timeout=PATIENCE)
    equal(process.returncode, 7)
    with open("result") as f:
        equal(f.read(), "done\n")


if __name__ == "__main__":
    failed = 0
    for scenario in ("pty_jobs.py", "pty_attach.py", "process_state.py") if LONG else ():
        print("# below functrace-fake: " + scenario, flush=True)
        failed |= subprocess.run([sys.executable, os.path.join(SCENARIOS, scenario)]).returncode not in (0, 77)
    setup()
    run_tests([value for name, value in list(globals().items()) if name.startswith("test_")], failed)
