#!/usr/bin/env python3
"""A launched program on a terminal behaves under functrace as it does without: keys, job control, status."""
import os
import pty
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import (FUNCTRACE, Processes, Shell, children, contains, equal, is_gone, lacks, only_child,
                      run_shell_tests, state_of, stat_of, tracer_of, wait_until, will_end)

F = FUNCTRACE + " "

# The programs run without forking: a shell that has just vforked for its next sleep cannot be stopped before the child
# has execed, and a stopped child does not exec. They keep their files open: Python drops exceptions, also that of
# Ctrl-C, while it closes a file automatically.
BEAT = F + sys.executable + """ -S -c '
import os, time
beats = os.open("beats", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
while True:
    os.write(beats, b"beat\\n")
    time.sleep(0.01)
'"""


def waiter(go_on, result):
    """Returns the command of a program that prints `ready`, waits for the file go_on, and writes `done` into the file
    `result`."""
    return F + sys.executable + """ -S -c '
import os, time
print("ready", flush=True)
while not os.path.exists("%s"):
    time.sleep(0.01)
open("%s", "w").write("done\\n")
'""" % (go_on, result)


def all_gone(*pids):
    wait_until("the end of %r" % (pids,), lambda: all(is_gone(pid) for pid in pids))


def test_status(shell):
    """exit statuses 0, 1 and 42 are functrace's status"""
    for status in (0, 1, 42):
        equal(shell.run(F + "sh -c 'exit %d'" % status), status)


def test_killed(shell):
    """a program is killed by a signal: the shell sees the signal"""
    equal(shell.run(F + "sh -c 'kill -KILL $$'"), 137)
    contains(shell.before, "Killed")
    equal(shell.run(F + "sh -c 'kill -SEGV $$'"), 139)
    contains(shell.before, "Segmentation fault")
    equal(shell.run(F + "sh -c 'kill -USR1 $$'"), 138)
    contains(shell.before, "User defined signal 1")


def test_not_run(shell):
    """status 127 for a program that does not exist, 126 for one that cannot be run"""
    equal(shell.run(F + "no-such-program-here"), 127)
    contains(shell.before, "no-such-program-here was not found in PATH")
    equal(shell.run(F + "./no-such-file"), 127)
    contains(shell.before, "does not exist")
    with open("script", "w") as f:
        f.write("#!/no/such/interpreter\n")
    os.chmod("script", 0o755)
    equal(shell.run(F + "./script"), 127)
    contains(shell.before, "interpreter")
    equal(shell.run(F + "/etc/passwd"), 126)
    contains(shell.before, "not an executable file")
    equal(shell.run(F + "/"), 126)


def test_interrupt(shell):
    """Ctrl-C ends the program: status 130, no process is left"""
    shell.send(F + "sleep 1000\n")
    p = Processes(shell.pid, "sleep")
    shell.send("\x03")
    equal(shell.prompt(), 130)
    all_gone(p.visible, p.engine, p.target)


def test_interrupt_caught(shell):
    """a program that catches Ctrl-C runs on, and Ctrl-backslash ends only the program"""
    shell.send(F + "sh -c 'trap \"echo caught\" INT; trap \"echo quit; exit 5\" QUIT; echo ready; "
               "while :; do sleep 0.05; done'\n")
    shell.expect("ready")
    for _ in range(3):
        shell.send("\x03")
        shell.expect("caught")
    shell.send("\x1c")
    shell.expect("quit")
    equal(shell.prompt(), 5)


def test_stop_and_fg(shell):
    """Ctrl-Z really stops the program, fg continues it, again and again"""
    shell.send(F + "sh -c 'echo ready; read line; echo got-$line; exit 7'\n")
    shell.expect("ready")
    p = Processes(shell.pid, "sh")
    for _ in range(5):
        shell.send("\x1a")
        equal(shell.prompt(), 128 + signal.SIGSTOP)
        contains(shell.before, "Stopped")
        wait_until("the stop", lambda: state_of(p.target) in "tT" and state_of(p.visible) == "T")
        shell.send("fg\n")
        wait_until("the program to go on", lambda: state_of(p.target) == "S" and state_of(p.visible) == "S")
    shell.send("word\n")
    shell.expect("got-word")
    equal(shell.prompt(), 7)


