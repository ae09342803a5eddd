"""Tests stacks, and the messages about incomplete ones."""

import os
import re

import builds
import kinds
import oracle
from processes import FUNCTRACE, Failure


def share(part, whole):
    percent = 100 * part / whole
    return 'less than 0.1 %' if percent < 0.1 else '%.1f %%' % percent if percent < 9.95 else '%.0f %%' % percent


def cut(depth, more):
    """Stacks of 200 frames: functrace reports the share of truncated stacks, with the depth that would show more, and
    each truncated stack is marked. `more` is that depth; None: no stack is truncated, '': no larger depth exists."""
    def run(room):
        command = [builds.target('recursion', 'O2'), '200']
        plain = room.run(command)
        os.makedirs(room.path('traces'))
        done = room.run(kinds.functrace(room.path('traces'), '-r', '-b', str(depth)) + command)
        traces, problems = kinds.read_traces(room.path('traces'), 1)
        problems += kinds.compare_runs(plain, done) + oracle.Oracle(plain.out).check(traces)
        stacks = [e for t in traces for e in t.events if e.frames]
        marked = [e for e in stacks if e.end == 'cut']
        # The C library of 32-bit ARM has no unwind information for the start of a thread.
        lost = [e for e in stacks if e.end == 'lost' and (builds.processor() != 'arm' or len(e.frames) > 2)]
        if lost:
            problems.append('%d stacks end too early: %s' % (len(lost), lost[0].frames[-3:]))
        if any(len(set(a for a, _ in e.frames)) > depth for e in stacks):
            problems.append('a stack of more than %d frames' % depth)
        if bool(marked) != (more is not None):
            problems.append('%d stacks are truncated' % len(marked))
        wanted = ''
        if more is not None:
            wanted = 'functrace: %s of the stacks were cut at %d frames%s\n' % (
                share(len(marked), len(stacks)), depth, ': -b %d shows more' % more if more else ', which is the maximum')
        told = ''.join(line + '\n' for line in done.err.decode().split('\n') if 'were cut' in line)
        if told != wanted:
            problems.append('said %r, expected %r' % (told, wanted))
        return problems, '%d of %d stacks cut' % (len(marked), len(stacks))
    return run


def cut_in_children(room):
    """If there are several traces, each message is about its own trace."""
    command = [builds.target('forks', 'O2'), 'fork']
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces'), '-b', '1') + command)
    traces, problems = kinds.read_traces(room.path('traces'), 2)
    for trace in traces:
        stacks = [e for e in trace.events if e.frames]
        marked = [e for e in stacks if e.end == 'cut']
        wanted = 'trace: %s; %s of its stacks are cut\n' % (trace.path, share(len(marked), len(stacks)))
        if wanted.encode() not in done.err:
            problems.append('message missing: %r' % wanted)
    if problems:
        problems.append('functrace said: ' + done.err.decode())
    return problems, ''


def hidden_entry(room):
    """An allocator function has no symbol, so the allocations of its blocks are not traced, and functrace counts their
    releases as unknown. With --symbol-address for this function the allocations are traced."""
    program = builds.target('hidden', 'O2')
    kinds.need(builds.NM[0])
    nm = room.run([*builds.NM, program]).out.decode()
    found = re.search(r'^([0-9a-f]+) . hidden_calloc$', nm, re.M)
    if not found:
        raise Failure('hidden_calloc is not in %s' % program)
    problems = []
    for options, allocated, unseen in (([], 4, 3), (['--symbol-address=calloc=0x' + found.group(1)], 7, 0)):
        folder = room.path('traces%d' % allocated)
        os.makedirs(folder)
        done = room.run(kinds.functrace(folder, *options) + [program])
        traces, more = kinds.read_traces(folder, 1)
        problems += more
        sizes = [e.size for e in traces[0].events if e.kind == '+']
        if sizes.count(40001) + sizes.count(40002) != allocated:
            problems.append('%d blocks were seen allocated, expected %d' % (len(sizes), allocated))
        told = re.findall(rb'(\d+) releases of blocks that were not seen allocated', done.err)
        if told != ([b'%d' % unseen] if unseen else []):
            problems.append('unseen blocks: %r, expected %d' % (told, unseen))
    return problems, ''


def frames(room, target, variant, unwinder):
    """Returns the frames of a run at fixed addresses, without times and process ids."""
    path = room.path('%s.txt' % unwinder)
    done = room.run([kinds.need('setarch'), '-R', FUNCTRACE, '-q', '-r', '-f', 'text', '--unwinder=' + unwinder, '-o', path,
                     builds.target(target, variant)])
    if done.status:
        raise Failure('status %d: %r' % (done.status, done.err[-300:]))
    with open(path) as file:
        return [re.sub(r'^(\d+\. )\[[^]]*\]', r'\1', line) for line in file
                if not line.startswith(('version=', '##'))]


