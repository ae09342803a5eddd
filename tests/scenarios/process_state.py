#!/usr/bin/env python3
"""Tests that a launched program inherits the same state as without functrace, and tests functrace without a
terminal."""
import os
import resource
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rounds import LONG
from terminal import (FUNCTRACE, PATIENCE, Processes, children, contains, equal, is_gone, lacks, run_tests, setup, state_of,
                      tracer_of, wait_until, will_end)

# Writes all inherited state to the file that its argument names.
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
    """Runs MIRROR without and with functrace, each time after before(): it must find the same state. --cpu=free is
    needed because MIRROR allocates after it has opened /proc/self/status and before it reads, and functrace might put
    it on one CPU in between (placement.py tests what --cpu=auto hides)."""
    seen = []
    for prefix in ([], [FUNCTRACE, "-q", "--cpu=free"]):
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
    """blocked and ignored signals are inherited, also SIGCHLD"""
    def before():
        for sig in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGTTOU):
            signal.signal(sig, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGTERM, signal.SIGCHLD, signal.SIGRTMIN])
    lines = mirror_twice("odd signals", before)
    contains("\n".join(lines), "SigBlk:\t0000000200014800")


def test_limits():
    """limits, umask and niceness are inherited: functrace raises only its own"""
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
    for fds in ((0,), (1,), (2,), (0, 1), (0, 1, 2)) if LONG else ((0,), (0, 1, 2)):
        def before(fds=fds):
            for fd in fds:
                os.close(fd)
        mirror_twice("closed %r" % (fds,), before)


def test_no_terminal():
    """the inherited state is the same without a terminal, and in a session of its own"""
    for extra in ({"stdin": subprocess.DEVNULL, "start_new_session": True}, {"stdin": subprocess.DEVNULL}):
        run = subprocess.run([FUNCTRACE, "-q", "sh", "-c", "echo out; exit 6"], stdout=subprocess.PIPE, timeout=PATIENCE,
                             **extra)
        equal((run.returncode, run.stdout), (6, b"out\n"))


def test_signalled_without_terminal():
    """a caller sees the signal that killed the program, and functrace dumps no core"""
    def before():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    some = (signal.SIGABRT, signal.SIGKILL, signal.SIGRTMIN + 2)
    for sig in (*some, signal.SIGTERM, signal.SIGUSR1) if LONG else some:
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
        equal(os.WCOREDUMP(status), False, "functrace dumps core")


def test_stopped_in_orphaned_group():
    """SIGSTOP and SIGCONT to a program in an orphaned process group: functrace stops and continues with it, and ends with it"""
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


# This program ends and leaves a stopped child, whose pid it writes to the file that its argument names.
LEAVER = r"""
import os, signal, sys
pid = os.fork()
if pid == 0:
    for sig in (signal.SIGHUP, signal.SIGCONT):
        signal.signal(sig, lambda sig, frame: open(sys.argv[1] + ".got", "a").write("%d " % sig))
    os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        signal.pause()
os.waitpid(pid, os.WUNTRACED)
with open(sys.argv[1], "w") as f:
    f.write(str(pid))
"""


def signals_of_stopped_child(words, **options):
    """Returns the signals that a program's stopped child gets when the program ends, and whether it is still
    stopped."""
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=PATIENCE, check=True, **options)
    with open("left") as f:
        child = will_end(int(f.read()))
    stopped = state_of(child) == "T"
    # The child ends only after its pending handlers have run, because the signal that ends it is sent last.
    if not stopped:
        wait_until("the signals", lambda: os.path.exists("left.got") and open("left.got").read().count(" ") == 2)
    os.kill(child, signal.SIGKILL)
    wait_until("the child's end", lambda: is_gone(child))
    os.unlink("left")
    got = ""
    if os.path.exists("left.got"):
        with open("left.got") as f:
            got = " ".join(sorted(f.read().split()))
        os.unlink("left.got")
    return stopped, got


