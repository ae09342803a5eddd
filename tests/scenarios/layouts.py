"""Tests programs with unusual places or kinds of text, allocators or libraries, which the table of scenarios cannot
describe."""

import os
import re
import shutil

import builds
import kinds
import oracle
import trace_text
from lifecycle import Held, attached_at_gate, launched, need_attach, private_mount
from processes import FUNCTRACE
from programs import come_and_go
from rounds import LONG


# ---- Libraries whose files are not in their place ----

def with_a_library(room, path, change=lambda path: None, prefix=(), fds=()):
    """Attaches to a program that has loaded the library `path`, after `change` has changed that file."""
    need_attach()
    command = list(prefix) + [builds.target('ifuncs', 'O2'), path, 'lazy']
    return attached_at_gate(room, command, ['-r'], fds, lambda: change(path))


def library_copy(room):
    path = room.path('library.so')
    shutil.copy(builds.library('ifunclibrary'), path)
    return path


def library_deleted(room):
    return with_a_library(room, library_copy(room), os.unlink)


def library_replaced(room):
    """The library's path is now another library, which has functions of the same names at other addresses."""
    def change(path):
        os.unlink(path)
        shutil.copy(builds.library(), path)
    return with_a_library(room, library_copy(room), change)


def library_in_a_memfd(room):
    fd = os.memfd_create('library', 0)
    try:
        with open(builds.library('ifunclibrary'), 'rb') as file:
            os.write(fd, file.read())
        return with_a_library(room, '/proc/self/fd/%d' % fd, fds=(fd,))
    finally:
        os.close(fd)


def library_in_a_mount_namespace(room):
    unshare, inner = private_mount(room)
    script = 'mount -t tmpfs none "$1" && cp "$2" "$1/library.so" && shift 2 && exec "$@"'
    prefix = [unshare, '--mount', 'sh', '-c', script, 'sh', inner, builds.library('ifunclibrary')]
    return with_a_library(room, os.path.join(inner, 'library.so'), prefix=prefix)


def reloading(room):
    """functrace attaches again and again while a thread loads and unloads libraries."""
    need_attach()
    count = 40 if LONG else 2
    with Held(room, [builds.target('reloading', 'O2'), builds.library()]) as held:
        problems, events = come_and_go(room, held.child.pid, count, 0.02, until_call=True)
        held.gate.open()
        ended = room.finish(held.child)
    if ended.status or ended.out != b'wrong 0\n':
        problems.append('the target ended with status %d and said %r' % (ended.status, ended.out))
    if not events:
        problems.append('no events in %d rounds' % count)
    return problems, '%d rounds, %d events' % (count, events)


# ---- Messages about wrong releases ----

def misuse(room, env=None):
    """Each wrong release is reported in the trace and at the end; correct ones are not."""
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces')) + [builds.target('misuse', 'O2')], kinds.with_libraries(env or {}))
    traces, problems = kinds.read_traces(room.path('traces'), 1)
    with open(traces[0].path) as file:
        text = file.read()
    expected = [
        (3, 'mismatch: free releases 0x'),
        (6, r'mismatch: operator delete\(void\*\) releases 0x'),
        (9, 'mismatch: '),
        (2, r'je_free releases 0x[0-9a-f]+ \(event \d+\), which je_free has released already \(event \d+\): a double release\n'),
        (1, r'je_free releases 0x[0-9a-f]+, which is not allocated \(released earlier, or allocated by no traced function\)'),
        (1, 'which is not allocated'),
        (2, 'released already'),
    ]
    for count, pattern in expected:
        found = len(re.findall(pattern, text))
        if found != count:
            problems.append('%d notes "%s", expected %d' % (found, pattern, count))
    # Each note has the numbers of both events, and it follows the event of the release.
    for note in re.findall(r'^## mismatch: (.*?) releases (0x[0-9a-f]+) \(event (\d+)\), which was allocated by (.*) '
                           r'\(event (\d+)\)$', text, re.M):
        both = [(e.function, e.kind, e.id) for e in traces[0].events if str(e.index) in (note[2], note[4])]
        if both != [(note[3], '+', int(note[1], 16)), (note[0], '-', int(note[1], 16))]:
            problems.append('a note %r of events %r' % (note, both))
    for words in (b'functrace: 1 release of a block that was not seen allocated; 2 double releases of blocks (or their '
                  b'allocations were not seen); 9 releases by another family of functions (new and free)\n',
                  b"functrace: to see the wrong releases (functrace -A also records their stacks): functrace-postproc %s | grep ' releases 0x'\n" %
                  traces[0].path.encode()):
        if words not in done.err:
            problems.append('message missing: %s; functrace said: %s' % (words.decode(), done.err.decode()))
    return problems, '%d events' % len(traces[0].events)


