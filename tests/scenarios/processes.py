"""Runs programs for a scenario with time limits, ends those that are left, and compares their text."""

import errno
import os
import signal
import struct
import subprocess
import tempfile
import time
import uuid

import ways
from rounds import rounds  # pylint: disable=unused-import

# A shell ignores these signals in its background jobs, and functrace would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

FUNCTRACE = os.environ.get('FUNCTRACE', os.path.join(os.getcwd(), 'functrace'))
POSTPROC = os.environ.get('FUNCTRACE_POSTPROC', os.path.join(os.getcwd(), 'functrace-postproc'))
# How many times slower than a usual machine this one may be. On an emulated machine all waits have longer limits.
PATIENCE = float(os.environ.get('SCENARIO_PATIENCE', '1'))
TIMEOUT = float(os.environ.get('SCENARIO_TIMEOUT', '60'))
OWN = ('functrace', 'ft-guard', 'ft-engine', '')  # names of functrace's processes; of one that has just ended


class Failure(Exception):
    """A problem, as a sentence."""


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def wait_for(what, condition, timeout=60):
    timeout *= PATIENCE
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise Failure('waited %d s in vain for %s' % (timeout, what))


def waits_of(pid):
    """Describes each thread of a process that hangs: its state, tracer, pending signals, and place in the kernel."""
    words = []
    try:
        for tid in tasks_of(pid):
            words += [status_field(tid, name) for name in ('State', 'TracerPid', 'SigPnd', 'ShdPnd')]
            words += [kernel_text(pid, tid, name) for name in ('wchan', 'syscall', 'stack')]
    except OSError:
        pass
    return ' '.join(words) or '?'


def kernel_text(pid, tid, name):
    """Returns the content of a file of /proc about a thread, in one short line. Only root can read some of these
    files."""
    try:
        with open('/proc/%d/task/%d/%s' % (pid, tid, name)) as file:
            return ' '.join(file.read().split())[:200]
    except OSError:
        return '?'


class Room:
    """A folder and a token for one scenario; leaving it ends and reports processes that are still running."""

    def __init__(self):
        self.token = 'FUNCTRACE_SCENARIO=' + uuid.uuid4().hex
        self.folder = tempfile.mkdtemp(prefix='functrace-scenario-')
        os.chmod(self.folder, 0o755)
        self.children = []

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def environment(self, more=None):
        env = {k: v for k, v in os.environ.items()
               if k in ('PATH', 'HOME', 'USER', 'TMPDIR', 'LANG', 'TOP_SRCDIR', 'TOP_BUILDDIR')}
        env['LC_ALL'] = 'C'
        name, _, value = self.token.partition('=')
        env[name] = value
        env.update(more or {})
        return env

    def start(self, command, env=None, stdin=subprocess.DEVNULL, **more):
        more.setdefault('stdout', subprocess.PIPE)
        more.setdefault('stderr', subprocess.PIPE)
        # finish() reads from the descriptors; bytes that a buffer of this process read ahead would be lost.
        more.setdefault('bufsize', 0)
        command = ways.with_probes(command, FUNCTRACE)
        for patience in range(3000, -1, -1):
            try:
                child = subprocess.Popen(command, env=self.environment(env), stdin=stdin, cwd=self.folder,
                                         start_new_session=True, **more)
                self.children.append(child)
                return child
            except OSError as error:
                # If the program was just copied, a child that another thread has forked may have the file open for
                # writing until it execs.
                if error.errno != errno.ETXTBSY or not patience:
                    raise
                time.sleep(0.02)
        return None

    def finish(self, child, timeout=None, data=None):
        timeout = (timeout or TIMEOUT) * PATIENCE
        try:
            out, err = child.communicate(data, timeout=timeout)
        except subprocess.TimeoutExpired:
            states = self.describe()
            self.kill(child)
            raise Failure('%s did not end in %d s; %s' % (os.path.basename(child.args[0]), timeout, states))
        return Result(child.returncode, out or b'', err or b'')

    def run(self, command, env=None, timeout=None, data=None, **more):
        if data is not None:
            more['stdin'] = subprocess.PIPE
        return self.finish(self.start(command, env, **more), timeout, data)

    def kill(self, child):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            child.communicate(timeout=10)
        except (subprocess.TimeoutExpired, ValueError):
            pass

    def processes(self):
        """Returns the pids of all processes that descend from this scenario, except zombies, which have no
        environment."""
        found = []
        for name in os.listdir('/proc'):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open('/proc/%s/environ' % name, 'rb') as file:
                    if self.token.encode() in file.read().split(b'\0'):
                        found.append(int(name))
            except OSError:
                pass
        return found

    def describe(self):
        return 'alive: ' + (', '.join('%d (%s, %s)' % (p, command_of(p), waits_of(p)) for p in self.processes())
                            or 'none')

    def leftovers(self):
        """Describes the processes that still exist a moment after the end, and ends them. functrace's own processes,
        which end one after the other, have a minute."""
        began = time.monotonic()
        left = self.processes()
        while left and time.monotonic() - began < (60 * PATIENCE if all(command_of(p) in OWN for p in left) else 3):
            time.sleep(0.02)
            left = self.processes()
        words = ['left over: %d (%s, %s)' % (p, command_of(p), state_of(p)) for p in left]
        for pid in left:
            for number in (signal.SIGKILL, signal.SIGCONT):
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
        return words

    def close(self):
        for child in self.children:
            if child.poll() is None:
                self.kill(child)
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream:
                    stream.close()
        words = self.leftovers()
        for root, folders, files in os.walk(self.folder, topdown=False):
            for name in files:
                os.unlink(os.path.join(root, name))
            for name in folders:
                path = os.path.join(root, name)
                (os.unlink if os.path.islink(path) else os.rmdir)(path)
        os.rmdir(self.folder)
        return words


