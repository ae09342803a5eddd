"""Tests 64-bit and 32-bit programs in one run: a program executes or starts one of the other kind, or functrace
attaches to both."""

import collections
import glob
import os
import select
import shutil

import builds
import kinds
import oracle
from lifecycle import Held, need_attach
from processes import Tracer, may_attach, wait_for

# A script for a shell, which starts three programs one after the other and executes the fourth one itself.
SCRIPT = '"$0" 2 5; "$1" 3 5; (exec "$0" 3 6); exec "$0" 4 5'


def archs(folder):
    """Returns {processor: the number of traces of its programs}."""
    count = collections.Counter()
    for path in glob.glob(os.path.join(folder, '*')):
        with open(path, errors='replace') as file:
            for part in file.readline().split(','):
                if part.startswith('arch='):
                    count[part[5:]] += 1
    return dict(count)


def judge(room, plain, done, expected):
    problems = kinds.compare_runs(plain, done)
    traces, more = kinds.read_traces(room.path('traces'), sum(expected.values()))
    problems += more + oracle.Oracle(plain.out).check(traces)
    found = archs(room.path('traces'))
    if found != expected:
        problems.append('traces of %s, expected %s' % (found, expected))
    if problems:
        problems.append('functrace said: ' + done.err.decode(errors='replace')[-1000:])
    return problems, '%d traces' % len(traces)


NARROW = {'x86_64': 'm32', 'aarch64': 'arm32'}  # machine: the variant for 32 bits
# machine: the processors in 64-bit and 32-bit traces
PROCESSORS = {'x86_64': ('x86_64', 'i386'), 'aarch64': ('aarch64', 'armv7l')}


def traces_of(wide, narrow):
    """Returns the expected result of archs() when programs of both kinds have run."""
    return dict(zip(PROCESSORS.get(os.uname().machine, ()), (wide, narrow)))


def both(name):
    """Returns the paths of the 32-bit and the 64-bit build of a target."""
    if os.uname().machine not in NARROW or builds.processor() != os.uname().machine:
        raise builds.Skip('no programs of both kinds here')
    return builds.target(name, NARROW[os.uname().machine]), builds.target(name, 'O2')


def chain(first, second, expected, *, how=()):
    """A program executes another one, which executes the first."""
    def run(room):
        programs = dict(zip(('narrow', 'wide'), both('execs')))
        command = [programs[first], *how, programs[second], programs[first]]
        plain = room.run(command)
        os.makedirs(room.path('traces'))
        return judge(room, plain, room.run(kinds.functrace(room.path('traces'), '-r') + command), expected)
    return run


def need_sh():
    if kinds.is_busybox('/bin/sh'):
        raise builds.Skip('/bin/sh is busybox, which is stripped and exports nothing')


def shell(room):
    need_sh()
    narrow, wide = both('threads')
    command = ['/bin/sh', '-c', SCRIPT, narrow, wide]
    plain = room.run(command)
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces'), '-r') + command)
    # the shell, its subshell (its other children call no traced function before they exec), and the programs
    return judge(room, plain, done, traces_of(3, 3))


def not_followed(room):
    """Without --children, child processes run untraced, whatever they execute. A program that the launched program
    itself executes is traced."""
    need_sh()
    narrow, wide = both('threads')
    alone = room.run([narrow, '4', '5'])
    command = ['/bin/sh', '-c', SCRIPT, narrow, wide]
    plain = room.run(command)
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces'), '-r', '-F') + command)
    problems = kinds.compare_runs(plain, done)
    done.out = alone.out
    more, remark = judge(room, alone, done, traces_of(1, 1))
    return problems + more, remark


