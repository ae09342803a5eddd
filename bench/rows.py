"""The rows of the tables: functrace with different options, and other tools, each running a target. functrace uses
breakpoints, because the rows are compared with the floor of stops; probes.py measures probes in the kernel."""

import shutil
import subprocess

from programs import FUNCTRACE, built, target


class Row:
    """One program with its options. scale: the number of pairs in a round, relative to that of functrace; less than 1
    for slow programs. missing: the reason why this machine cannot run the program, or None."""

    def __init__(self, name, command, scale=1.0, needs=None):
        self.name, self.command, self.scale, self.needs = name, command, scale, needs
        self.missing = None

    def check(self, room):
        """Sets `missing` if this machine cannot run the program."""
        if self.needs and not shutil.which(self.needs):
            self.missing = '%s is not installed' % self.needs
            return
        try:
            room.run(self.command(room, 'malloc', pairs=20, rounds=1), timeout=60)
        except Exception as error:  # pylint: disable=broad-except
            self.missing = '%s does not work here (%s)' % (self.needs or self.name, error)


def native(_room, name, **options):
    return target(name, **options)


def floor(mode):
    def command(_room, name, frames=0, **options):
        if name != 'malloc':
            return None
        return [built('floor'), '--mode=' + mode] + ['--%s=%d' % item for item in options.items()]
    return command


def functrace(*settings):
    def command(room, name, **options):
        return [FUNCTRACE, '-q', '--probes=breakpoints', '-o', room.path('trace'), *settings] + target(name, **options)
    return command


def ltrace(room, name, **options):
    functions = {'malloc': 'malloc+free', 'realloc': 'realloc', 'new': '_Znwm+_ZdlPvm', 'throw': '__cxa_throw',
                 'file': 'open+close'}[name]
    return ['ltrace', '-f', '-e', functions, '-o', room.path('ltrace')] + target(name, **options)


def strace(room, name, **options):
    return ['strace', '-f', '-e', 'trace=open,openat,close', '-o', room.path('strace')] + target(name, **options)


GDB_SCRIPT = """set pagination off
set confirm off
set debuginfod enabled off
break main
run
break malloc
commands
silent
continue
end
break free
commands
silent
continue
end
continue
"""


def gdb(room, name, **options):
    script = room.path('gdb')
    with open(script, 'w') as file:
        file.write(GDB_SCRIPT)
    return ['gdb', '-q', '-nx', '-batch', '-x', script, '--args'] + target(name, **options)


def heaptrack(room, name, **options):
    return ['heaptrack', '-o', room.path('heaptrack')] + target(name, **options)


def libc_path():
    found = subprocess.run(['ldd', built('targets/malloc')], capture_output=True, text=True, check=False).stdout
    for line in found.splitlines():
        if 'libc.so' in line and '=>' in line:
            return line.split()[2]
    return 'libc'


def bpftrace(_room, name, **options):
    libc = libc_path()
    script = ('uprobe:%s:malloc { @stacks[ustack(16)] = count(); } uretprobe:%s:malloc { @made = count(); } '
              'uprobe:%s:free { @released = count(); }' % (libc, libc, libc))
    return ['bpftrace', '-q', '-e', script, '-c', ' '.join(target(name, **options))]


NATIVE = Row('native', native, 50)
FLOOR = Row('floor: three bare stops', floor('bare'))
CALLS = Row('floor: functrace\'s own calls', floor('calls'))
B0 = Row('functrace -b 0', functrace('-b', '0'))
B16 = Row('functrace -b 16', functrace('-b', '16'))
B64 = Row('functrace -b 64', functrace('-b', '64'))
OTHER = Row('functrace -e memory -b 16', functrace('-e', 'memory', '-b', '16'), 50)
FILE = Row('functrace -e file -b 16', functrace('-e', 'file', '-b', '16'))
B0_ARGS = Row('functrace -b 0 -a', functrace('-b', '0', '-a'))
FILE_B0 = Row('functrace -e file -b 0', functrace('-e', 'file', '-b', '0'))
FILE_ARGS = Row('functrace -e file -b 0 -a', functrace('-e', 'file', '-b', '0', '-a'))
PIN = Row('functrace -b 16 --cpu=pin', functrace('-b', '16', '--cpu=pin'))
FREE = Row('functrace -b 16 --cpu=free', functrace('-b', '16', '--cpu=free'))
ALL = Row('functrace -b 16 -A', functrace('-b', '16', '-A'))
LIBUNWIND = Row('functrace --unwinder=libunwind', functrace('-b', '16', '--unwinder=libunwind'))
LTRACE = Row('ltrace -e malloc+free', ltrace, 0.3, 'ltrace')
STRACE = Row('strace -e openat,close', strace, 0.3, 'strace')
GDB = Row('gdb, break and continue', gdb, 0.1, 'gdb')
LIFT = Row('floor: lift and single-step', floor('lift'), 0.3)
HEAPTRACK = Row('heaptrack (preloaded)', heaptrack, 20, 'heaptrack')
BPFTRACE = Row('bpftrace (kernel, ustack)', bpftrace, 5, 'bpftrace')

PEERS = [LTRACE, GDB, LIFT, HEAPTRACK, BPFTRACE]
MAIN = [NATIVE, FLOOR, CALLS, B0, B16, PIN, FREE, ALL, LIBUNWIND] + PEERS