def status_field(pid, name):
    try:
        with open('/proc/%d/status' % pid) as file:
            for line in file:
                if line.startswith(name + ':'):
                    return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return ''


def state_of(pid):
    return status_field(pid, 'State')[:1]


def has_ended(pid):
    """Returns true if the process is a zombie, is just being removed, or does not exist."""
    return state_of(pid) in ('', 'Z', 'X')


def all_sleep(pid):
    """Returns true if the process exists and each of its threads sleeps."""
    try:
        return all(state_of(tid) == 'S' for tid in tasks_of(pid))
    except OSError:
        return False


def command_of(pid):
    return status_field(pid, 'Name')


def tasks_of(pid):
    return sorted(int(t) for t in os.listdir('/proc/%d/task' % pid))


def read_if_there(path):
    """Returns the bytes of a file of /proc; none if its process or thread has ended meanwhile."""
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError:
        return b''


# ---- The text of a process ----

def living_task(pid):
    """Returns the /proc folder of a task that still has its memory. The leader may have ended before the others."""
    for tid in [pid] + tasks_of(pid):
        folder = '/proc/%d/task/%d' % (pid, tid)
        try:
            # A task that is just ending has no mappings any more, before it is a zombie.
            with open(folder + '/stat') as file, open(folder + '/maps') as maps:
                if file.read().rsplit(')', 1)[1].split()[0] not in 'ZX' and maps.read(1):
                    return folder
        except OSError:
            pass
    return '/proc/%d' % pid


def elf_table(path, place, entry_size, narrow, wide):
    """Returns the entries of a table of an ELF file, little endian only. place, entry_size: where the file's header has the
    table's offset, and the size and number of the entries, in 32-bit files and in 64-bit ones; narrow, wide: their
    formats."""
    with open(path, 'rb') as file:
        header = file.read(64)
        is_wide = header[4] == 2
        at, = struct.unpack_from('<Q' if is_wide else '<I', header, place[is_wide])
        size, count = struct.unpack_from('<HH', header, entry_size[is_wide])
        file.seek(at)
        return [struct.unpack_from(wide if is_wide else narrow, file.read(size)) for _ in range(count)], is_wide


def code_sections(path):
    """Returns [(offset, end)] of the file's code sections."""
    entries, _ = elf_table(path, (32, 40), (46, 58), '<4xIIIII', '<4xIQQQQ')
    return [(offset, offset + length) for kind, flags, _, offset, length in entries if kind == 1 and flags & 4]