def attached(room, child):
    """functrace attaches to a shell that waits for a child of the other kind, and to the child."""
    need_attach()
    with Held(room, [kinds.shell(), '-c', '"$0" 2 5; exit $?', child]) as held:
        tracer = Tracer(room, held.child.pid, ['-r', '--children'])
        tracer.planted()
        said, stream = [], tracer.child.stderr.fileno()

        def is_attached():
            while select.select([stream], [], [], 0)[0] and (not said or said[-1]):
                said.append(os.read(stream, 65536))
            return b'Ctrl-C detaches' in b''.join(said) or tracer.child.poll() is not None
        # planted() looks at the shell only. This message comes when the child has its breakpoints, too.
        wait_for('functrace to be attached to both', is_attached)
        done, problems = held.work_and_end(tracer)
    traces, more = kinds.read_traces(room.path('traces'), 2)
    return problems + more + oracle.Oracle(done.out).check(traces), '%s' % archs(room.path('traces'))


def without_a_library(room):
    """A program without any traced function is launched alone, and is executed by another program."""
    builds.need_32_bit()
    path = builds.tiny32()
    command = [builds.target('execs', 'O2'), path]
    plain = room.run(command)
    os.makedirs(room.path('traces'))
    problems, remark = judge(room, plain, room.run(kinds.functrace(room.path('traces')) + command), traces_of(1, 1))
    alone = room.run(kinds.functrace(room.path('traces')) + [path])
    if (alone.status, alone.out) != (6, b'32 bits\n'):
        problems.append('launched: status %d, %r' % (alone.status, (alone.out + alone.err)[-300:]))
    return problems, remark


def of_another_processor(room):
    """A program for a processor that the kernel supports and functrace does not, executed after threads, forks and
    execs of known programs: functrace detaches from it each time with a message, and it runs on unharmed. i386's kernel
    runs EM_486, too."""
    program = room.path('threads')
    shutil.copy(both('threads')[0], program)
    with open(program, 'r+b') as file:
        file.seek(18)
        file.write(bytes([6]))
    try:
        is_run = room.run([program, '2', '5']).status == 0
    except OSError:
        is_run = False
    if not is_run:
        raise builds.Skip('this kernel runs no program that functrace cannot trace')
    words = b'is not traced: its program is made for a processor that this functrace does not know'
    script = '"$0" 2 5; "$0" 3 5 | tail -n 1; exec "$0" 4 5'
    problems = []
    for command, count in (([builds.target('execs', 'O2'), program, '4'], 1),
                           (['/bin/sh', '-c', script, program], 3), ([program, '4', '5'], 1)):
        plain = room.run(command)
        folder = room.path('traces-' + os.path.basename(command[0]))
        os.makedirs(folder)
        done = room.run(kinds.functrace(folder) + command)
        problems += kinds.compare_runs(plain, done) + kinds.read_traces(folder)[1]
        if done.err.count(words) != count:
            problems.append('no %d messages that the program is not traced: %r' % (count, done.err[-600:]))
    if not may_attach():
        with Held(room, [program, '2', '5']) as held:
            os.makedirs(room.path('attached'))
            done = room.run(kinds.functrace(room.path('attached'), '-t', str(held.child.pid)))
            if done.status != 1 or b'made for a processor' not in done.err:
                problems.append('attached: status %d, %r' % (done.status, done.err[-300:]))
            held.gate.open()
            held.gate.arrived(held.child)
            held.gate.open()
            done = room.finish(held.child)
            if done.status:
                problems.append('the target ended with status %d' % done.status)
    return problems, ''


BUILDS = [(target, variant) for target in ('execs', 'threads') for variant in ('O2',) + tuple(NARROW.values())]
CASES = [
    ('exec from 64 to 32 bits and back', chain('wide', 'narrow', traces_of(3, 1))),
    ('exec from 32 to 64 bits and back', chain('narrow', 'wide', traces_of(1, 3))),
    ('exec by a thread, from 64 to 32 bits and back', chain('wide', 'narrow', traces_of(3, 1), how=('thread',))),
    ('exec by a thread, from 32 to 64 bits and back', chain('narrow', 'wide', traces_of(1, 3), how=('thread',))),
    ('a shell that starts both', shell),
    ('a shell that starts both, not followed', not_followed),
    ('attached to a shell with a 32-bit child', lambda room: attached(room, both('threads')[0])),
    ('a 32-bit program without a library', without_a_library),
    ('programs for a processor that functrace does not support', of_another_processor),
]
