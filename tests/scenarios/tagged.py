"""Tests memory tagging (AArch64's MTE, glibc.mem.tagging): pointers have tags, blocks have other sizes, and a process
that accesses the wrong memory is killed at once."""

import os
import random
import signal
import subprocess
import sys

import baseline_blocks
import builds
import damaged
import lost
import scans
from lifecycle import need_attach
from processes import FUNCTRACE, PATIENCE, text_differences, text_of, wait_for
from scans import Target, compare, wide

BUILDS = [('heapmodes', 'O2')] + baseline_blocks.BUILDS + damaged.BUILDS + lost.BUILDS + scans.BUILDS
MODES = 'one', 'threads', 'exited', 'mapped', 'aligned', 'fragments', 'sbrk', 'spread', 'fork'


def tagged(function, *arguments, env=builds.TAGS, **more):
    """Returns a scenario whose programs have tagged blocks."""
    def run(room):
        builds.need_tags()
        return function(room, *arguments, env=env, **more)
    return run


def own(folder, pid):
    """Returns (figures, {address: size}) of the preloaded logger in the process."""
    path = os.path.join(folder, str(pid))
    if os.path.exists(path):
        os.unlink(path)
    os.kill(pid, signal.SIGUSR1)
    wait_for('the logger', lambda: os.path.exists(path))
    with open(path) as file:
        lines = file.read().split('\n')
    return lines[0], {scans.untagged(int(address, 16)): int(size) for address, size in (line.split() for line in lines[1:-2])}


def seen(room, pid):
    """Scans the process; returns (problems, figures, {address: size})."""
    done = room.run([os.path.join(builds.TOP_BUILDDIR, 'tests', 'unit', 'heap_list'), str(pid)])
    lines = done.out.decode().split('\n')
    if done.status:
        return [lines[0] + done.err.decode()], None, {}
    return [], lines[0], {int(address, 16): int(size) for address, size, _ in (line.split() for line in lines[1:-1])}


def as_logged(room, modes, env):
    """Every block with its size, and the figures, must be those of the preloaded logger, in each state that the target
    can make."""
    problems, count, seed = [], 0, random.randrange(100000)
    for mode in modes:
        folder = room.path(mode)
        os.mkdir(folder)
        child = room.start([builds.target('heapmodes', 'O2'), mode, str(seed)],
                           dict(env, HEAPLOG=folder, LD_PRELOAD=builds.library('heaplog')), stdin=subprocess.PIPE)
        words = child.stdout.readline().split()
        if len(words) != 2:
            problems.append('%s %d: the target does not run' % (mode, seed))
            continue
        pid = int(words[1])
        text = text_of(pid)
        for _ in range(5):
            before, (more, figures, found), behind = own(folder, pid), seen(room, pid), own(folder, pid)
            if before == behind:
                break
        if not more:
            blocks = before[1]
            count += len(blocks)
            if figures != before[0]:
                more.append('the figures are %s, and not %s' % (figures, before[0]))
            more += baseline_blocks.differing('blocks', found, blocks)
            odd = [at for at in blocks.keys() & found.keys() if blocks[at] != found[at]]
            more += ['%d have another size: %s' % (len(odd), [(hex(at), blocks[at], found[at]) for at in odd[:5]])] if odd else []
        more += text_differences(text, text_of(pid))
        _, err = child.communicate(b'', timeout=60 * PATIENCE)
        more += ['the process ended with status %d: %s' % (child.returncode, err.decode())] if child.returncode else []
        problems += ['%s %d: %s' % (mode, seed, problem) for problem in more]
    return problems, '%d blocks' % count


def core(room, env):
    """The kernel's core file contains the tags of memory."""
    with Target(room, 'planted', 'O2', 2, 100, 2, env=env) as target:
        problems, live = target.look()
        path = scans.kernel_core(room, target)
    more, found = scans.of_core(room, path)
    problems += more or compare(found, definitely_lost=(100 * wide(56, env=env), 100), indirectly_lost=(200 * wide(40, env=env), 200))
    return problems + (scans.same(live, found) if not problems else []), ''


def scanning(room, env):
    """functrace itself uses tagged memory, and scans a program without tags."""
    need_attach()
    with Target(room, 'planted', 'O2', 2, 100, 2) as target:
        done = room.run([FUNCTRACE, '--scan', '-t', str(target.pid)], env)
        problems = [] if done.status == 0 and b'definitely lost: 5,600 bytes in 100 blocks' in done.out else \
            ['status %d: %s%s' % (done.status, done.out.decode(), done.err.decode())]
        problems += target.end()
    return problems, ''


def strings(room, env):
    """Data at tagged pointers is read like other data: names are shown, and the FILE that a call returns is the one
    that is closed."""
    path = room.path('trace')
    program = "import os; os.close(os.open('/etc/passwd', 0)); os.popen('true').close()"
    done = room.run([FUNCTRACE, '-F', '-e', 'file', '-a', '-f', 'text', '-o', path, sys.executable, '-S', '-c', program],
                    dict(env, PYTHONMALLOC='malloc'))
    with open(path) as trace:
        text = trace.read()
    problems = ['status %d: %s' % (done.status, done.err.decode())] if done.status or b'not seen' in done.err else []
    return problems + ([] if 'pathname="/etc/passwd"' in text else ['the name is not there: ' + text[-500:]]), ''


CASES = [
    ('--scan: planted blocks, memory tagging', tagged(scans.planted)),
    ('--scan: planted blocks, memory tagging, faults later', tagged(scans.planted, env=builds.TAGS_LATER)),
    ('--scan: planted blocks, memory tagging, static', tagged(scans.planted, 'static', scans=2)),
    ('--scan: blocks that lost blocks point to, memory tagging', tagged(scans.led)),
    ('--scan: sizes and alignments, memory tagging', tagged(scans.sizes, 'O2')),
    ('--scan: 8 busy threads, memory tagging', tagged(scans.busy, 8, 5)),
    ('--scan: one busy thread, memory tagging', tagged(scans.busy, 0, 5)),
    ('--scan: blocks as a preloaded logger has them, memory tagging', tagged(as_logged, MODES)),
    ('--scan: memory that looks like mmapped chunks, memory tagging', tagged(damaged.lookalikes)),
    ("--scan: the kernel's core file, memory tagging", tagged(core)),
    ('--scan: by functrace with memory tagging', tagged(scanning)),
    ('arguments at tagged pointers, memory tagging', tagged(strings)),
    ('baseline: blocks from before the attach, memory tagging', tagged(baseline_blocks.older)),
    ('baseline: blocks from before the attach, memory tagging, faults later',
     tagged(baseline_blocks.older, env=builds.TAGS_LATER)),
    ('baseline: blocks from before the attach, memory tagging, static', tagged(baseline_blocks.older, 'static')),
    ('baseline: blocks from before the attach, memory tagging, a fork', tagged(baseline_blocks.older, fork=1)),
    ('baseline: blocks from before the attach, memory tagging, 8 busy threads',
     tagged(baseline_blocks.older, threads=8, runs=2)),
    ('lost at the end: memory tagging', tagged(lost.planted, lost=500)),
    ('lost at the end: memory tagging, faults later', tagged(lost.planted, lost=100, env=builds.TAGS_LATER)),
    ('lost at the end: memory tagging, static', tagged(lost.planted, 'static', lost=300)),
    ('lost at the end: memory tagging, the report', tagged(lost.report)),
    ('lost at the end: memory tagging, figures of the allocator', tagged(lost.figures, (('O2', 4), ('static', 1)))),
]
