"""A shell on a pseudo-terminal, and other functions for the tests of functrace's processes."""
import atexit
import functools
import os
import pty
import re
import select
import shutil
import signal
import sys
import tempfile
import termios
import time

# A shell ignores these signals in its background jobs, and functrace would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

FUNCTRACE = os.environ.get("FUNCTRACE", "")
PATIENCE = 60  # seconds to wait for an event that must come; never a measure

_started = []


def setup():
    """Changes to a new folder, in which traces are written. The folder is removed at the end."""
    if not FUNCTRACE or not os.access(FUNCTRACE, os.X_OK):
        print("1..0 # SKIP FUNCTRACE does not name an executable functrace")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="functrace-pty-")
    os.chdir(folder)
    atexit.register(_clean, folder)
    return folder


def _clean(folder):
    for pid, began in _started:
        # The number of a process that has ended may be that of another test's process now.
        if not began or began_at(pid) != began:
            continue
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    shutil.rmtree(folder, ignore_errors=True)


def will_end(pid):
    """Remembers a process, which is killed if a test fails before it has ended the process."""
    _started.append((pid, began_at(pid)))
    return pid


def began_at(pid):
    """Returns the time at which a process was started, which distinguishes it from others with its number; or None."""
    stat = stat_of(pid)
    return stat[19] if stat else None


def wait_until(what, condition):
    """Polls until condition() is true, and returns what it returned."""
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("in vain waited for: " + what)
        time.sleep(0.01)


def stat_of(pid):
    """Returns [state, ppid, pgrp, session, ...] of /proc/PID/stat, or None."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(") ")[2].split()
    except OSError:
        return None


def state_of(pid):
    stat = stat_of(pid)
    return stat[0] if stat else "gone"


def is_gone(pid):
    return state_of(pid) in ("gone", "Z", "X")


def children(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = stat_of(int(name))
            if stat and int(stat[1]) == pid and stat[0] != "Z":
                found.append(int(name))
    return found


def status_field(pid, field):
    try:
        with open("/proc/%d/status" % pid) as f:
            for line in f:
                if line.startswith(field + ":"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return None


def tracer_of(pid):
    value = status_field(pid, "TracerPid")
    return int(value) if value else 0


def only_child(pid):
    """Waits until a process has a child, and returns the child."""
    return wait_until("a child of %d" % pid, lambda: (children(pid) or [None])[0])


class Processes:
    """The visible process, guardian, engine and target of a functrace that a process has started. Waits until the
    target runs its program."""

    def __init__(self, parent, program):
        self.visible = will_end(only_child(parent))
        self.guardian = will_end(only_child(self.visible))
        self.engine = will_end(only_child(self.guardian))
        self.target = will_end(only_child(self.engine))
        wait_until("the exec of " + program,
                   lambda: os.path.basename(os.readlink("/proc/%d/exe" % self.target)) != os.path.basename(FUNCTRACE))


class Shell:
    """An interactive shell with job control. Its prompt contains the last status: `prompt:0> `."""

    def __init__(self, shell=("bash", "--norc", "--noediting", "-i")):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            for sig in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGPIPE, signal.SIGHUP):
                signal.signal(sig, signal.SIG_DFL)
            os.environ.update(PS1="prompt:$?> ", LC_ALL="C", TERM="dumb", HISTFILE="")
            os.execvp(shell[0], shell)
        will_end(self.pid)
        attributes = termios.tcgetattr(self.fd)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(self.fd, termios.TCSANOW, attributes)
        self.prompt()

    def _more(self):
        ready, _, _ = select.select([self.fd], [], [], 0.2)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def expect(self, pattern):
        """Reads until the regular expression matches; returns the match. The text before it is dropped."""
        end = time.monotonic() + PATIENCE
        while True:
            match = re.search(pattern, self.text)
            if match:
                self.before = self.text[:match.start()]
                self.text = self.text[match.end():]
                return match
            if time.monotonic() > end or not self._more():
                raise AssertionError("in vain waited for %r in %r" % (pattern, self.text))

    def send(self, text):
        os.write(self.fd, text.encode())

    def prompt(self):
        """Waits for the prompt; returns the status in it."""
        return int(self.expect(r"prompt:(\d+)> ").group(1))

    def run(self, line):
        """Runs a command and returns its status. The command's output is in self.before."""
        self.send(line + "\n")
        return self.prompt()

    def close(self):
        """Hangs up the terminal, unless that has been done."""
        if self.fd is not None:
            os.close(self.fd)
            os.waitpid(self.pid, 0)
            self.fd = None


def equal(got, expected, what=""):
    if got != expected:
        raise AssertionError("%s: %r, expected %r" % (what or "got", got, expected))


def contains(text, part):
    if part not in text:
        raise AssertionError("%r is not in %r" % (part, text))


def lacks(text, part):
    if part in text:
        raise AssertionError("%r is in %r" % (part, text))


class Skipped(Exception):
    """A test cannot run here; the text is the reason."""


def run_tests(tests, failed=0):
    """Runs test functions and prints TAP; the docstring of each one is its name. Ends this program, with 1 if a test
    has failed or `failed` is true."""
    def overdue(_signal, _frame):
        raise AssertionError("the test does not end")

    signal.signal(signal.SIGALRM, overdue)
    print("1..%d" % len(tests), flush=True)
    for number, test in enumerate(tests, 1):
        name = (test.__doc__ or test.__name__).strip().split("\n")[0]
        signal.alarm(3 * PATIENCE)
        try:
            test()
            print("ok %d - %s" % (number, name), flush=True)
        except Skipped as reason:
            print("ok %d - %s # SKIP %s" % (number, name, reason), flush=True)
        except (AssertionError, OSError) as error:
            failed += 1
            # The reason is also in a list of the failed tests, because that may be the only output that is saved.
            print("not ok %d - %s (%s)" % (number, name, str(error).split("\n")[0][:200].replace("#", "")))
            for line in str(error).split("\n") or [repr(error)]:
                print("# " + line, flush=True)
    signal.alarm(0)
    sys.exit(1 if failed else 0)


def run_shell_tests(names):
    """Runs the functions test_... of a script. A test with a parameter gets a shell, which is closed when it passes."""
    def with_shell(test):
        @functools.wraps(test)
        def run():
            shell = Shell()
            test(shell)
            shell.close()
        return run if test.__code__.co_argcount else test

    if not shutil.which("bash"):
        print("1..0 # SKIP bash is not installed")
        sys.exit(77)
    setup()
    run_tests([with_shell(value) for name, value in list(names.items()) if name.startswith("test_")])
