#!/usr/bin/env python3
"""Runs functrace-watch@.service by a real systemd, which is the first process of a system in namespaces of its own
(boot.sh). functrace has no --watch yet, so a script gives it options that it has. Prints TAP; root only."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../post"))

from run import Skip, main

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["TOP_BUILDDIR"]
PATIENCE = 60
UNIT_FOLDERS = ("/usr/lib/systemd/system", "/lib/systemd/system")
TARGETS = ("test", "sysinit", "basic", "shutdown", "sockets", "multi-user")
JOURNAL = ("systemd-journald.service", "systemd-journald.socket", "systemd-journald-dev-log.socket")
GROW = "while (1) { push @kept, q(x) x 1000; select undef, undef, undef, 0.01 }\n"
SERVICE = """[Unit]
Description=a service that grows
[Service]
ExecStart=%s /run/shared/grow.pl
%s
"""
# functrace --watch of a functrace that has no such option yet.
PLAIN = """#!/bin/sh
while [ $# -gt 0 ]; do
	case $1 in
	-t) pid=$2 ;;
	-o) folder=$2 ;;
	esac
	shift
done
exec %s %s -e memory --scan -t "$pid" -o "$folder"
"""


class System:
    """A system with systemd, booted once for all tests."""

    booted = reason = None

    @classmethod
    def get(cls):
        if cls.reason:
            raise Skip(cls.reason)
        if not cls.booted:
            cls.reason = "systemd did not start here"
            system = cls()
            try:
                system.boot()
            except Skip as reason:
                cls.reason = str(reason)
                system.end()
                raise
            except BaseException:
                system.end()
                raise
            cls.reason, cls.booted = None, system
        return cls.booted

    def __init__(self):
        self.process = self.group = None
        self.pid = 0
        self.folder = tempfile.mkdtemp(prefix="functrace-systemd-")
        self.shared = os.path.join(self.folder, "shared")

    def boot(self):
        if os.getuid():
            raise Skip("only root can make a system")
        for program in ("unshare", "nsenter", "setpriv", "systemctl", "journalctl", "make", "perl", "pgrep"):
            if not shutil.which(program):
                raise Skip("%s is not installed" % program)
        self.group = make_group()
        for name in ("root", "mem", "tree", "shared", "shared/units"):
            os.mkdir(os.path.join(self.folder, name))
        os.chmod(self.folder, 0o755)
        tree = os.path.join(self.folder, "tree")
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        subprocess.run(["make", "-s", "-C", BUILD, "DESTDIR=" + tree, "install-binPROGRAMS", "install-pkglibexecSCRIPTS",
                        "install-systemdsystemunitDATA", "install-watchDATA"], env=env, check=True, timeout=300,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        found = {name: os.path.join(folder, name)[len(tree):] for folder, _, names in os.walk(tree) for name in names}
        self.functrace, self.network_conf = found["functrace"], found["network.conf"]
        unit_folder = os.path.dirname(found["functrace-watch@.service"])
        self.units()
        command = 'echo $$ >"$1/cgroup.procs" && exec setpriv --pdeathsig KILL unshare --mount --pid --cgroup --uts --ipc --net --fork --kill-child ' \
            'sh "$2" "$3" "$4"'
        log = os.path.join(self.folder, "log")
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                ["sh", "-c", command, "sh", self.group, os.path.join(HERE, "boot.sh"), self.folder,
                 "/run/shared/units:/etc/systemd/system:" + unit_folder],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        end = time.monotonic() + PATIENCE
        while True:
            with open(log, encoding="utf-8", errors="replace") as file:
                said = file.read()
            if self.process.poll() is not None or time.monotonic() > end:
                raise Skip("no systemd can run here: " + (said.strip().split("\n")[-1] or "it ended"))
            if "booting\n" in said and self.is_up():
                return
            time.sleep(0.1)

    def is_up(self):
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], stdout=subprocess.PIPE, check=False).stdout.split()
        self.pid = int(children[0]) if children else 0
        return self.pid and self.run("systemctl is-active test.target", check=False) == "active"

    def units(self):
        for name in JOURNAL:
            source = [os.path.join(folder, name) for folder in UNIT_FOLDERS if os.path.exists(os.path.join(folder, name))]
            if not source:
                raise Skip("systemd has no %s" % name)
            shutil.copy(source[0], os.path.join(self.shared, "units"))
        for name in TARGETS:
            self.write("units/%s.target" % name, "[Unit]\nDescription=%s\n%s" % (
                name, "Wants=%s\n" % JOURNAL[0] if name == "test" else ""))
        for name, mode in (("plain", ""), ("breakpoints", "--probes=breakpoints")):
            self.write(name, PLAIN % (self.functrace, mode))
            os.chmod(os.path.join(self.shared, name), 0o755)
        self.write("grow.pl", GROW)
        self.write("units/grows.service", SERVICE % ("/usr/bin/perl", "User=daemon\nRestart=always\nRestartSec=100ms"))
        # What functrace reads of this service is hidden from the watch, and only its user can read the program.
        self.write("units/hidden.service", SERVICE % (
            "/home/own/grows", "User=daemon\nPrivateTmp=yes\nNoNewPrivileges=yes\nProtectSystem=strict\nSystemCallFilter=@system-service"))

    def write(self, name, text):
        with open(os.path.join(self.shared, name), "w", encoding="ascii") as file:
            file.write(text)

    def run(self, script, check=True):
        """Runs a script in the system. Returns its output."""
        done = subprocess.run(["nsenter", "-t", str(self.pid), "-a", "sh", "-c", script], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "SYSTEMD_PAGER": ""})
        said = done.stdout.decode(errors="replace").strip()
        assert not check or done.returncode == 0, (script, done.returncode, said)
        return said

    def until(self, script, pattern):
        """Waits until the output of a script has a match, and returns it."""
        end = time.monotonic() + PATIENCE
        while True:
            said = self.run(script, check=False)
            match = re.search(pattern, said, re.M)
            if match:
                return match
            assert time.monotonic() < end, (script, pattern, said)
            time.sleep(0.1)

    def configure(self, name, program, *lines):
        self.run("mkdir -p /etc/functrace-watch; printf '%%s\\n' FUNCTRACE_WATCH_PROGRAM=/run/shared/%s %s >/etc/functrace-watch/%s.conf" % (
            program, " ".join("'%s'" % line for line in lines), name))

    def main_pid(self, name):
        return int(self.until("systemctl show --property=MainPID --value %s.service" % name, "^[1-9][0-9]*$")[0])

    def log(self, name):
        return "journalctl -o cat -u functrace-watch@%s" % name

    def end(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process:
            self.process.wait()
        if self.group:
            remove_group(self.group)
        shutil.rmtree(self.folder, ignore_errors=True)


def make_group():
    """Returns a new control group below that of this process, in the second version of control groups."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    roots = [fields[1] for fields in mounts if fields[2] == "cgroup2"]
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        own = [line.strip().split(":", 2)[2] for line in file if line.startswith("0::")]
    if not roots or not own:
        raise Skip("there are no control groups of version 2")
    group = os.path.join(roots[0], own[0].strip("/"), "functrace-test-%d" % os.getpid())
    try:
        os.mkdir(group)
    except OSError as error:
        raise Skip("a control group cannot be made: %s" % error.strerror) from error
    return group