def test_bg(shell):
    """bg continues the program in the background; fg and Ctrl-C end it"""
    shell.send(BEAT + "\n")
    p = Processes(shell.pid, "python")
    wait_until("a beat", lambda: os.path.exists("beats"))
    shell.send("\x1a")
    shell.prompt()
    wait_until("the stop", lambda: state_of(p.target) in "tT")
    size = os.path.getsize("beats")
    equal(shell.run("jobs"), 0)
    contains(shell.before, "Stopped")
    equal(os.path.getsize("beats"), size, "beats of a stopped program")
    equal(shell.run("bg"), 0)
    wait_until("beats in the background", lambda: os.path.getsize("beats") > size)
    equal(shell.run("jobs"), 0)
    contains(shell.before, "Running")
    shell.send("fg\n")
    wait_until("the foreground", lambda: stat_of(p.visible)[5] == stat_of(p.visible)[2])
    shell.send("\x03")
    shell.expect("KeyboardInterrupt")
    equal(shell.prompt(), 130)
    all_gone(p.visible, p.engine, p.target)


def test_reads_terminal(shell):
    """the program reads the terminal until end-of-file"""
    shell.send(F + "cat\n")
    Processes(shell.pid, "cat")
    shell.send("one line\n")
    shell.expect("one line\r\n")
    shell.send("\x04")
    equal(shell.prompt(), 0)


def test_background_read(shell):
    """a background job that reads the terminal is stopped, and reads when it is brought to the front"""
    # bash is used, because busybox's sh checks whether there is a line before it reads.
    equal(shell.run(F + "bash -c 'read line; echo got-$line' &"), 0)
    p = Processes(shell.pid, "bash")
    wait_until("the stop", lambda: state_of(p.target) in "tT" and state_of(p.visible) == "T")
    # The kernel shows the stop before it notifies the shell.
    wait_until("the shell to know", lambda: shell.run("jobs") == 0 and "Stopped" in shell.before)
    shell.send("fg\n")
    wait_until("the program to go on", lambda: state_of(p.target) == "S")
    shell.send("word\n")
    shell.expect("got-word")
    equal(shell.prompt(), 0)


def test_same_group(shell):
    """the program is in functrace's process group, which is the terminal's foreground; the engine is not"""
    shell.send(F + "sleep 1000\n")
    p = Processes(shell.pid, "sleep")
    visible, engine, target = stat_of(p.visible), stat_of(p.engine), stat_of(p.target)
    equal(target[2], visible[2], "group")
    equal(int(engine[2]), p.engine, "the engine's group")
    equal([visible[3], engine[3], target[3]], [str(shell.pid)] * 3, "sessions")
    equal(target[5], visible[2], "foreground group")
    shell.send("\x03")
    equal(shell.prompt(), 130)


def test_visible_killed_running(shell):
    """functrace is killed by SIGKILL while the program runs: it runs on, untraced, and ends normally"""
    shell.send(waiter("go-on", "result") + "\n")
    shell.expect("ready")
    p = Processes(shell.pid, "python")
    os.kill(p.visible, signal.SIGKILL)
    equal(shell.prompt(), 137)
    wait_until("the tracer's end", lambda: tracer_of(p.target) == 0)
    equal(int(stat_of(p.target)[1]), p.engine, "the parent")
    open("go-on", "w").close()
    all_gone(p.target, p.engine)
    with open("result") as f:
        equal(f.read(), "done\n")


def test_visible_killed_stopped(shell):
    """functrace is killed by SIGKILL while the program is stopped: it stays stopped, and SIGCONT continues it"""
    shell.send(waiter("go-on2", "result2") + "\n")
    shell.expect("ready")
    p = Processes(shell.pid, "python")
    shell.send("\x1a")
    shell.prompt()
    wait_until("the stop", lambda: state_of(p.target) in "tT" and state_of(p.visible) == "T")
    os.kill(p.visible, signal.SIGKILL)
    wait_until("the end of functrace", lambda: is_gone(p.visible))
    wait_until("the tracer's end", lambda: tracer_of(p.target) == 0)
    wait_until("an untraced stop", lambda: state_of(p.target) == "T")
    # If the program's process group had become orphaned, the kernel would have sent it SIGHUP at once.
    shell.run("true")
    equal(state_of(p.target), "T")
    open("go-on2", "w").close()
    os.kill(p.target, signal.SIGCONT)
    all_gone(p.target, p.engine)
    with open("result2") as f:
        equal(f.read(), "done\n")


