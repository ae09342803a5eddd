#!/usr/bin/env python3
"""functrace attached on a terminal: it detaches at Ctrl-C and other signals, and the program does not notice."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import (FUNCTRACE, contains, equal, is_gone, only_child, run_shell_tests, state_of, stat_of, tracer_of,
                      wait_until, will_end)

F = FUNCTRACE + " "


class Target:
    """A program that writes a line for each line that it reads."""

    def __init__(self):
        self.process = subprocess.Popen(["sh", "-c", "while read line; do echo $line; done"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = will_end(self.process.pid)

    def is_well(self):
        equal(tracer_of(self.pid), 0, "TracerPid")
        self.process.stdin.write("word\n")
        self.process.stdin.flush()
        equal(self.process.stdout.readline(), "word\n")

    def end(self):
        self.process.stdin.close()
        equal(self.process.wait(), 0)
        self.process.stdout.close()


def attach(shell, target, options=""):
    shell.send(F + options + "-t %d\n" % target.pid)
    wait_until("the attach", lambda: tracer_of(target.pid))
    visible = will_end(only_child(shell.pid))
    engine = will_end(only_child(will_end(only_child(visible))))
    equal(int(stat_of(engine)[2]), engine, "the engine's process group")
    return visible, engine


def test_interrupt(shell):
    """Ctrl-C detaches: status 0, the program runs on"""
    target = Target()
    for _ in range(5):
        visible, engine = attach(shell, target)
        shell.send("\x03")
        equal(shell.prompt(), 0)
        wait_until("the engine's end", lambda: is_gone(engine))
        target.is_well()
    target.end()


def test_interrupt_twice(shell):
    """more Ctrl-Cs do no harm"""
    target = Target()
    visible, engine = attach(shell, target)
    for _ in range(50):
        try:
            os.kill(visible, signal.SIGINT)
        except ProcessLookupError:
            break  # functrace has already ended
    equal(shell.prompt(), 0)
    target.is_well()
    target.end()


def test_signals(shell):
    """SIGTERM, SIGHUP and SIGQUIT detach, too"""
    target = Target()
    for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        visible, engine = attach(shell, target)
        os.kill(visible, sig)
        equal(shell.prompt(), 0)
        target.is_well()
    target.end()


def test_background(shell):
    """Ctrl-Z and bg put functrace into the background, fg and Ctrl-C end it"""
    target = Target()
    visible, engine = attach(shell, target)
    shell.send("\x1a")
    shell.prompt()
    equal(state_of(visible), "T")
    equal(tracer_of(target.pid), engine_thread(target.pid, engine))
    equal(shell.run("bg"), 0)
    shell.send("fg\n")
    shell.expect("-t")
    wait_until("the foreground", lambda: stat_of(visible)[5] == stat_of(visible)[2])
    shell.send("\x03")
    equal(shell.prompt(), 0)
    target.is_well()
    target.end()


def engine_thread(pid, engine):
    """Returns the target's TracerPid, which is the id of a thread of the engine."""
    tracer = tracer_of(pid)
    if tracer and os.path.exists("/proc/%d/task/%d" % (engine, tracer)):
        return tracer
    raise AssertionError("%d is traced by %d, not by %d" % (pid, tracer, engine))


def test_visible_killed(shell):
    """functrace is killed by SIGKILL: the program is detached from, no process is left"""
    target = Target()
    visible, engine = attach(shell, target)
    os.kill(visible, signal.SIGKILL)
    equal(shell.prompt(), 137)
    wait_until("the engine's end", lambda: is_gone(engine))
    target.is_well()
    target.end()


def test_engine_killed(shell):
    """the engine is killed: functrace says so and ends with 1, the program runs on"""
    target = Target()
    visible, engine = attach(shell, target)
    os.kill(engine, signal.SIGKILL)
    equal(shell.prompt(), 1)
    contains(shell.before, "was killed by signal 9")
    # The kernel detaches when the engine's thread ends. The guardian waits only 2 s for the engine's exit.
    wait_until("the tracer's end", lambda: tracer_of(target.pid) == 0)
    target.is_well()
    target.end()


def test_target_ends(shell):
    """when the program ends, functrace ends with 0"""
    target = Target()
    attach(shell, target)
    # If a program ends before functrace has attached, functrace fails.
    shell.expect("attached to")
    target.end()
    equal(shell.prompt(), 0)


def test_hang_up(shell):
    """the terminal hangs up: functrace detaches"""
    target = Target()
    visible, engine = attach(shell, target)
    shell.close()
    wait_until("functrace's end", lambda: is_gone(visible) and is_gone(engine))
    target.is_well()
    target.end()


def test_toggle(shell):
    """-S: the signal reaches functrace's engine and ends nothing"""
    target = Target()
    visible, engine = attach(shell, target, "-S USR1 ")
    for _ in range(3):
        os.kill(visible, signal.SIGUSR1)
    os.kill(engine, signal.SIGUSR1)  # as pkill does
    target.process.stdin.write("word\n")
    target.process.stdin.flush()
    equal(target.process.stdout.readline(), "word\n")
    os.kill(visible, signal.SIGINT)
    equal(shell.prompt(), 0)
    target.is_well()
    target.end()


def test_no_such_process(shell):
    """a process that does not exist: 1 and a message"""
    process = subprocess.Popen(["true"])
    process.wait()
    equal(shell.run(F + "-t %d" % process.pid), 1)
    contains(shell.before, str(process.pid))


if __name__ == "__main__":
    run_shell_tests(globals())
