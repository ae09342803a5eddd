#!/usr/bin/env python3
"""What a launched program inherits is what it would have inherited without functrace; functrace without a terminal."""
import os
import resource
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import FUNCTRACE, PATIENCE, Processes, contains, equal, is_gone, run_tests, setup, state_of, wait_until

# Writes all that it finds of its inheritance to the file that its argument names.
MIRROR = r"""
import os, resource, sys
found = []
with open("/proc/self/status") as f:
    for line in f:
        if line.split(":")[0] in ("SigBlk", "SigIgn", "SigCgt", "ShdPnd", "Umask", "NoNewPrivs", "Cpus_allowed", "Uid"):
            found.append(line.strip())
found += ["leads its group %r" % (os.getpgrp() == os.getpid()), "session %d" % os.getsid(0), "nice %d" % os.nice(0)]
found += ["in %s" % os.getcwd(), "environment %r" % sorted(os.environ)]
for name in sorted(dir(resource)):
    if name.startswith("RLIMIT_"):
        found.append("%s %r" % (name, resource.getrlimit(getattr(resource, name))))
for fd in sorted(int(n) for n in os.listdir("/proc/self/fd")):
    try:
        found.append("descriptor %d %s" % (fd, os.readlink("/proc/self/fd/%d" % fd)))
    except OSError:
        pass
with open(sys.argv[1], "w") as f:
    f.write("\n".join(found))
"""


def mirror_twice(what, before=None, **options):
    """Runs the mirror without and with functrace, both in the surroundings that before() makes: it must see the same."""
    seen = []
    for prefix in ([], [FUNCTRACE, "-q"]):
        code = subprocess.run(prefix + [sys.executable, "-S", "mirror.py", "seen"], preexec_fn=before, timeout=PATIENCE,
                              **options).returncode
        equal(code, 0, what)
        with open("seen") as f:
            seen.append(f.read().split("\n"))
        os.unlink("seen")
    for plain, traced in zip(*seen):
        equal(traced, plain, what)
    equal(len(seen[1]), len(seen[0]), what)
    return seen[0]


def test_plain():
    """signals, limits, group, session, descriptors and environment are the same"""
    lines = mirror_twice("plain")
    contains("\n".join(lines), "leads its group False")


def test_odd_signals():
    """blocked and ignored signals are inherited, SIGCHLD too"""
    def before():
        for sig in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGTTOU):
            signal.signal(sig, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGTERM, signal.SIGCHLD, signal.SIGRTMIN])
    lines = mirror_twice("odd signals", before)
    contains("\n".join(lines), "SigBlk:\t0000000200014800")


def test_limits():
    """limits, umask and niceness are inherited: functrace raises its own only"""
    def before():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.RLIM_INFINITY))
        os.umask(0o27)
        os.nice(3)
    lines = mirror_twice("limits", before)
    contains("\n".join(lines), "RLIMIT_NOFILE (100, 200)")


def test_descriptors():
    """inherited descriptors reach the program"""
    with open("/dev/zero") as f:
        lines = mirror_twice("descriptors", pass_fds=[f.fileno()])
        contains("\n".join(lines), "descriptor %d /dev/zero" % f.fileno())


def test_closed_standard():
    """closed standard descriptors stay closed in the program"""
    for fds in ((0,), (1,), (0, 1), (2,), (0, 1, 2)):
        def before(fds=fds):
            for fd in fds:
                os.close(fd)
        mirror_twice("closed %r" % (fds,), before)


def test_no_terminal():
    """without a terminal, and in a session of its own"""
    for extra in ({"stdin": subprocess.DEVNULL, "start_new_session": True}, {"stdin": subprocess.DEVNULL}):
        run = subprocess.run([FUNCTRACE, "-q", "sh", "-c", "echo out; exit 6"], stdout=subprocess.PIPE, timeout=PATIENCE,
                             **extra)
        equal((run.returncode, run.stdout), (6, b"out\n"))


def test_signalled_without_terminal():
    """a caller sees the signal that killed the program, and no core of functrace's"""
    def before():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for sig in (signal.SIGABRT, signal.SIGKILL, signal.SIGTERM, signal.SIGUSR1, signal.SIGRTMIN + 2):
        pid = os.fork()
        if pid == 0:
            try:
                before()
                os.execv(FUNCTRACE, [FUNCTRACE, "-q", sys.executable, "-S", "-c",
                                     "import os, resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
                                     "os.kill(os.getpid(), %d)" % sig])
            finally:
                os._exit(99)
        _, status = os.waitpid(pid, 0)
        equal(os.WIFSIGNALED(status) and os.WTERMSIG(status), int(sig))
        equal(os.WCOREDUMP(status), False, "functrace's core")


def test_stopped_in_orphaned_group():
    """SIGSTOP and SIGCONT to a program whose group is orphaned: functrace follows, and ends with it"""
    process = subprocess.Popen([FUNCTRACE, "-q", "sleep", "1000"], start_new_session=True)
    p = Processes(os.getpid(), "sleep")
    os.kill(p.target, signal.SIGSTOP)
    wait_until("the stop", lambda: state_of(p.target) in "tT" and state_of(p.visible) == "T")
    os.kill(p.target, signal.SIGCONT)
    wait_until("functrace to run", lambda: state_of(p.visible) == "S" and state_of(p.target) == "S")
    os.kill(p.target, signal.SIGSTOP)
    wait_until("the stop", lambda: state_of(p.visible) == "T")
    os.kill(p.target, signal.SIGKILL)
    equal(process.wait(PATIENCE), -signal.SIGKILL)
    wait_until("the engine's end", lambda: is_gone(p.engine))


def test_ignored_hangup():
    """as nohup starts it, functrace ignores SIGHUP; SIGTERM still lets go"""
    process = subprocess.Popen([FUNCTRACE, "-q", "sleep", "1000"],
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    p = Processes(os.getpid(), "sleep")
    os.kill(p.visible, signal.SIGHUP)
    os.kill(p.target, signal.SIGHUP)
    os.kill(p.visible, signal.SIGTERM)
    equal(process.wait(PATIENCE), -signal.SIGTERM)
    equal(is_gone(p.target), False)
    os.kill(p.target, signal.SIGKILL)
    wait_until("the engine's end", lambda: is_gone(p.engine))


def test_usage():
    """wrong usage: 2, a sentence and where help is"""
    for words in ([], ["-b", "999", "true"], ["--bogus", "true"], ["-t", "1", "true"], ["-e", "nonsense", "true"],
                  ["-x", "f", "true"], ["-o", "/no/such/folder/", "true"]):
        run = subprocess.run([FUNCTRACE] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, text=True)
        equal((run.returncode, run.stdout), (2, ""))
        contains(run.stderr, "functrace")
        contains(run.stderr, "--help")


if __name__ == "__main__":
    setup()
    with open("mirror.py", "w") as script:
        script.write(MIRROR)
    run_tests([value for name, value in list(globals().items()) if name.startswith("test_")])