def test_orphaned_children():
    """at a program's end its stopped children get the same signals as in an untraced run"""
    with open("leaver.py", "w") as f:
        f.write(LEAVER)
    program = [sys.executable, "-S", "leaver.py", "left"]
    ways = (
        ("a session of its own", lambda words: words, {"start_new_session": True}),
        ("a group of its own", lambda words: words, {"preexec_fn": lambda: os.setpgid(0, 0)}),
        ("a group with others", lambda words: words, {}),
        ("a script in a session", lambda words: ["sh", "-c", '"$@"; true', "sh"] + words, {"start_new_session": True}),
        ("a script in a group", lambda words: ["sh", "-c", '"$@"; true', "sh"] + words,
         {"preexec_fn": lambda: os.setpgid(0, 0)}),
        ("setsid", lambda words: ["setsid", "--wait"] + words, {}),
        ("nohup", lambda words: ["nohup"] + words, {"start_new_session": True, "stderr": subprocess.DEVNULL}),
        ("timeout", lambda words: ["timeout", "50"] + words, {"start_new_session": True}),
        ("a pipeline", lambda words: ["sh", "-c", 'echo | "$@"', "sh"] + words, {"start_new_session": True}),
    )
    for name, make, options in ways if LONG else ways[::2]:
        if name in ("setsid", "nohup", "timeout") and not shutil.which(name):
            print("# %s is not installed" % name, flush=True)
            continue
        plain = signals_of_stopped_child(make(program), **options)
        traced = signals_of_stopped_child(make([FUNCTRACE, "-q", "-F"] + program), **options)
        print("# %s: %s" % (name, "stays stopped" if plain[0] else "gets signals " + plain[1]), flush=True)
        equal(traced, plain, name)


def test_ignored_hangup():
    """functrace that nohup started ignores SIGHUP, and detaches at SIGTERM"""
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


