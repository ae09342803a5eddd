"""Tests files that a program, its debug information or a trace names. Each kind of object (KINDS) can be at each place
where functrace reads a file (PLACES). In each case the program runs normally and is traced, and functrace says once
which file it does not read, why, and what to do. cell(place, kind) is one scenario. some_cells() has each place and
each kind (named_files.py); tests/long/named_places.py has all combinations."""

import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import threading

import builds
import kinds
from lifecycle import need_attach
from outputs import equal
from processes import FUNCTRACE, POSTPROC, PATIENCE, Failure, state_of, wait_for
from words import compiled

# The program prints how long its longest call took. With an argument it makes calls until that file is removed.
PROGRAM = '''
#include <stdlib.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#ifndef WITHOUT_MAKE
__attribute__((noinline)) void *make(int wanted) { return malloc(wanted); }
#else
void *make(int wanted);
#endif
#ifndef WITHOUT_MAIN
void *volatile kept;
int main(int argc, char **argv)
{
	long longest = 0;
	for (int i = 0; i < 5 || (argc > 1 && !access(argv[1], F_OK)); i++) {
		struct timespec from, to;
		clock_gettime(CLOCK_MONOTONIC, &from);
		free(make(31000 + i % 5));
		clock_gettime(CLOCK_MONOTONIC, &to);
		const long took = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
		longest = took > longest ? took : longest;
		if (argc > 1)
			usleep(2000);
	}
	kept = make(31000);
	printf("done, %ld ms\\n", longest);
	return 0;
}
#endif
'''

STALL = 10000 * PATIENCE  # ms, on a busy machine; a read without an answer would take for ever
PUT_RIGHT = r'Put the right file there, or remove this one\.'


def run_all(room, *commands):
    for command in commands:
        made = room.run(command)
        if made.status:
            raise Failure(made.err.decode())


# ---- Kinds: put(path, healthy) puts the object into the place ----

class Kind:
    """A kind of object. `why`: the reason and advice that functrace gives, None: no message; `tells`: whether the
    object contains what the right file contains, None: perhaps; `by`: a command by which functrace is run."""

    def __init__(self, put, why=None, tells=False, by=()):
        self.put, self.why, self.tells, self.by = put, why, tells, list(by)

    def end(self):
        pass


def a_socket(path, _):
    # The path may be longer than the address of a socket may be.
    here = os.open(os.path.dirname(path), os.O_RDONLY)
    made = socket.socket(socket.AF_UNIX)
    made.bind('/proc/self/fd/%d/%s' % (here, os.path.basename(path)))
    made.close()
    os.close(here)


def a_device(path, _):
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        os.symlink('/dev/zero', path)


