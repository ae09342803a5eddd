"""Starts and ends the programs that are measured. Each wait has a limit, and programs are ended by pid, never by
name."""

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

BUILD = os.environ.get('BUILD', os.getcwd())
FUNCTRACE = os.environ.get('FUNCTRACE', os.path.join(BUILD, 'functrace'))
ROUND = re.compile(r'^round (\d+) (\d+) (\d+)$', re.M)


class Failure(Exception):
    """A measurement failed; the message says why."""


def built(name):
    return os.path.join(BUILD, 'bench', name)


def target(name, **options):
    """Returns the command of a target. Example: target('malloc', pairs=1000, threads=4)."""
    return [built('targets/' + name)] + ['--%s=%d' % item for item in options.items()]


def status_field(pid, name):
    try:
        with open('/proc/%d/status' % pid) as file:
            for line in file:
                if line.startswith(name + ':'):
                    return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return ''


def descendants(pid):
    """Returns the pids of all descendants of a process."""
    parents = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            parents.setdefault(status_field(int(name), 'PPid'), []).append(int(name))
    found, new = [], [pid]
    while new:
        new = [child for parent in new for child in parents.get(str(parent), [])]
        found += new
    return found


def end(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Rounds:
    """The times of one run: the medians of its rounds, in ns per pair."""

    def __init__(self, output):
        rounds = [tuple(int(x) for x in found) for found in ROUND.findall(output)]
        if not rounds:
            raise Failure('printed no times: ' + (output.strip().splitlines() or ['(nothing)'])[-1])
        self.wall = median([wall / pairs for wall, _, pairs in rounds])
        self.cpu = median([cpu / pairs for _, cpu, pairs in rounds])


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


class Room:
    """A folder for traces, and the programs that were started. At the end of a `with` block, removes the folder and
    ends the programs."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='functrace-bench-')
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in list(self.running):
            self.stop(child)
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, command, cpu=None, **more):
        """Starts a program. cpu: the only processor, or the set of those, that the program and its children may use;
        None: any."""
        def pin():
            if cpu is not None:
                os.sched_setaffinity(0, cpu if isinstance(cpu, set) else {cpu})
        env = dict(os.environ, LC_ALL='C', DEBUGINFOD_URLS='')
        more.setdefault('stdin', subprocess.DEVNULL)
        more.setdefault('stdout', subprocess.PIPE)
        more.setdefault('stderr', subprocess.DEVNULL)
        child = subprocess.Popen(command, cwd=self.folder, env=env, preexec_fn=pin, start_new_session=True, **more)
        self.running.append(child)
        return child

    def stop(self, child):
        """Ends a program, and kills its descendants. Tries SIGINT first, so that a tracer can detach."""
        pids = descendants(child.pid) if child.poll() is None else []
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if child.poll() is None:
                end(child.pid, number)
                try:
                    child.wait(5)
                except subprocess.TimeoutExpired:
                    pass
        for pid in pids:
            end(pid)
        self.forget(child)

    def forget(self, child):
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream:
                stream.close()
        if child in self.running:
            self.running.remove(child)

    def run(self, command, cpu=None, timeout=60):
        """Runs a program to its end. Returns the times that its target printed, as Rounds."""
        child = self.start(command, cpu, stderr=subprocess.STDOUT)
        try:
            output = child.communicate(timeout=timeout)[0].decode(errors='replace')
        except subprocess.TimeoutExpired:
            self.stop(child)
            raise Failure('did not end in %d s' % timeout)
        self.forget(child)
        return Rounds(output)


class Target:
    """A running target that runs a round on request. `command` may be that of a tracer that launches the target."""

    def __init__(self, room, command, cpu=None):
        self.room = room
        self.child = room.start(command, cpu, stdin=subprocess.PIPE, bufsize=0)
        self.data = b''
        self.first = self.line('ready', 60)  # the words after "ready"

    def line(self, word, timeout=60):
        """Reads the next line, which must begin with `word`. Returns the words after it."""
        limit = time.monotonic() + timeout
        while b'\n' not in self.data:
            ready, _, _ = select.select([self.child.stdout], [], [], max(0, limit - time.monotonic()))
            part = os.read(self.child.stdout.fileno(), 65536) if ready else b''
            if not part:
                raise Failure('%s: no answer' % ' '.join(self.child.args[:3]))
            self.data += part
        line, self.data = self.data.split(b'\n', 1)
        fields = line.decode(errors='replace').split()
        if fields[:1] != [word]:
            raise Failure(line.decode(errors='replace'))
        return fields[1:]

    def send(self, text):
        os.write(self.child.stdin.fileno(), text.encode() + b'\n')

    def round(self, pairs, timeout=60):
        """Runs a round. Returns the wall time and the processor time per pair, in ns."""
        self.send(str(pairs))
        wall, cpu, count = (int(x) for x in self.line('round', timeout))
        return wall / count, cpu / count

    def close(self):
        """Ends the target by closing its standard input."""
        self.child.stdin.close()
        self.child.stdin = None
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            pass
        self.room.stop(self.child)


def wait_until(what, condition, timeout=10):
    limit = time.monotonic() + timeout
    while time.monotonic() < limit:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise Failure('waited %d s for %s, without success' % (timeout, what))


def tracer_of(pid):
    """Returns the tid of the thread that traces a process, and the pid of that thread; 0, 0 if the process is not
    traced."""
    tid = int(status_field(pid, 'TracerPid') or 0)
    return tid, int(status_field(tid, 'Tgid') or 0) if tid else 0


def attach(room, pid, options=()):
    """Starts functrace, which attaches to a process and sees all calls by breakpoints. Returns when the process is
    traced; the breakpoints may not be inserted yet."""
    child = room.start([FUNCTRACE, '-q', '--probes=breakpoints', '-o', room.path('attached')] + list(options) +
                       ['-t', str(pid)])
    wait_until('functrace to attach', lambda: child.poll() is not None or tracer_of(pid)[0])
    if child.poll() is not None:
        room.forget(child)
        raise Failure('functrace could not attach')
    return child


def let_go(room, child):
    child.send_signal(signal.SIGINT)
    try:
        child.wait(20)
    except subprocess.TimeoutExpired:
        room.stop(child)
        raise Failure('functrace did not detach within 20 s')
    room.forget(child)