def code_end(path, low, high):
    """Returns where the code segment that is mapped there ends. The rest of its last page is not used: it has zeros, or
    the data of the next segment."""
    entries, is_wide = elf_table(path, (28, 32), (42, 54), '<II8xI4xI', '<IIQ16xQ')
    for entry in entries:
        kind, flags, offset, length = entry if is_wide else (entry[0], entry[3], entry[1], entry[2])
        end = offset + length
        if kind == 1 and flags & 1 and -(-end // 4096) - offset // 4096 == (high - low) // 4096:
            return high - -end % 4096
    return high


def text_mappings(pid):
    """Returns the executable mappings; if a mapping is also writable and contains data, only its code sections."""
    found = []
    with open(living_task(pid) + '/maps') as file:
        for line in file:
            fields = line.split(None, 5)
            if len(fields) < 6 or fields[1] not in ('r-xp', 'rwxp') or not fields[5].startswith('/'):
                continue
            low, high = (int(x, 16) for x in fields[0].split('-'))
            path, offset = fields[5].strip(), int(fields[2], 16)
            if fields[1] == 'r-xp':
                found.append((low, high, path))
            elif os.path.exists(path):
                for start, end in code_sections(path):
                    start, end = max(start, offset), min(end, offset + high - low)
                    if start < end:
                        found.append((low + start - offset, low + end - offset, path))
    return found


def unexpected(said):
    """Returns the messages of functrace-postproc without the one that most frames have no names, which depends on the
    installed debug symbols."""
    return b''.join(line for line in said.splitlines(True) if b' frames have no names, ' not in line)


def text_of(pid):
    """Returns {(low, high, path): bytes} of all executable mappings."""
    text = {}
    mappings = text_mappings(pid)
    with open(living_task(pid) + '/mem', 'rb', 0) as memory:
        for low, high, path in mappings:
            memory.seek(low)
            data = b''
            try:
                while len(data) < high - low:
                    part = memory.read(high - low - len(data))
                    if not part:
                        break
                    data += part
            except OSError:
                continue  # unmapped since
            text[(low, high, path)] = data
    return text


def text_differences(before, after, tails=True):
    """Describes the differences between mappings that exist both before and after. Without `tails`, differences after the
    end of a code segment are ignored."""
    words = []
    for key in sorted(set(before) & set(after)):
        if before[key] == after[key]:
            continue
        low, high, path = key
        end = high if tails else code_end(path, low, high)
        places = [i for i, (a, b) in enumerate(zip(before[key], after[key])) if a != b and low + i < end]
        if not places:
            continue
        words.append('%s: %d bytes differ, the first at %#x: %02x was %02x%s' % (
            path, len(places), low + places[0], after[key][places[0]], before[key][places[0]],
            # seen: bpftrace of another user of the machine
            ' (or did the kernel put a uprobe there, for another program?)' if len(places) < 3 else ''))
    return words


def may_attach():
    """Returns None if this process may trace processes that it did not start, else the reason why not."""
    if os.geteuid() == 0:
        return None
    try:
        with open('/proc/sys/kernel/yama/ptrace_scope') as file:
            scope = int(file.read())
    except OSError:
        scope = 0
    return 'ptrace_scope is %d' % scope if scope else None


def modules(options):
    """Returns the options, with -e memory added if they name no module."""
    return ([] if '-e' in options else ['-e', 'memory']) + list(options)


def probes_in_turn(number):
    """Returns the option by which half of the runs of a long test use probes in the kernel, where that is possible, and the
    others breakpoints."""
    return ['--probes=' + ('breakpoints' if number % 2 else 'auto')]


class Tracer:
    """functrace attached to a process: from the time when its breakpoints are inserted until it has detached."""

    def __init__(self, room, pid, options=(), output=None, env=None, by=()):
        self.room, self.pid = room, pid
        self.output = output or room.path('traces')
        os.makedirs(self.output, exist_ok=True)
        self.before = text_of(pid)
        self.child = room.start(list(by) + [FUNCTRACE, '-f', 'text', '-o', self.output] +
                                modules(options) + ['-t', str(pid)], env)

    def planted(self):
        """Waits until breakpoints are in the text and no more of them are added."""
        def changed():
            if self.child.poll() is not None:
                result = self.room.finish(self.child)
                raise Failure('functrace ended while attaching, status %d: %s' % (
                    result.status, result.err.decode(errors='replace').strip()))
            now = text_of(self.pid)
            return now if any(self.before.get(k) != v for k, v in now.items() if k in self.before) else None
        now = wait_for('breakpoints in process %d' % self.pid, changed)
        for _ in range(100):
            time.sleep(0.05)
            # On a busy machine a thread of the engine may be runnable but not running. The tracer's thread sleeps while
            # another thread reads symbols for it, or copies the heap.
            is_asleep = all_sleep(int(status_field(int(status_field(self.pid, 'TracerPid') or 0), 'Tgid') or 0))
            again = text_of(self.pid)
            if is_asleep and all(again[key] == now[key] for key in set(again) & set(now)):
                return
            now = again

    def let_go(self, number=signal.SIGINT):
        """Ends functrace; returns the problems."""
        self.child.send_signal(number)
        result = self.room.finish(self.child)
        problems = []
        if result.status != 0:
            problems.append('functrace ended with status %d after detaching: %s' % (
                result.status, result.err.decode(errors='replace').strip()))
        self.err = result.err
        if os.path.exists('/proc/%d' % self.pid) and text_mappings(self.pid):
            problems += text_differences(self.before, text_of(self.pid))
            if status_field(self.pid, 'TracerPid') not in ('0', ''):
                problems.append('process %d is still traced' % self.pid)
        return problems


class Gate:
    """The test's side of gate() in target.h, at which a target waits."""

    def __init__(self):
        self.in_read, self.in_write = os.pipe()
        self.out_read, self.out_write = os.pipe()
        self.fds = (self.in_read, self.out_write)
        self.env = {'GATE': '%d,%d' % self.fds}

    def started(self):
        os.close(self.in_read)
        os.close(self.out_write)

    def arrived(self, child, timeout=None):
        """Waits until the target is at its gate; false if it ended instead."""
        import select
        timeout = (timeout or TIMEOUT) * PATIENCE
        ready, _, _ = select.select([self.out_read], [], [], timeout)
        if not ready:
            raise Failure('the target did not come to its gate in %d s' % timeout)
        return os.read(self.out_read, 1) == b'g'

    def open(self):
        try:
            os.write(self.in_write, b'o')
        except BrokenPipeError:
            pass

    def close(self):
        os.close(self.in_write)
        os.close(self.out_read)
