"""Compares kinds other than memory, event by event, with a preloaded logger (tests/targets/kindlog.c): trace and log
must have each resource that a program opens, closes, maps, creates or joins by functions of the C library, with the
same id, size and thread, in the same order."""

import collections
import os
import re
import sys

import builds
import endings
import kinds
import reflog
import several
import trace_text
from processes import Failure

TRACED = ['-e', 'file,thread,shmposix,shmsysv', '-A', '-b', '1']
PAGE = 4096
Item = collections.namedtuple('Item', 'kind function id size tid')


def plain(function):
    """Returns a name without the parts in which forms of one function differ: open64<fd> and __open_2<fd> become
    open<fd>."""
    name, kind = function.split('<')
    return re.sub(r'^__|(64)?(_2)?$', '', name) + '<' + kind


def functions():
    """Returns the names of the functions that the logger wraps, from its source."""
    with open(os.path.join(builds.SOURCES, 'kindlog.c')) as file:
        text = file.read()
    known = set(re.findall(r'"[-+]([\w]+<\w+>)"', text)) | {
        '%s<%s>' % (name, kind) for macro, kind in (('OPENS', 'fd'), ('OPENS_FILE', 'fd'), ('OPENS_AT', 'fd'), ('OPENS_TWO', 'fd'),
                                                    ('DUPLICATES', 'fd'), ('STREAMS', 'fp'), ('ENDS', 'fp'), ('LEAVES', 'pthread_t'))
        for name in re.findall(r'^%s\((\w+)' % macro, text, re.M)}
    known |= {'%s<%s>' % (name, kind) for name in ('mmap', 'munmap', 'mremap') for kind in ('pshmmap', 'fshmmap', 'shmmap')}
    return {plain(name) for name in known}


# ---- Mappings: the meaning of calls ----