# ---- Several allocators at once ----

def two_preloaded(room):
    """Two preloaded allocators: the program's calls are bound to the first, the second is unused; each call is recorded
    once."""
    libraries = [kinds.find_library(name) for name in ('libjemalloc.so.2', 'libmimalloc.so.2.0')]
    command = [builds.target('threads', 'O2'), '2', '50']
    problems, remarks = [], []
    for order in (libraries, libraries[::-1]):
        preload = ['env', 'LD_PRELOAD=' + ':'.join(order)]
        plain = room.run(preload + command)
        folder = room.path(os.path.basename(order[0]))
        os.makedirs(folder)
        traced = room.run(kinds.functrace(folder, '-r') + preload + command)
        traces, more = kinds.read_traces(folder, 2)  # the traces of env and of the program
        problems += kinds.compare_runs(plain, traced) + more + oracle.Oracle(plain.out).check(traces)
        remarks += ['%d events' % len(t.events) for t in traces[1:]]
    return problems, ', '.join(remarks)


def landing_pads(room):
    """A mapping that takes the place of another one ends that one, also if mmap begins with a landing pad, after which the
    breakpoint is (endbr64)."""
    program = builds.target('replaces', 'cet')
    plain = room.run([program])
    done = room.run([FUNCTRACE, '-f', 'text', '-b', '0', '-e', 'shmposix', '-L', program, '-o', 'trace', program])
    events = trace_text.read(room.path('trace')).events
    problems = kinds.compare_runs(plain, done)
    start = events[0].id if events else 0
    found = [(e.kind, e.id - start, e.size if e.kind == '+' else e.freed_size) for e in events]
    expected = [('+', 0, 12288), ('-', 0, 12288), ('+', 0, 4096), ('+', 8192, 4096), ('+', 4096, 4096),
                ('-', 0, 4096), ('-', 4096, 4096), ('-', 8192, 4096)]
    if found != expected:
        problems.append('%s, expected %s' % (found, expected))
    return problems, '%d events' % len(events)


# ---- Go ----

def go_cgo(room):
    """Goroutines that allocate by C.malloc, on Go stacks that are moved: every call is recorded. The C code runs on
    other stacks, which have older return addresses on them. The recorded stack ends where Go switches stacks, so the
    calls from one place are one group."""
    problems, remark = launched(room, builds.go('cgo'), '-r')
    traces, _ = kinds.read_traces(room.path('traces'), 1)
    stacks = {tuple(e.names()) + (e.end,) for t in traces for e in t.events if e.kind == '+' and e.size == 38801}
    if len(stacks) != 1:
        problems.append('%d different stacks of one C.malloc: %r' % (len(stacks), sorted(stacks)[:4]))
    elif not [s for s in stacks if re.match(r'_cgo_\w+_Cfunc__Cmalloc,runtime.asmcgocall[.\w]*,lost$', ','.join(s))]:
        problems.append('the stack of C.malloc is %s' % ' '.join(map(str, stacks.pop())))
    return problems, remark


def go_alone(room):
    """A Go program without C is unharmed, and functrace says that it found no function."""
    program = builds.go('goroutines')
    plain = room.run([program])
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces')) + [program])
    traces, problems = kinds.read_traces(room.path('traces'), 1)
    problems += kinds.compare_runs(plain, done)
    if b'none of the functions to be traced was found' not in done.err or b'it is a Go program' not in done.err:
        problems.append('no message that no function was found: %r' % done.err)
    return problems, ''


CASES = [
    ('a loaded library was deleted', library_deleted),
    ('a loaded library was replaced', library_replaced),
    ('a library in a memfd', library_in_a_memfd),
    ('a library in another mount namespace', library_in_a_mount_namespace),
    ('a thread loads and unloads a library, attached to again and again', reloading),
    ('wrong releases are reported, right ones are not', misuse),
    ('two preloaded allocators: each call is recorded once', two_preloaded),
    ('a mapping in place of another one, by an mmap with a landing pad', landing_pads),
    ('a Go program that calls C from 32 goroutines', go_cgo),
    ('a Go program without C is unharmed', go_alone),
]
