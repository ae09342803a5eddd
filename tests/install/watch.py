#!/usr/bin/env python3
"""functrace-watch@.service and its script: a fake systemctl says which process a service has, and a stand-in for
functrace logs its arguments; systemd's own tools check the unit. Prints TAP. systemd.py runs the unit."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../post"))

from run import Skip, main

BUILD = os.environ["TOP_BUILDDIR"]
SCRIPT = os.path.join(BUILD, "systemd/functrace-watch")
UNIT = os.path.join(BUILD, "systemd/functrace-watch@.service")
PATIENCE = 60
# How exposed the unit is, by systemd-analyze: from 0 (least) to 10.
EXPOSURE = 1.8

# Answers as systemd does for the service in the file `state`, and counts the questions.
SYSTEMCTL = """#!/bin/sh
echo "$*" >>'%(folder)s/questions'
case $* in
*ControlGroup*) cat '%(folder)s/group' 2>/dev/null ;;
'show --property=MainPID,ActiveState,LoadState,Slice -- web.service') cat '%(folder)s/state' ;;
*) exit 1 ;;
esac
"""
# Ends as functrace does: with the process, or at SIGTERM; with a status at once if there is a file `status`.
PROGRAM = """#!/bin/sh
# Before the arguments, because the test may send SIGTERM as soon as it has read them.
trap 'echo TERM >>"%(folder)s/arguments"; exit 0' TERM
echo "$@" >>'%(folder)s/arguments'
# The file may be removed between two commands.
if status=$(cat '%(folder)s/status' 2>/dev/null); then exit "$status"; fi
for pid; do :; done
while read -r line <"/proc/$pid/stat"; do
	case $line in *') Z '*) break ;; esac
	sleep 0.05