def remove_group(group):
    end = time.monotonic() + PATIENCE
    while os.path.isdir(group) and time.monotonic() < end:
        for folder, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass  # its processes have not ended yet
        time.sleep(0.05)


def the_watch_waits_and_follows_restarts(_folder):
    system = System.get()
    system.configure("grows", "plain")
    system.run("systemctl start functrace-watch@grows")
    system.until(system.log("grows"), "^functrace-watch: grows.service is not running; waiting for it$")
    system.run("systemctl start grows")
    pids = []
    for i in range(3):
        pids.append(system.main_pid("grows"))
        system.until(system.log("grows"), r"^functrace-watch: watching%s grows.service, process %d$" % (" again" if i else "", pids[i]))
        system.until(system.log("grows"), r"^functrace: attached to perl \(%d\)" % pids[i])
        if i < 2:
            system.run("kill -KILL %d" % pids[i])
            system.until("systemctl show --property=MainPID --value grows", r"^(?!0$|%d$)\d+$" % pids[i])
    time.sleep(1)
    system.run("systemctl stop functrace-watch@grows")
    assert system.main_pid("grows") == pids[2]
    assert re.search(r"^TracerPid:\s+0$", system.run("cat /proc/%d/status" % pids[2]), re.M)
    log = system.run(system.log("grows"))
    assert "functrace-watch: stopped watching grows.service" in log, log
    kept = system.run("ls /var/lib/functrace/grows").split()
    assert sorted(kept) == sorted("%d-0.rtrace" % pid for pid in pids), kept
    assert len(re.findall(r"^functrace: process \d+ \(perl\): [1-9][0-9,]* events", log, re.M)) == 3, log
    assert system.run("systemctl is-failed functrace-watch@grows", check=False) == "inactive", log


def the_kernels_probes_work_in_the_unit(_folder):
    """If they are possible for root here, they are for the watch."""
    system = System.get()
    root = system.run("mkdir -p /tmp/try; %s -e memory -o /tmp/try /usr/bin/perl -e 'push @a, q(x) x 1000 for 1..99'" %
                      system.functrace)
    if "probes in the kernel saw" not in root:
        raise Skip("root cannot make probes in the kernel here: " + root.split("\n")[-1])
    log = system.run(system.log("grows"))
    assert log.count("probes in the kernel saw the calls of") == 3 and "breakpoints saw all calls" not in log, log