def cut_file(path, healthy):
    with open(path, 'wb') as file:
        file.write(healthy[:len(healthy) // 2])


def sparse_file(path, healthy):
    """Writes the file, followed by as many zeros as the file system allows."""
    with open(path, 'wb') as file:
        file.write(healthy)
        try:
            file.truncate(1 << 40)
        except OSError:
            file.truncate(1 << 33)


def unreadable(path, healthy):
    with open(path, 'wb') as file:
        file.write(healthy)
    os.chmod(path, 0)


class Terminal(Kind):
    """A terminal to which no input comes."""

    def __init__(self):
        super().__init__(self.open, NO_FILE)

    def open(self, path, _):
        self.fds = os.openpty()
        os.symlink(os.ttyname(self.fds[1]), path)

    def end(self):
        for fd in self.fds:
            os.close(fd)


class Changing(Kind):
    """The file is truncated and rewritten all the time."""

    def __init__(self):
        super().__init__(self.begin, None, None)

    def begin(self, path, healthy):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.change, args=(path, healthy))
        self.thread.start()

    def change(self, path, healthy):
        while not self.over.is_set():
            with open(path, 'wb') as file:
                file.write(healthy)
                file.flush()
                self.over.wait(0.002)
                file.truncate(len(healthy) // 2)
                self.over.wait(0.001)

    def end(self):
        self.over.set()
        self.thread.join()


# Root may read files without permission.
POWERLESS = ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] if os.geteuid() == 0 else []
CUT = r'it is truncated: its header says that it is longer\. Build or copy it again\.'
NO_FILE = r'it is no regular file\. ' + PUT_RIGHT
KINDS = {
    'the right file': lambda: Kind(None, tells=True),
    'a fifo': lambda: Kind(lambda path, _: os.mkfifo(path), NO_FILE),
    'a socket': lambda: Kind(a_socket, NO_FILE),
    'a device': lambda: Kind(a_device, NO_FILE),
    'a terminal': Terminal,
    'a folder': lambda: Kind(lambda path, _: os.mkdir(path), NO_FILE),
    'a link to itself': lambda: Kind(lambda path, _: os.symlink(path, path),
                                     r'Too many levels of symbolic links\. ' + PUT_RIGHT),
    'unreadable': lambda: Kind(unreadable, r"Permission denied\. Let functrace's user read it\.", by=POWERLESS),
    'cut': lambda: Kind(cut_file, CUT),
    '1 TiB': lambda: Kind(sparse_file, tells=True),
    'changing': Changing,
}


# ---- Places ----

class Place:
    """A place. lay(room) makes the files, including the program prog, and returns the path at which the kind is put.
    use(room, by) traces or reads, and returns (done, told): the result of the command, and whether the output has the
    file's information. `what` is the name of the file in messages; None: functrace does not read the file, and prints
    nothing. `of`: kinds with another (why, tells) at this place."""

    def __init__(self, lay, use, what='debug file', of=None):
        self.lay, self.use, self.what, self.of = lay, use, what, of or {}


def debug_file(room):
    kinds.need('objcopy')
    program, debug = compiled(room, 'prog', PROGRAM), room.path('prog.debug')
    run_all(room, ['objcopy', '--only-keep-debug', program, debug], ['objcopy', '--strip-debug', program],
            ['objcopy', '--add-gnu-debuglink=' + debug, program])
    return debug


def filed_by_build_id(room, folder):
    kinds.need('readelf')
    debug = debug_file(room)
    run_all(room, ['objcopy', '--remove-section=.gnu_debuglink', room.path('prog')])
    found = re.search(rb'Build ID: (..)([0-9a-f]+)', room.run(['readelf', '-n', room.path('prog')]).out)
    if not found:
        raise builds.Skip('the compiler gives no build-id')
    path = room.path('%s/.build-id/%s/%s.debug' % (folder, found[1].decode(), found[2].decode()))
    os.makedirs(os.path.dirname(path))
    shutil.move(debug, path)
    return path


def system_debug_file(room):
    """The debug file is in /usr/lib/debug, but only functrace and the program see it, because a folder is mounted there
    for them alone."""
    if os.geteuid() or not os.path.isdir('/usr/lib/debug'):
        raise builds.Skip('only root can mount a folder over /usr/lib/debug')
    inside = filed_by_build_id(room, 'folders')
    return inside


def split_file(room):
    compiled(room, 'prog', PROGRAM, '-gsplit-dwarf')
    return [room.path(name) for name in os.listdir(room.folder) if name.endswith('.dwo')][0]


def split_package(room):
    """The program's .dwo file exists only in this package, which libdw reads from version 0.191 on."""
    os.rename(split_file(room), room.path('prog.dwp'))
    return room.path('prog.dwp')


def common_file(room):
    """The file with common debug information that dwz makes for two programs, named relative to them."""
    kinds.need('dwz')
    compiled(room, 'prog', PROGRAM)
    compiled(room, 'other', PROGRAM.replace('31000', '32000'))
    made = subprocess.run(['dwz', '-m', 'common', 'prog', 'other'], cwd=room.folder, stderr=subprocess.PIPE)
    if made.returncode or not os.path.exists(room.path('common')):
        raise builds.Skip('dwz finds nothing that two programs share: %s' % made.stderr.decode())
    return room.path('common')


def longest_call(out):
    found = re.fullmatch(rb'done, (\d+) ms\n', out)
    if not found:
        raise Failure('the program has not done its work: %r' % out)
    if int(found[1]) >= STALL:
        raise Failure('a call took %s ms' % found[1].decode())


def arguments_of(text):
    if len(re.findall(r'^\d+\. .*\bmake\(', text, re.M)) < 6:
        raise Failure('calls are missing: %s' % text[-500:])
    return len(re.findall(r'\$1 = wanted=3100\d\n', text)) >= 6


def content(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def launched(room, by):
    """Traces the program with names and arguments."""
    done = room.run([*by, FUNCTRACE, '-f', 'text', '-r', '-a', '-x', 'make', '-o', room.path('trace'), room.path('prog')])
    longest_call(done.out)
    return done, arguments_of(content(room.path('trace')))


def over_debug(room, by):
    script = 'mount --bind "$0" /usr/lib/debug && exec "$@"'
    return launched(room, ['unshare', '-m', 'sh', '-c', script, room.path('folders'), *by])


def trace_of(room):
    """Makes a trace of prog without names."""
    done = room.run([FUNCTRACE, '-q', '-o', room.path('trace'), room.path('prog')])
    longest_call(done.out)


def named(room, by, *options):
    trace_of(room)
    moved = room.path('root' + room.path('prog'))
    if os.path.lexists(moved):
        os.unlink(room.path('prog'))
    done = room.run([*by, POSTPROC, '-r', '-f', 'text', *options, room.path('trace')])
    return done, b' in make() at ' in done.out


def given_folder(room):
    return filed_by_build_id(room, 'folders')


def below_sysroot(room):
    """The program is below --sysroot, as if from another system. Before, it is traced at its usual place (see
    named())."""
    compiled(room, 'prog', PROGRAM)
    moved = room.path('root' + room.path('prog'))
    os.makedirs(os.path.dirname(moved))
    shutil.copy(room.path('prog'), moved)
    return moved


def source(room):
    compiled(room, 'prog', PROGRAM)
    return room.path('prog.c')


def shown(room, by):
    trace_of(room)
    done = room.run([*by, POSTPROC, '--report=alive', room.path('trace')])
    return done, b'return malloc(wanted);' in done.out


def map_file(room):
    """The file is a map file beside the trace, which functrace's traces do not need."""
    compiled(room, 'prog', PROGRAM)
    trace_of(room)
    os.rename(room.path('trace'), room.path('other'))
    with open(room.path('other.map'), 'w') as file:
        file.write('\n')
    return room.path('other.map')


def with_map(room, by):
    done = room.run([*by, POSTPROC, '-f', 'text', room.path('other')])
    return done, b'(31000' in done.out


def library(room):
    """The kind is put at the path of a library that a running program has mapped."""
    need_attach()
    compiled(room, 'libmake.so', PROGRAM, '-shared', '-fPIC', '-DWITHOUT_MAIN')
    compiled(room, 'prog', PROGRAM, '-DWITHOUT_MAKE', '-Wl,--no-as-needed', room.path('libmake.so'))
    with open(room.path('go'), 'w'):
        pass
    room.child = room.start([room.path('prog'), room.path('go')])
    # It sleeps only in its loop, when all libraries are loaded and it has a heap.
    wait_for('the library', lambda: 'libmake.so' in content('/proc/%d/maps' % room.child.pid) and
             state_of(room.child.pid) == 'S')
    os.rename(room.path('libmake.so'), room.path('kept.so'))
    shutil.copy(room.path('kept.so'), room.path('libmake.so'))
    return room.path('libmake.so')


def attached(room, by):
    """functrace reads the mapped file itself, not the object that now has its path."""
    trace = room.path('trace')
    tracer = room.start([*by, FUNCTRACE, '-f', 'text', '-r', '-a', '-x', 'make', '-o', trace, '-t',
                         str(room.child.pid)])
    wait_for('calls in the trace', lambda: tracer.poll() is not None or (
        os.path.exists(trace) and len(re.findall(r'^\d+\. .*\bmake\(', content(trace), re.M)) >= 6))
    tracer.send_signal(signal.SIGINT)
    done = room.finish(tracer)
    os.unlink(room.path('go'))
    longest_call(room.finish(room.child).out)
    return done, arguments_of(content(room.path('trace')))


def cut_in_place(room):
    """The file of a mapped library is truncated before its section table. Its segments are unchanged."""
    library(room)
    with open(room.path('kept.so'), 'rb+') as file:
        head = file.read(64)
        file.truncate(struct.unpack_from('<Q' if head[4] == 2 else '<I', head, 40 if head[4] == 2 else 32)[0])
    done, told = attached(room, [])
    lines = re.findall(r'warning: the table of symbols of \S*/kept\.so is not read: ' + CUT, done.err.decode())
    return equal('status', done.status, 0) + equal('told', told, False) + equal('lines', len(lines), 1), ''


def core_library(room):
    """The file is a library, below --sysroot, of the process that a core file shows."""
    kinds.need('gcore')
    path = library(room)
    os.unlink(path)
    os.rename(room.path('kept.so'), path)
    run_all(room, ['gcore', '-o', room.path('core'), str(room.child.pid)])
    os.unlink(room.path('go'))
    longest_call(room.finish(room.child).out)
    for name in 'prog', 'libmake.so':
        moved = room.path('root' + room.path(name))
        os.makedirs(os.path.dirname(moved), exist_ok=True)
        shutil.move(room.path(name), moved)
    for line in room.run(['ldd', room.path('root' + room.path('prog'))]).out.decode().split('\n'):
        found = re.search(r'(/\S+) \(0x', line)
        if found:
            os.makedirs(os.path.dirname(room.path('root' + found[1])), exist_ok=True)
            shutil.copy(found[1], room.path('root' + found[1]))
    return room.path('root' + room.path('libmake.so'))


def scanned(room, by):
    core = [name for name in os.listdir(room.folder) if name.startswith('core.')][0]
    done = room.run([*by, FUNCTRACE, '--scan', '--core=' + room.path(core), '--sysroot=' + room.path('root')])
    return done, 'libmake.so, which the process had mapped, is not here' not in done.err.decode()


CUT_OBJECT = (r'it is truncated: its header says that it is longer\. Its frames have no lines\. Say where the complete file or its '
              r'debug file is: functrace-postproc -r --sysroot=DIR or --debug-path=DIR\.')
PLACES = {
    'a debug file': Place(debug_file, launched),
    'a debug file by its build-id': Place(system_debug_file, over_debug),
    'a debug file of --debug-path': Place(
        given_folder, lambda room, by: named(room, by, '--debug-path=' + room.path('folders'))),
    'a .dwo file': Place(split_file, launched),
    'a .dwp file': Place(split_package, launched, None),
    "dwz's file": Place(common_file, launched),
    'a source': Place(source, shown, 'source file', {'cut': (None, True),  # text has no length of its own
                                                     '1 TiB': (r'File too large\. ' + PUT_RIGHT, False)}),
    'a program of --sysroot': Place(
        below_sysroot, lambda room, by: named(room, by, '--sysroot=' + room.path('root')), 'file', {'cut': (CUT_OBJECT, False)}),
    "a core file's library": Place(core_library, scanned, 'file', {'cut': (CUT, True)}),
    'a library that is mapped': Place(library, attached, None),
    'the map file of a trace': Place(map_file, with_map, None),
}


def cell(place_name, kind_name):
    place, kind = PLACES[place_name], KINDS[kind_name]()

    def run(room):
        path = place.lay(room)
        with open(path, 'rb') as file:
            healthy = file.read()
        if kind.by:
            kinds.need(kind.by[0])
        if kind.put:
            os.unlink(path)
            kind.put(path, healthy)
        try:
            done, told = place.use(room, kind.by)
        finally:
            if kind.put:
                kind.end()
        said = done.err.decode(errors='replace')
        why, tells = place.of.get(kind_name, (kind.why, kind.tells))
        problems = equal('status', done.status, 0)
        if place.what and tells is not None:
            problems += equal('told', told, tells)
            lines = re.findall(r'warning: ((?:the %s|the debug information of|the table of symbols of) \S*/%s is not read: .*)' % (
                place.what, re.escape(os.path.basename(path))), said)
            problems += equal('messages about the file', len(lines), int(bool(why)))
            if why and lines and not re.search(' is not read: %s$' % why, lines[0]):
                problems.append('functrace says %r' % lines[0])
        elif not place.what:
            problems += equal('messages about the file', re.findall('.* is not read: .*', said), [])
        if problems:
            problems.append('functrace said: ' + said[-1500:])
        return problems, ''
    return run


def all_cells():
    for place in PLACES:
        for kind in KINDS:
            yield '%s: %s' % (place, kind), cell(place, kind)


def some_cells():
    """Yields each place with some of the kinds, so that each kind is used at one place."""
    rest = [kind for kind in KINDS if kind != 'the right file']
    for number, place in enumerate(PLACES):
        yield '%s: %s' % (place, rest[number % len(rest)]), cell(place, rest[number % len(rest)])