done 2>/dev/null
"""


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.02)


class World:
    """A service, a systemd that knows it, and a watch of it."""

    def __init__(self, folder, program=PROGRAM, **options):
        self.folder = str(folder)
        self.service = self.watch = None
        self.log_path = self.path("log")
        os.mkdir(self.path("bin"))
        os.mkdir(self.path("kept"))
        for name, text in (("bin/systemctl", SYSTEMCTL), ("program", program)):
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write(text % {"folder": self.folder, "functrace": os.environ["FUNCTRACE"]})
            os.chmod(self.path(name), 0o755)
        self.env = {"PATH": self.path("bin") + ":" + os.environ["PATH"], "STATE_DIRECTORY": self.path("kept"),
                    "FUNCTRACE_WATCH_PROGRAM": self.path("program"), "FUNCTRACE_WATCH_PAUSE": "0.05", **options}
        self.tell("inactive")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.watch, self.service):
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def path(self, name):
        return os.path.join(self.folder, name)

    def tell(self, state, pid=0, load="loaded"):
        """Makes systemd say this about the service."""
        with open(self.path("state.new"), "w", encoding="ascii") as file:
            file.write("MainPID=%d\nActiveState=%s\nLoadState=%s\nSlice=system.slice\n" % (pid, state, load))
        os.rename(self.path("state.new"), self.path("state"))

    def begin(self, *command):
        self.service = subprocess.Popen(command or ["sleep", "600"])
        self.tell("active", self.service.pid)
        return self.service.pid

    def end(self, state="inactive"):
        """Ends the service; systemd notices it after the process has ended."""
        self.service.kill()
        self.service.wait()
        self.tell(state)

    def start(self, name="web"):
        with open(self.log_path, "wb") as log:
            self.watch = subprocess.Popen([SCRIPT, name], env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop(self):
        """Stops the watch, which must end with 0. Returns its log."""
        self.watch.send_signal(signal.SIGTERM)
        assert self.watch.wait(PATIENCE) == 0, self.log()
        return self.log()

    def lines(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def log(self):
        return self.lines("log")

    def await_log(self, line, count=1):
        until(lambda: self.log().count("functrace-watch: " + line) >= count, lambda: (line, self.log()))

    def await_end(self):
        """Waits until the watch ends by itself. Returns its status."""
        return self.watch.wait(PATIENCE)


def need(program):
    if not shutil.which(program):
        raise Skip("%s is not installed" % program)


def a_service_that_starts_late_and_restarts_is_followed(folder):
    with World(folder) as world:
        world.start()
        world.await_log("web.service is not running; waiting for it")
        pids = []
        for i in range(4):
            pids.append(world.begin())
            until(lambda: len(world.lines("arguments")) > i, world.log)
            world.end("inactive" if i < 3 else "failed")
            world.await_log("web.service is not running; waiting for it", i + 2)
        log = world.stop()
        assert [line.split()[-1] for line in world.lines("arguments")] == [str(pid) for pid in pids]
        begun = ["functrace-watch: watching%s web.service, process %d" % (" again" if i else "", pid) for i, pid in enumerate(pids)]
        said = "functrace-watch: web.service is not running; waiting for it"
        expected = [said]
        for line in begun:
            expected += [line, said]
        assert log == expected + ["functrace-watch: stopped watching web.service"], log


def a_restart_that_systemd_reports_at_once_is_followed(folder):
    with World(folder) as world:
        first = world.begin()
        old = world.service
        world.start()
        world.await_log("watching web.service, process %d" % first)
        second = world.begin()
        old.kill()
        old.wait()
        world.await_log("watching again web.service, process %d" % second)
        assert not [line for line in world.stop() if "not running" in line]


def a_main_process_that_changes_is_watched_when_the_old_one_has_ended(folder):
    """nginx, for example, starts a new main process before the old one ends, when its program is upgraded."""
    with World(folder) as world:
        first = world.begin()
        old = world.service
        world.start()
        world.await_log("watching web.service, process %d" % first)
        second = world.begin()
        time.sleep(0.5)
        assert len(world.lines("arguments")) == 1
        old.kill()
        old.wait()
        world.await_log("watching again web.service, process %d" % second)
        world.stop()


def the_options_reach_functrace(folder):
    options = {"BUDGET": "1%", "INTERVAL": "30s", "METRICS": "127.0.0.1:9464", "PUSH": "http://host/a?b=*&c", "OPTIONS": "--top=5  -b 32 *"}
    with World(folder, **options) as world:
        pid = world.begin()
        world.start("web.service")
        until(lambda: world.lines("arguments"), world.log)
        world.stop()
        assert world.lines("arguments") == [
            "--watch --service=web --budget=1% --interval=30s --metrics=127.0.0.1:9464 --push=http://host/a?b=*&c --top=5 -b 32 * "
            "-o {} -t {}".format(world.path("kept"), pid), "TERM"]


def without_options_functrace_uses_its_defaults(folder):
    with World(folder, BUDGET="", METRICS="") as world:
        pid = world.begin()
        world.start()
        until(lambda: world.lines("arguments"), world.log)
        world.stop()
        assert world.lines("arguments") == ["--watch --service=web -o %s -t %d" % (world.path("kept"), pid), "TERM"]


def few_questions_are_asked_while_the_service_is_not_running(folder):
    """The watch asks systemd rarely if it can see that the service has no control group."""
    if not os.path.isdir("/sys/fs/cgroup"):
        raise Skip("control groups are not mounted")
    with World(folder) as world:
        with open(world.path("group"), "w", encoding="ascii") as file:
            file.write("/\n")
        sleeps = world.path("sleeps")
        with open(world.path("bin/sleep"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho >>'%s'\nexec %s \"$@\"\n" % (sleeps, shutil.which("sleep")))
        os.chmod(world.path("bin/sleep"), 0o755)
        world.start()
        until(lambda: len(world.lines("sleeps")) >= 45, world.log)
        asked = len(world.lines("questions"))
        assert 2 <= asked <= 2 * (len(world.lines("sleeps")) // 20 + 1), (asked, len(world.lines("sleeps")))
        world.begin()
        world.await_log("watching web.service, process %d" % world.service.pid)
        assert len([line for line in world.stop() if "not running" in line]) == 1


def a_missing_unit_and_a_missing_main_process_are_named(folder):
    with World(folder) as world:
        world.tell("inactive", load="not-found")
        world.start()
        world.await_log("there is no web.service; waiting for it")
        world.tell("activating")
        world.await_log("web.service is not running; waiting for it")
        world.tell("active")
        world.await_log("systemd knows no main process of web.service; waiting for one")
        world.stop()


def a_systemd_that_does_not_answer_is_asked_again(folder):
    with World(folder) as world:
        os.rename(world.path("state"), world.path("hidden"))
        world.start()
        until(lambda: len(world.lines("questions")) > 2, world.log)
        assert len(world.log()) == 1 and world.log()[0].startswith("functrace-watch: cannot ask systemd about web.service: "), world.log()
        pid = world.begin()
        world.await_log("watching web.service, process %d" % pid)
        world.stop()


def sigterm_ends_a_watch_that_waits(folder):
    with World(folder, FUNCTRACE_WATCH_PAUSE="600") as world:
        world.start()
        world.await_log("web.service is not running; waiting for it")
        assert world.stop()[-1] == "functrace-watch: stopped watching web.service"


def a_failure_ends_the_watch_with_functraces_status(folder):
    with World(folder) as world:
        with open(world.path("status"), "w", encoding="ascii") as file:
            file.write("3")
        pid = world.begin()
        world.start()
        assert world.await_end() == 3, world.log()
        assert world.log()[-1] == "functrace-watch: functrace ended with status 3, but process %d of web.service runs on" % pid


def wrong_options_end_the_watch_with_2(folder):
    with World(folder) as world:
        with open(world.path("status"), "w", encoding="ascii") as file:
            file.write("2")
        world.begin()
        world.start()
        assert world.await_end() == 2, world.log()


def a_failure_of_a_watch_whose_process_has_ended_is_none(folder):
    """The process ends before functrace has attached to it."""
    with World(folder) as world:
        with open(world.path("status"), "w", encoding="ascii") as file:
            file.write("1")
        first = world.begin()
        world.service.kill()  # a zombie until end(), which systemd still takes for the main process
        world.start()
        world.await_log("watching web.service, process %d" % first)
        until(lambda: world.lines("arguments"), world.log)
        world.end()
        os.remove(world.path("status"))
        second = world.begin()
        world.await_log("watching again web.service, process %d" % second)
        world.stop()


def a_watch_without_a_network_refuses_options_that_need_one(folder):
    for number, (refused, options) in enumerate((
            (True, {"METRICS": "9464"}), (True, {"METRICS": "[::1]:9464"}), (True, {"METRICS": "/run/metrics", "PUSH": "http://host"}),
            (False, {"METRICS": "/run/a:9464"}), (False, {"METRICS": "metrics.prom"}), (False, {}))):
        inner = os.path.join(folder, str(number))
        os.mkdir(inner)
        with World(inner, FUNCTRACE_WATCH_NETWORK="no", **options) as world:
            world.begin()
            world.start()
            if refused:
                assert world.await_end() == 2, (options, world.log())
                assert "network.conf" in world.log()[-1], world.log()
            else:
                until(lambda: world.lines("arguments"), world.log)
                world.stop()


def wrong_names_are_refused(folder):
    for number, name in enumerate(("", "-x", "../web", "functrace-watch@web")):
        inner = os.path.join(folder, str(number))
        os.mkdir(inner)
        with World(inner) as world:
            world.start(name)
            assert world.await_end() == 2 and len(world.log()) == 1, (name, world.log())


def functrace_itself_follows_a_service(folder):
    """functrace has no --watch here, so it gets options that it knows."""
    plain = "#!/bin/sh\nfor pid; do :; done\nexec '%(functrace)s' -e memory -o '%(folder)s/kept' -t \"$pid\"\n"
    with World(folder, plain) as world:
        command = ("perl", "-e", "while (1) { push @kept, 'x' x 1000; select undef, undef, undef, 0.01 }")
        need("perl")
        world.start()
        world.await_log("web.service is not running; waiting for it")
        pids = []
        for _ in range(2):
            pids.append(world.begin(*command))
            until(lambda: any("attached to perl (%d)" % pids[-1] in line for line in world.log()), world.log)
            time.sleep(0.3)
            world.end()
        pids.append(world.begin(*command))
        until(lambda: any("attached to perl (%d)" % pids[-1] in line for line in world.log()), world.log)
        world.stop()
        assert world.service.poll() is None
        assert sorted(os.listdir(world.path("kept"))) == sorted("%d-0.rtrace" % pid for pid in pids)
        for pid in pids:
            done = subprocess.run([os.environ["FUNCTRACE_POSTPROC"], "--stats", world.path("kept/%d-0.rtrace" % pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
            assert done.returncode == 0 and b"truncated" not in done.stdout, done.stdout


def shellcheck_finds_nothing(_folder):
    need("shellcheck")
    done = subprocess.run(["shellcheck", "-s", "sh", SCRIPT], stdout=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 0, done.stdout.decode()


def the_unit_names_the_installed_script(_folder):
    with open(UNIT, encoding="utf-8") as unit, open(SCRIPT, encoding="utf-8") as script:
        text, program = unit.read(), script.read()
    assert not re.search("@[a-z]+@", text.replace("functrace-watch@", "")), text
    assert re.search(r"^ExecStart=/\S+/functrace/functrace-watch %i$", text, re.M), text
    assert re.search(r"^program=\$\{FUNCTRACE_WATCH_PROGRAM:-/\S+/functrace\}$", program, re.M), program


def copied_unit(folder):
    """The unit with a script that exists, as a file that systemd-analyze can read."""
    need("systemd-analyze")
    path = os.path.join(folder, "functrace-watch@.service")
    with open(UNIT, encoding="utf-8") as source, open(path, "w", encoding="utf-8") as copy:
        copy.write(re.sub("^ExecStart=\\S+", "ExecStart=" + os.path.abspath(SCRIPT), source.read(), flags=re.M))
    return path


def analyze(*arguments):
    done = subprocess.run(["systemd-analyze", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False, env=dict(os.environ, LC_ALL="C", SYSTEMD_PAGER=""))
    return done.returncode, done.stdout.decode(errors="replace")


def systemd_takes_the_unit(folder):
    unit = copied_unit(folder)
    status, said = analyze("verify", "--man=no", unit)
    assert status == 0 and "functrace-watch@" not in said, (status, said)


def the_unit_is_as_little_exposed_as_possible(folder):
    status, said = analyze("security", "--offline=true", "--no-pager", copied_unit(folder))
    if status and "offline" in said:
        raise Skip("this systemd-analyze cannot judge a unit without systemd")
    level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)
    assert level and float(level[1]) <= EXPOSURE, said


TESTS = [a_service_that_starts_late_and_restarts_is_followed, a_restart_that_systemd_reports_at_once_is_followed,
         a_main_process_that_changes_is_watched_when_the_old_one_has_ended, the_options_reach_functrace,
         without_options_functrace_uses_its_defaults, few_questions_are_asked_while_the_service_is_not_running,
         a_missing_unit_and_a_missing_main_process_are_named, a_systemd_that_does_not_answer_is_asked_again,
         sigterm_ends_a_watch_that_waits, a_failure_ends_the_watch_with_functraces_status, wrong_options_end_the_watch_with_2,
         a_failure_of_a_watch_whose_process_has_ended_is_none, a_watch_without_a_network_refuses_options_that_need_one,
         wrong_names_are_refused, functrace_itself_follows_a_service, shellcheck_finds_nothing,
         the_unit_names_the_installed_script, systemd_takes_the_unit, the_unit_is_as_little_exposed_as_possible]

if __name__ == "__main__":
    if not os.path.exists(SCRIPT):
        print("1..0 # SKIP configured without systemd's unit")
        sys.exit(0)
    sys.exit(main(TESTS))