def test_attached_ignored_signals():
    """functrace that a script attaches in the background ignores SIGINT at its start: kill -INT detaches all the same; SIGHUP under nohup does not"""
    for ignored, sig in ((signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGTERM),
                         (signal.SIGQUIT, signal.SIGQUIT)):
        target = subprocess.Popen(["sleep", "1000"])
        will_end(target.pid)
        process = subprocess.Popen([FUNCTRACE, "-q", "-t", str(target.pid)],
                                   preexec_fn=lambda ignored=ignored: signal.signal(ignored, signal.SIG_IGN))
        will_end(process.pid)
        wait_until("the tracer", lambda: tracer_of(target.pid) != 0)
        process.send_signal(sig)
        equal(process.wait(PATIENCE), 0, "signal %d" % sig)
        equal(target.poll(), None)
        equal(tracer_of(target.pid), 0)
        process = subprocess.Popen([FUNCTRACE, "-q", "-t", str(target.pid)],
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        will_end(process.pid)
        wait_until("the tracer", lambda: tracer_of(target.pid) != 0)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        equal(process.wait(PATIENCE), 0)
        target.kill()
        target.wait()


def test_names():
    """only the visible process has functrace's name and command line; the target has its own"""
    os.mkdir("functrace-traces")
    process = subprocess.Popen([FUNCTRACE, "-q", "-o", "functrace-traces/", "sleep", "1000"])
    p = Processes(os.getpid(), "sleep")
    for pid, name in ((p.guardian, "ft-guard"), (p.engine, "ft-engine")):
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            equal(f.read().strip(b"\0"), name.encode())
        for tid in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/comm" % (pid, tid)) as f:
                comm = f.read().strip()
            if pid == p.guardian or comm not in ("ft-reader", "ft-names"):  # threads of the engine that read files
                equal(comm, name)
    with open("/proc/%d/cmdline" % p.target, "rb") as f:
        equal(f.read(), b"sleep\0001000\0")
    adjustments = []
    for pid in (os.getpid(), p.visible, p.target, p.engine, p.guardian):
        with open("/proc/%d/oom_score_adj" % pid) as f:
            adjustments.append(int(f.read()))
    equal(adjustments[1:3], [adjustments[0]] * 2, "oom_score_adj of functrace and the program")
    try:
        with open("/proc/self/oom_score_adj", "w") as f:
            f.write(str(adjustments[0] - 1))
        with open("/proc/self/oom_score_adj", "w") as f:
            f.write(str(adjustments[0]))
        equal(adjustments[3:], [-900] * 2, "oom_score_adj of the engine and the guardian")
    except PermissionError:
        print("# without CAP_SYS_RESOURCE there is no protection from the OOM killer", flush=True)
    os.kill(p.target, signal.SIGKILL)
    equal(process.wait(PATIENCE), -signal.SIGKILL)


def test_killed_before_its_program():
    """a program that is killed before its exec, or during it, ends functrace by that signal"""
    for _ in range(5):
        process = subprocess.Popen([FUNCTRACE, "-q", "-o", "killed", "sleep", "1000"])
        target = process.pid
        for _ in range(3):  # kills G, E and T without a pause, whichever program they run
            found = []
            while not found:
                with open("/proc/%d/task/%d/children" % (target, target)) as f:
                    found = f.read().split()
            target = will_end(int(found[0]))
        os.kill(target, signal.SIGKILL)
        equal(process.wait(PATIENCE), -signal.SIGKILL)


def without_proc(words, **options):
    """Runs a command in a mount namespace without /proc."""
    return subprocess.Popen(["unshare", "-m", "sh", "-c", 'umount -l /proc; exec "$@"', "sh"] + words,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def may_unshare():
    done = subprocess.run(["unshare", "-m", "umount", "-l", "/proc"], stderr=subprocess.DEVNULL)
    if done.returncode:
        print("# skipped: a mount namespace of its own cannot be made here", flush=True)
    return done.returncode == 0


def test_without_proc():
    """without /proc functrace starts nothing, and says that it needs /proc"""
    if not may_unshare():
        return
    target = subprocess.Popen(["sleep", "1000"])
    will_end(target.pid)
    for words in (["-t", str(target.pid)], ["touch", "ran"]):
        process = without_proc([FUNCTRACE, "-o", "x"] + words)
        will_end(process.pid)
        out, err = process.communicate(timeout=PATIENCE)
        equal((process.returncode, out), (1, ""))
        contains(err, "/proc")
        contains(err, "mount -t proc")
        lacks(err, "no such process")
    equal(os.path.exists("ran"), False)
    target.kill()
    target.wait()


def test_foreign_proc():
    """functrace reports that /proc belongs to another PID namespace"""
    done = subprocess.run(["unshare", "-p", "-f", "true"], stderr=subprocess.DEVNULL)
    if done.returncode:
        print("# skipped: a PID namespace of its own cannot be made here", flush=True)
        return
    run = subprocess.run(["unshare", "-p", "-f", FUNCTRACE, "touch", "ran"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, timeout=PATIENCE)
    equal((run.returncode, run.stdout), (1, ""))
    contains(run.stderr, "another PID namespace")
    equal(os.path.exists("ran"), False)


def is_settled(target):
    """Returns true if the tracer has attached and waits for stops, and not for the engine's thread that reads files."""
    try:
        with open("/proc/%d/wchan" % tracer_of(target)) as f:
            where = f.read()
            return "wait" in where and "futex" not in where
    except OSError:
        return False


def test_proc_goes_away():
    """/proc is unmounted while functrace traces: at SIGINT and SIGTERM it detaches and the program runs on; when a launched program ends, functrace ends"""
    if not may_unshare():
        return
    script = '"$@" & pid=$!; read go; umount -l /proc; echo gone; wait $pid'
    for sig in (signal.SIGINT, signal.SIGTERM):
        target = subprocess.Popen(["sleep", "1000"])
        will_end(target.pid)
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", script, "sh", FUNCTRACE, "-q", "-t", str(target.pid)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        will_end(process.pid)
        wait_until("the tracer", lambda: is_settled(target.pid))
        process.stdin.write("go\n")
        process.stdin.flush()
        equal(process.stdout.readline(), "gone\n")
        visible = [pid for pid in children(process.pid)]
        equal(len(visible), 1)
        os.kill(visible[0], sig)
        equal(process.wait(PATIENCE), 0)
        equal((target.poll(), tracer_of(target.pid)), (None, 0))
        target.kill()
        target.wait()
    process = subprocess.Popen(["unshare", "-m", "sh", "-c", script, "sh", FUNCTRACE, "-q", "sh", "-c",
                                "while [ ! -e go-on5 ]; do sleep 0.02; done; exit 5"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p = Processes(process.pid, "sh")
    wait_until("the tracer", lambda: is_settled(p.target))
    process.stdin.write("go\n")
    process.stdin.flush()
    equal(process.stdout.readline(), "gone\n")
    open("go-on5", "w").close()
    equal(process.wait(PATIENCE), 5)
    wait_until("the engine's end", lambda: is_gone(p.engine))


def test_usage():
    """wrong usage: status 2, a sentence, and a pointer to the help"""
    for words in ([], ["-b", "999", "true"], ["--bogus", "true"], ["-t", "1", "true"], ["-e", "nonsense", "true"],
                  ["-x", "", "true"], ["-o", "/no/such/folder/", "true"]):
        run = subprocess.run([FUNCTRACE] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, text=True)
        equal((run.returncode, run.stdout), (2, ""))
        contains(run.stderr, "functrace")
        contains(run.stderr, "--help")


if __name__ == "__main__":
    setup()
    with open("mirror.py", "w") as script:
        script.write(MIRROR)
    run_tests([value for name, value in list(globals().items()) if name.startswith("test_")])