def test_killed_while_stopped(shell):
    """the program is killed while it is stopped: functrace ends, too"""
    shell.send(F + "sleep 1000\n")
    p = Processes(shell.pid, "sleep")
    shell.send("\x1a")
    shell.prompt()
    wait_until("the stop", lambda: state_of(p.visible) == "T")
    os.kill(p.target, signal.SIGKILL)
    all_gone(p.visible, p.engine, p.target)
    shell.run("true")
    shell.run("true")


def test_stopped_from_outside(shell):
    """SIGSTOP and SIGCONT to the program alone stop and continue functrace, too, again and again"""
    shell.send(F + "sleep 1000\n")
    p = Processes(shell.pid, "sleep")
    os.kill(p.target, signal.SIGSTOP)
    shell.prompt()
    for _ in range(200):
        os.kill(p.target, signal.SIGCONT)
        os.kill(p.target, signal.SIGSTOP)
    os.kill(p.target, signal.SIGCONT)
    wait_until("functrace to run", lambda: state_of(p.visible) == "S" and state_of(p.target) == "S")
    shell.run("kill %1")  # to the process group: the program ends; functrace detaches, or has seen the end
    all_gone(p.visible, p.engine, p.target)


def test_terminate(shell):
    """SIGTERM to functrace: it detaches and ends, the program runs on untraced"""
    shell.send(F + "sleep 1000\n")
    p = Processes(shell.pid, "sleep")
    os.kill(p.visible, signal.SIGTERM)
    equal(shell.prompt(), 143)
    wait_until("the tracer's end", lambda: tracer_of(p.target) == 0)
    # The detached program may run for a moment before it sleeps again.
    wait_until("the program to sleep on", lambda: state_of(p.target) == "S")
    equal(is_gone(p.engine), False)
    os.kill(p.target, signal.SIGKILL)
    all_gone(p.engine, p.target)


def test_engine_terminate(shell):
    """SIGTERM to the engine alone: it detaches, and functrace still ends with the program's status"""
    shell.send(F + "sh -c 'while [ ! -e go-on3 ]; do sleep 0.02; done; exit 9'\n")
    p = Processes(shell.pid, "sh")
    os.kill(p.engine, signal.SIGTERM)
    wait_until("the tracer's end", lambda: tracer_of(p.target) == 0)
    open("go-on3", "w").close()
    equal(shell.prompt(), 9)
    all_gone(p.visible, p.engine, p.target)


def test_engine_killed(shell):
    """the engine is killed: functrace says so, the program runs on with the terminal, and functrace ends with the program's status"""
    shell.send(F + "sh -c 'echo ready; read line; echo got-$line; exit 7'\n")
    shell.expect("ready")
    p = Processes(shell.pid, "sh")
    os.kill(p.engine, signal.SIGKILL)
    shell.expect("was killed by signal 9")
    shell.send("word\n")
    shell.expect("got-word")
    equal(shell.prompt(), 7)
    all_gone(p.visible, p.guardian, p.target)


def session_leader(words):
    """Runs `words` as the first program of a terminal, as in a container: no shell could continue it."""
    shell = Shell.__new__(Shell)
    shell.text = ""
    shell.pid, shell.fd = pty.fork()
    if shell.pid == 0:
        os.execvp(words[0], words)
    will_end(shell.pid)
    return shell


def test_session_leader():
    """functrace is a terminal's first program: its process group is orphaned, so that Ctrl-Z stops nothing, as in an untraced run"""
    for words in ([], [FUNCTRACE, "-q"]):
        shell = session_leader(words + ["sh", "-c", "echo ready; read line; echo got-$line; exit 4"])
        shell.expect("ready")
        shell.send("\x1a")
        shell.send("word\n")
        shell.expect("got-word")
        equal(os.waitstatus_to_exitcode(os.waitpid(shell.pid, 0)[1]), 4)
        os.close(shell.fd)


