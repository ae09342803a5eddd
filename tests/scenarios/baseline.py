"""Attaching to programs at work: what is not an event, whom nothing is said against, and for how long a client waits."""

import re

import builds
from census import Seen, lines_of, trace_of
from lifecycle import Held, need_attach
from processes import Tracer

FROM_BEFORE = re.compile(rb'([\d,]+) releases? (?:by the C library )?of (?:a block|blocks) from before')
OTHER_FAMILY = re.compile(rb'(\d+) releases? by another family of functions')


def attached_to(room, target, variant, args, options=()):
    """(what functrace said, the trace, the target's output, problems)"""
    need_attach()
    with Held(room, [builds.target(target, variant), *args]) as held:
        tracer = Tracer(room, held.child.pid, ['-e', 'memory', *options])
        tracer.planted()
        done, problems = held.work_and_end(tracer)
    if done.status:
        problems.append('status %d: %s' % (done.status, done.err.decode()))
    return tracer.err, trace_of(room, held.child.pid), done.out, problems


def threads_that_end(room, variant='O2', threads=4):
    """What the C library releases of its own when threads end is no event; what the program has kept is."""
    err, trace, out, problems = attached_to(room, 'cachedends', variant, [str(threads)])
    seen, old = Seen(trace), lines_of(out, 'old')
    if len(old) != 3 * threads:
        problems.append('the target has kept %d' % len(old))
    if seen.unknown or FROM_BEFORE.search(err):
        problems.append('%d releases of what nobody had: %s' % (len(seen.unknown), err.decode()))
    missing = [hex(block) for block in old if block not in seen.before]
    left = [hex(block) for block in old if block in seen.live]
    if missing or left:
        problems.append('of what was kept %s is not known, %s not released' % (missing, left))
    return problems, ''


def threads_that_end_unknown(room, threads=4):
    """Without a baseline both are said, each for what it is."""
    err, trace, out, problems = attached_to(room, 'cachedends', 'O2', [str(threads)], ['--no-census'])
    said = dict((b'C library' in match.group(0), int(match.group(1).replace(b',', b''))) for match in FROM_BEFORE.finditer(err))
    own = len(Seen(trace).unknown) - 3 * threads
    if said != {False: 3 * threads, True: own} or own < 60 * threads:
        problems.append('%s of %d: %s' % (said, own, err.decode()))
    return problems, ''


def inside_new(room, variant='O2', helper=0, options=()):
    """A call that is met inside operator new is nobody's malloc; one by malloc is still told from it."""
    err, trace, _, problems = attached_to(room, 'insidenew', variant, [str(helper)], options)
    notes = re.findall(r'mismatch: .*', trace)
    said = OTHER_FAMILY.search(err)
    if len(notes) != 1 or not said or said.group(1) != b'1':
        problems.append('%s: %s' % (notes, err.decode()))
    return problems, ''


CASES = [
    ('baseline: threads that end', threads_that_end),
    ('baseline: threads that end, static', lambda room: threads_that_end(room, 'static')),
    ('baseline: threads that end, musl', lambda room: threads_that_end(room, 'musl')),
    ('baseline: threads that end, left out', threads_that_end_unknown),
    ('baseline: inside operator new', inside_new),
    ('baseline: inside operator new, by a helper', lambda room: inside_new(room, helper=1)),
    ('baseline: inside operator new, without stacks', lambda room: inside_new(room, helper=1, options=['-b', '0'])),
]