def same_frames(room):
    """In 32-bit programs functrace's own unwinder finds the same frames as elfutils' unwinder, which replaces libunwind
    there."""
    problems, lines = [], 0
    if builds.processor() not in ('x86_64', 'i386'):
        raise builds.Skip('the programs are i386\'s')
    for target, variant in (('nested', 'm32'), ('alloc_cpp', 'm32-O0'), ('alloc_cpp', 'm32-noframe'), ('altstack', 'm32'),
                            ('altstack', 'm32-O0'), ('throwing', 'm32'), ('alloc_basic', 'm32-static')):
        rows, other = (frames(room, target, variant, unwinder) for unwinder in ('rows', 'libunwind'))
        lines += len(rows)
        differing = [pair for pair in zip(rows, other) if pair[0] != pair[1]]
        if differing or len(rows) != len(other):
            problems.append('%s-%s: %d lines by rows, %d by libdw; first: %s' % (
                target, variant, len(rows), len(other), differing[:1]))
    return problems, '%d lines' % lines


RESTORER = re.compile(r'\?|<signal handler called>|_*(kernel_|default_|restore|rt_sig|rt_sa|sa_restore)')
# Functions of the C library between a signal handler and the interrupted function.
INSIDE_LIBRARY = {'spin': 3, 'by_kill': 3, 'by_sleep': 6, 'by_memory': 2}
HANDLED = ('O2', 'static', 'musl', 'musl-static', 'm32')
BUILDS = [('handled', variant) for variant in HANDLED]


def handled(variant, way):
    """A signal handler's stack continues with the interrupted function, also in a C library without unwind tables
    (musl), where it is found in the code."""
    def run(room):
        os.makedirs(room.path('traces'))
        done = room.run(kinds.functrace(room.path('traces'), '-r') + [builds.target('handled', variant), way.replace('by_', '')])
        traces, problems = kinds.read_traces(room.path('traces'), 1)
        stacks = [[(name or '?').split('(')[0] for _, name in e.frames] for t in traces for e in t.events if e.size == 36301]
        wrong = [names for names in stacks if names[:1] != ['tick'] or not RESTORER.match((names + ['-', '-'])[1]) or
                 way not in names[2:3 + INSIDE_LIBRARY[way]] or names[names.index(way):][1:3] != ['busy', 'main']]
        if wrong or len(stacks) < 20 or done.status:
            problems.append('status %d, %d stacks, %d wrong: %s' % (done.status, len(stacks), len(wrong), wrong[:1]))
        return problems, '%d stacks' % len(stacks)
    return run


CHAIN = ['leaf', 'middle', 'varied', 'outer'] + 5 * ['again'] + ['main']


def untabled(variant, shown):
    """If code has no unwind tables, each frame that is shown is right, and at least `shown` frames are."""
    def run(room):
        os.makedirs(room.path('traces'))
        done = room.run(kinds.functrace(room.path('traces'), '-r') + [builds.target('untabled', variant)])
        traces, problems = kinds.read_traces(room.path('traces'), 1)
        stacks = [([(name or '?').split('(')[0] for _, name in e.frames], e.end) for t in traces for e in t.events if e.size == 36401]
        if len(stacks) != 1 or done.status:
            return problems + ['status %d, %d stacks' % (done.status, len(stacks))], ''
        names, end = stacks[0]
        length = min(len(names), len(CHAIN))
        if names[:length] != CHAIN[:length] or length < shown or (length < len(CHAIN) and end != 'lost'):
            problems.append('the frames are %s, %s' % (names, end))
        return problems, '%d of %d frames' % (length, len(CHAIN))
    return run


def callers_of_library(variant):
    """A block that the C library allocates for its caller has the caller in its stack."""
    def run(room):
        os.makedirs(room.path('traces'))
        done = room.run(kinds.functrace(room.path('traces'), '-r') + [builds.target('untabled', variant)])
        traces, problems = kinds.read_traces(room.path('traces'), 1)
        for caller in ('by_strdup', 'by_asprintf', 'by_getdelim'):
            stacks = [[(name or '?').split('(')[0] for _, name in e.frames] for t in traces for e in t.events if e.frames]
            found = [names for names in stacks if caller in names and names[names.index(caller) + 1:][:1] == ['main']]
            if not found or done.status:
                problems.append('%s has no stack of its own: %s' % (caller, stacks))
        return problems, ''
    return run


CASES = [
    ('32-bit programs, by functrace\'s own unwinder and by libdw', same_frames),
    ('stacks of 200 frames, truncated by -b 16', cut(16, 32)),
    ('stacks of 200 frames, truncated by -b 130', cut(130, 256)),
    ('stacks of 200 frames, complete with -b 255', cut(255, None)),
    ('stacks are truncated in several processes', cut_in_children),
    ('an allocator function without a symbol', hidden_entry),
] + [('a signal handler in %s [%s]' % (way.replace('by_', ''), variant), handled(variant, way)) for way in INSIDE_LIBRARY
     for variant in HANDLED]
CASES += [('code without unwind tables [%s]' % variant, untabled(variant, shown)) for variant, shown in (
    ('untabled-O0', len(CHAIN)), ('untabled', 1), ('untabled-noframe', 1), ('untabled-clang', 1), ('m32-untabled', len(CHAIN)),
    ('m32-untabled-noframe', 1))]
CASES += [('callers of the C library [%s]' % variant, callers_of_library(variant)) for variant in ('O2', 'O0', 'thumb', 'arm')]