def test_session_leader_whose_program_has_ended():
    """functrace is a terminal's first program and waits for a child that outlives the program: Ctrl-Z stops nothing"""
    shell = session_leader([FUNCTRACE, "-q", "sh", "-c", "trap '' HUP; sleep 1000 & echo child=$!.; read line; exit 4"])
    child = will_end(int(shell.expect(r"child=(\d+)\.").group(1)))
    engine = only_child(only_child(shell.pid))
    shell.send("\n")
    wait_until("the program's end", lambda: not children(engine))

    def is_over():
        """Sends Ctrl-Z and Ctrl-C again, because the signals are meant for the program until functrace has seen the
        program's end."""
        shell.send("\x1a\x03")
        return is_gone(shell.pid)

    wait_until("functrace's end", is_over)
    equal(os.waitstatus_to_exitcode(os.waitpid(shell.pid, 0)[1]), 4)
    equal(is_gone(child), False)
    os.kill(child, signal.SIGKILL)
    all_gone(engine, child)
    os.close(shell.fd)


def test_hang_up(shell):
    """the terminal hangs up: the program gets SIGHUP, no process is left"""
    shell.send(F + "sleep 1000\n")
    p = Processes(shell.pid, "sleep")
    shell.close()
    all_gone(p.visible, p.engine, p.target)


def test_hang_up_survived(shell):
    """the terminal hangs up and the program ignores that: it runs on untraced"""
    shell.send(F + "sh -c 'trap \"\" HUP; echo ready; exec sleep 1000'\n")
    shell.expect("ready")
    p = Processes(shell.pid, "sh")
    shell.close()
    all_gone(p.visible)
    wait_until("the tracer's end", lambda: tracer_of(p.target) == 0)
    equal(is_gone(p.target), False)
    os.kill(p.target, signal.SIGKILL)
    all_gone(p.engine, p.target)


def test_outlived(shell):
    """the program ends before its child: Ctrl-C detaches from the child, the status is the program's"""
    shell.send(F + "sh -c 'setsid sh -c \"echo \\$\\$ >child; exec sleep 1000\" & "
               "while [ ! -s child ] || [ ! -e go-on4 ]; do sleep 0.02; done; exit 3'\n")
    p = Processes(shell.pid, "sh")
    open("go-on4", "w").close()
    all_gone(p.target)
    with open("child") as f:
        child = will_end(int(f.read()))

    def is_over():
        """Sends the signal to functrace's process group, as the terminal does. Until functrace has seen the program's
        end, the signal is meant for the program. A functrace that has ended has returned the terminal to the shell."""
        try:
            os.killpg(p.visible, signal.SIGINT)
        except ProcessLookupError:
            pass
        return is_gone(p.visible)

    wait_until("functrace's end", is_over)
    equal(shell.prompt(), 3)
    wait_until("the tracer's end", lambda: tracer_of(child) == 0)
    equal(is_gone(child), False)
    os.kill(child, signal.SIGKILL)
    all_gone(p.visible, p.engine, child)


def test_pipeline(shell):
    """in a pipeline, functrace keeps no pipe open that the program has closed"""
    shell.send(F + "sh -c 'echo first; exec >/dev/tty; read line; echo second' | (cat; echo reader ended)\n")
    shell.expect("first")
    shell.expect("reader ended")  # while the program still runs
    shell.send("\n")
    shell.expect("second")
    equal(shell.prompt(), 0)
    equal(shell.run("seq 100000 | " + F + "head -n 1; echo ${PIPESTATUS[0]}"), 0)
    contains(shell.before, "141")


def test_stdout_is_trace(shell):
    """-o -: the program's own output goes to standard error"""
    equal(shell.run(F + "-q -f text -o - sh -c 'echo mine; echo error >&2' 2>errors | sed s/^/trace:/; cat errors"), 0)
    contains(shell.before.replace("\r", ""), "mine\nerror\n")
    lacks(shell.before, "trace:mine")


if __name__ == "__main__":
    run_shell_tests(globals())