def files_that_the_watch_cannot_see_are_read(_folder):
    system = System.get()
    system.run("mkdir -m 700 /home/own && cp /usr/bin/perl /home/own/grows && chmod 700 /home/own/grows && chown -R daemon /home/own")
    system.configure("hidden", "plain")
    system.run("systemctl start hidden && systemctl start functrace-watch@hidden")
    pid = system.main_pid("hidden")
    system.until(system.log("hidden"), r"^functrace: attached to grows \(%d\)" % pid)
    time.sleep(1)
    system.run("systemctl stop functrace-watch@hidden")
    names = system.run("%s-postproc -f text -r --sysroot=/proc/%d/root /var/lib/functrace/hidden/%d-0.rtrace" % (system.functrace, pid, pid))
    assert re.search(r"in Perl_\w+\(", names), names[:2000]
    assert system.main_pid("hidden") == pid


def a_port_needs_the_network(_folder):
    system = System.get()
    system.configure("grows", "plain", "METRICS=9464")
    system.run("systemctl start functrace-watch@grows")
    system.until("systemctl show --property=ActiveState,ExecMainStatus functrace-watch@grows", r"^ActiveState=failed$")
    assert system.run("systemctl show --property=ExecMainStatus --value functrace-watch@grows") == "2"
    assert "network.conf" in system.run(system.log("grows"))
    folder = "/etc/systemd/system/functrace-watch@grows.service.d"
    system.run("mkdir -p %s && ln -s %s %s/ && systemctl daemon-reload && systemctl start functrace-watch@grows" % (
        folder, system.network_conf, folder))
    system.until(system.log("grows") + " | tail -n 5", r"^functrace: attached to perl \(%d\)" % system.main_pid("grows"))
    watch = system.main_pid("functrace-watch@grows")
    assert system.run("readlink /proc/%d/ns/net" % watch) == system.run("readlink /proc/1/ns/net")
    system.run("systemctl stop functrace-watch@grows; rm -r %s; systemctl daemon-reload" % folder)
    system.configure("grows", "plain")
    system.run("systemctl start functrace-watch@grows")
    assert system.run("readlink /proc/%d/ns/net" % system.main_pid("functrace-watch@grows")) != \
        system.run("readlink /proc/1/ns/net")
    system.run("systemctl stop functrace-watch@grows")


def the_service_survives_the_end_of_the_engine(_folder):
    """With probes in the kernel, where they are possible: by breakpoints a SIGKILL of the engine may end the service."""
    system = System.get()
    system.configure("grows", "plain")
    folder = "/etc/systemd/system/functrace-watch@grows.service.d"
    system.run("mkdir -p %s && printf '[Service]\\nRestartSec=100ms\\n' >%s/soon.conf && systemctl daemon-reload" % (folder, folder))
    system.run("systemctl start functrace-watch@grows")
    pid = system.main_pid("grows")
    attached = r"^functrace: attached to perl \(%d\)" % pid
    system.until(system.log("grows") + " | tail -n 5", attached)
    before = len(re.findall(attached, system.run(system.log("grows")), re.M))
    time.sleep(0.5)
    engine = system.until("cat /sys/fs/cgroup/system.slice/system-functrace*/functrace-watch@grows.service/cgroup.procs | "
                          "while read -r pid; do echo $pid $(cat /proc/$pid/comm); done", r"^(\d+) ft-engine$")[1]
    system.run("kill -KILL %s" % engine)
    system.until(system.log("grows"), r"^functrace-watch: functrace ended with status 1, but process %d of grows.service runs on" % pid)
    system.until(system.log("grows"), r"(?s)(%s.*){%d}" % (attached, before + 1))
    assert system.main_pid("grows") == pid
    system.run("systemctl stop functrace-watch@grows; rm -r %s; systemctl daemon-reload" % folder)
    assert system.main_pid("grows") == pid


def the_start_of_the_service_starts_an_enabled_watch(_folder):
    system = System.get()
    system.configure("grows", "plain")
    system.run("systemctl enable functrace-watch@grows; systemctl stop grows; systemctl start grows")
    system.until("systemctl is-active functrace-watch@grows", "^active$")
    system.until(system.log("grows") + " | tail -n 5", r"^functrace: attached to perl \(%d\)" % system.main_pid("grows"))
    system.run("systemctl stop grows")
    system.until(system.log("grows") + " | tail -n 2", "^functrace-watch: grows.service is not running; waiting for it$")
    assert system.run("systemctl is-active functrace-watch@grows") == "active"
    system.run("systemctl disable functrace-watch@grows; systemctl stop functrace-watch@grows")


TESTS = [the_watch_waits_and_follows_restarts, the_kernels_probes_work_in_the_unit, files_that_the_watch_cannot_see_are_read,
         a_port_needs_the_network, the_service_survives_the_end_of_the_engine,
         the_start_of_the_service_starts_an_enabled_watch]

if __name__ == "__main__":
    if not os.path.exists(os.path.join(BUILD, "systemd/functrace-watch")):
        print("1..0 # SKIP configured without systemd's unit")
        sys.exit(0)
    try:
        status = main(TESTS)
    finally:
        if System.booted:
            System.booted.end()
    sys.exit(status)