class Mappings:
    """The mappings of one process; each call returns the events that a trace must have for it."""

    def __init__(self, live=()):
        self.live = set(live)  # (start, end, kind)

    def take(self, function, start, end, tid):
        """Unmaps a range: releases each mapping that overlaps it, and adds the rest of that mapping as a new
        mapping."""
        for one in sorted(m for m in self.live if m[0] < end and m[1] > start):
            low, high, kind = one
            self.live.remove(one)
            name = '%s<%s>' % (function, kind)
            yield Item('-', name, low, 0, tid)
            for left, right in ((low, min(start, high)), (max(end, low), high)):
                if left < right:
                    self.live.add((left, right, kind))
                    yield Item('+', name, left, right - left, tid)

    def put(self, function, start, size, kind, tid):
        self.live.add((start, start + (size + PAGE - 1) // PAGE * PAGE, kind))
        return Item('+', '%s<%s>' % (function, kind), start, size, tid)


def replay(items, live=()):
    """Replaces the calls of mmap, munmap and mremap in a process's log by their meaning, and returns the mappings at
    the end. Unmapping an unknown mapping gives no event."""
    mappings, moving, found, segments = Mappings(live), {}, [], collections.Counter()
    for tid, event in items:
        call, _, kind = event.function.partition('<')
        start, end = event.id, event.id + (event.size + PAGE - 1) // PAGE * PAGE
        if call in ('mmap', 'mmap!'):
            if call == 'mmap!':
                found += mappings.take('mmap', start, end, tid)
            found.append(mappings.put('mmap', start, event.size, kind[:-1], tid))
        elif call == 'munmap':
            found += mappings.take('munmap', start, end, tid)
        elif event.kind in '-=' and call == 'mremap':
            kinds_there = [m[2] for m in mappings.live if m[0] <= start < m[1]]
            moving[tid] = kinds_there[0] if kinds_there else None
            if event.kind == '-' and kinds_there:
                found += mappings.take('mremap', start, end, tid)
        elif call in ('mremap', 'mremap!'):
            if not moving.get(tid):
                continue
            if call == 'mremap!':
                found += mappings.take('mremap', start, end, tid)
            found.append(mappings.put('mremap', start, event.size, moving[tid], tid))
        elif event.function == 'shmget<segment>' and segments[event.id]:
            continue  # it already existed
        else:
            if kind == 'segment>':
                segments[event.id] += 1 if event.kind == '+' else -1
            found.append(Item(event.kind, plain(event.function), event.id, size_of(event), tid))
    return found


def size_of(event):
    """If a segment was created before the trace and is attached, the trace has its size in whole pages."""
    if event.kind == '-':
        return 0
    return (event.size + PAGE - 1) // PAGE * PAGE if event.function.startswith('shmat') else event.size


# ---- Comparing ----

def traced_items(trace, known):
    """Returns the calls of functions that the logger wraps, except calls that the C library makes itself."""
    own = [(low, high) for path, low, high in trace.objects if re.match(r'(libc|ld-linux.*|ld)[.-].*', os.path.basename(path))]
    items = []
    for event in trace.events:
        caller = event.frames[0][0] if event.frames else 0
        function = plain(event.function)
        if function in known and caller and not any(low <= caller < high for low, high in own):
            items.append(Item(event.kind, function, event.id, size_of(event), event.tid))
    return items


def key(item):
    """Events of the same key are compared in order. If two calls that create threads overlap, both may return the same
    id, and their order is not known; so they are compared for each creating thread alone:

        A: pthread_create() makes P |                           |             | A: returns
                                    | P: detaches itself, ends  |             |
                                    |                           | B: makes P  |
    """
    kind = item.function.split('<')[1]
    return (kind, item.id, item.tid if kind.endswith('pthread_t>') else 0)


def by(items, of):
    found = collections.defaultdict(list)
    for item in items:
        found[of(item)].append(item)
    return found


def compare(trace, ours, theirs):
    """Returns problems: each id of each kind must have the same events in the same order, by the same threads."""
    ends = endings.Endings(by(ours, lambda i: i.tid), by(theirs, lambda i: i.tid), trace.notes, trace.pid)
    problems, traced, logged = [], by(ours, key), by(theirs, key)
    for one in sorted(set(traced) | set(logged)):
        a, b = traced.get(one, []), logged.get(one, [])
        same = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        if same < min(len(a), len(b)) or not all(ends.allow_traced(x.tid, x) for x in a[same:]) or \
                not all(ends.allow_logged(x.tid, x) for x in b[same:]):
            problems.append('<%s %#x: event %d differs: the trace has %s, the log %s' % (
                one[0], one[1], same + 1, tuple(a[same]) if same < len(a) else 'nothing more',
                tuple(b[same]) if same < len(b) else 'nothing more'))
    return problems[:4] + (['... and %d more' % (len(problems) - 4)] if len(problems) > 4 else ends.problems())


def logged(room, command, env=None, at_least=20):
    """Launches a program with the logger, and compares all processes that have both a trace and a log."""
    known, log = functions(), room.path('log')
    env = dict(env or {})
    plain_run = room.run(command, env)
    os.makedirs(log)
    os.makedirs(room.path('traces'))
    traced = room.run(kinds.functrace(room.path('traces'), *TRACED) + command, dict(env, REFLOG=log, LD_PRELOAD=builds.kinds_logger()))
    problems, compared, of = kinds.compare_runs(plain_run, traced), 0, collections.Counter()
    images = {pid: list(some) for pid, some in reflog.read_images(log).items()}
    paths = [os.path.join(room.path('traces'), name) for name in os.listdir(room.path('traces'))]
    for path in sorted(paths, key=lambda p: [int(n) for n in re.findall(r'\d+', os.path.basename(p))]):
        trace = trace_text.read(path)
        problems += trace.problems
        program = os.path.basename(trace.header.get('process', ''))
        ours = traced_items(trace, known)
        image = next((i for i in images.get(trace.pid, []) if i.program == program[:39]), None)
        if image:
            images[trace.pid].remove(image)
        forked = any(re.match(r'process \d+ was forked by', note) for note in trace.notes)
        if forked:
            continue  # the mappings that the child inherited are in its parent's log
        theirs = replay(image.in_order()) if image else []
        of.update(item.function.split('<')[1][:-1] for item in theirs)
        compared += len(theirs)
        problems += ['%s, process %d: %s' % (program, trace.pid, words) for words in compare(trace, ours, theirs)]
    if compared < at_least:
        problems.append('only %d events are in the log' % compared)
    return problems[:6], '%d events: %s' % (compared, ', '.join('%s %d' % one for one in sorted(of.items())))


def target(name, *args):
    def run(room):
        return logged(room, [builds.target(name, 'O2')] + list(args), at_least=5)
    return run


def python(room):
    script = several.PYTHON.replace('import concurrent', 'import subprocess; subprocess._USE_VFORK = subprocess._USE_POSIX_SPAWN = False\n'
                                    'import concurrent', 1)
    return logged(room, [os.path.realpath(sys.executable), '-c', script], {'PYTHONHASHSEED': '1'}, 300)


def perl(room):
    script = 'use IO::Socket; for (1 .. 3) { my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1"); ' \
             'open(my $f, "<", "/etc/passwd"); my @l = <$f>; opendir(my $d, "/"); my @n = readdir($d); pipe(my $r, my $w); }'
    return logged(room, [kinds.need('perl'), '-e', script])


def git(room):
    made = room.run([kinds.need('git'), 'init', '-q', 'r'], {'HOME': room.folder})
    if made.status:
        raise Failure(made.err.decode())
    with open(room.path('r', 'f'), 'w') as file:
        file.write('x\n')
    env = {'HOME': room.folder, 'GIT_CONFIG_NOSYSTEM': '1'}
    return logged(room, ['git', '-C', room.path('r'), 'status', '--short'], env)


def sqlite(room):
    script = 'create table t(a, b); insert into t values (1, 2), (3, 4); select sum(a * b) from t;'
    with open(room.path('script'), 'w') as file:
        file.write('.bail on\n' + script + '\ndrop table t;\n')
    return logged(room, [kinds.need('sqlite3'), room.path('base'), '.read ' + room.path('script')])


def gcc(room):
    with open(room.path('a.c'), 'w') as file:
        file.write('#include <stdio.h>\nint main(void) { return puts("a") < 0; }\n')
    return logged(room, builds.compiler() + ['-c', room.path('a.c'), '-o', room.path('a.o')])


CASES = [('descriptors of a target as the logger has them', target('descriptors')),
         ('threads of a target as the logger has them', target('kind_thread')),
         ('many short threads as the logger has them', target('kind_threadstorm', '100')),
         ('mappings of a target as the logger has them', target('kind_shmposix')),
         ('many short mappings as the logger has them', target('kind_mapstorm', '4', '100')),
         ('shared segments of a target as the logger has them', target('kind_shmsysv')),
         ('several kinds of a target as the logger has them', target('kind_several')),
         ('kinds as the logger has them: python3', python), ('kinds as the logger has them: perl', perl), ('kinds as the logger has them: git', git), ('kinds as the logger has them: sqlite3', sqlite), ('kinds as the logger has them: gcc', gcc)]
BUILDS = tuple((name, 'O2') for name in ('descriptors', 'kind_thread', 'kind_threadstorm', 'kind_shmposix', 'kind_mapstorm',
                                         'kind_shmsysv', 'kind_several'))
