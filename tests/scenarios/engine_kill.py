"""SIGKILL of the engine at any moment, while programs check their own state: a target may die only of SIGTRAP, which
cannot be prevented, and must never continue in the middle of an instruction."""

import os
import random
import signal
import subprocess
import time

import builds
import kinds
import processes
from lifecycle import engine_of, need_attach, running
from processes import Failure, status_field, wait_for

BUSY, CALM = 0, 100000  # microseconds between two rounds of calls


class Count:
    def __init__(self):
        self.lived = self.trapped = self.unknown = 0
        self.problems = []

    def __str__(self):
        said = 'of %d targets %d lived' % (self.lived + self.trapped + len(self.problems), self.lived)
        return said + (', of %d it was not known' % self.unknown if self.unknown else '')


def folder_with_events(folder):
    return any(os.path.getsize(os.path.join(folder, name)) > 0 for name in os.listdir(folder))


def is_traced(pid):
    return status_field(pid, 'TracerPid') not in ('', '0')


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def start_tracer(room, folder, words, **more):
    with open(folder + '.said', 'wb') as said:
        return room.start(kinds.functrace(folder) + words, stderr=said, **more)


def begin_launched(room, folder, command):
    tracer = start_tracer(room, folder, command, stdin=subprocess.PIPE)
    if tracer.stdout.readline() != b'ready\n':
        raise Failure('the target did not begin: %r' % read(folder + '.said'))
    target = wait_for('the target', lambda: [p for p in running(room, os.path.basename(command[0])) if is_traced(p)])[0]
    return tracer, tracer, target


def begin_attached(room, folder, command):
    child = room.start(command, stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise Failure('the target did not begin')
    tracer = start_tracer(room, folder, ['-t', str(child.pid)])
    wait_for('the tracer', lambda: is_traced(child.pid) and folder_with_events(folder))
    return tracer, child, child.pid


def judge(round_name, ended, said, count):
    """Compares what happened to the target with functrace's message."""
    lives, unknown = b'runs on, untraced' in said, b'it is not known whether it lives' in said
    count.unknown += unknown
    if ended.status == 0 and ended.out.endswith(b'sound\n'):
        count.lived += 1
        if not lives and not unknown:
            count.problems.append('%s: the target lived, functrace said %r' % (round_name, said))
    elif ended.status == -signal.SIGTRAP:
        count.trapped += 1
        if lives:
            count.problems.append('%s: the target died, functrace said %r' % (round_name, said))
    else:
        count.problems.append('%s: the target ended with status %d, %r; functrace said %r' % (
            round_name, ended.status, ended.out[-200:], said))
    if b'was killed by signal 9' not in said:
        count.problems.append('%s: functrace said %r' % (round_name, said))


def one_round(room, number, launched, command, count, chance):
    folder = room.path('round%d' % number)
    said_path = folder + '.said'
    os.makedirs(folder)
    begin = begin_launched if launched else begin_attached
    tracer, child, target = begin(room, folder, command)
    time.sleep(0.02 + chance.random() * 0.05)
    os.kill(engine_of(room, target), signal.SIGKILL)
    # A process that ends by itself meanwhile would be reported as ended. If threads wait for a processor, the message
    # takes up to 10 s.
    words = (b'runs on', b'SIGTRAP:', b'has ended', b'had to be killed', b'not known whether it lives')
    wait_for('what functrace says', lambda: any(word in read(said_path) for word in words), 60)
    time.sleep(0.05)  # time for a damaged target to fail
    ended = room.finish(child, data=b'')
    if tracer is not child:
        room.finish(tracer)
    judge('round %d' % (number + 1), ended, read(said_path), count)
    for done in {tracer, child}:
        room.children.remove(done)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))


def rounds(room, count_of, launched, threads, period, *mode, variant='O2'):
    if not launched:
        need_attach()
    count, chance = Count(), random.Random(threads)
    command = [builds.target('sound', variant), str(threads), str(period)] + list(mode)
    for number in range(count_of):
        one_round(room, number, launched, command, count, chance)
    return count


def case(launched, threads, period, *mode, variant='O2'):
    def run(room):
        if builds.processor() not in builds.PROCESSORS.get(variant, (builds.processor(),)):
            raise builds.Skip('its programs are not this processor\'s')
        count = rounds(room, processes.rounds(24), launched, threads, period, *mode, variant=variant)
        return count.problems[:5], str(count)
    name = 'SIGKILL to the engine, %d thread%s%s%s, %s' % (
        threads, '' if threads == 1 else 's', ' always busy' if period == BUSY else ' calling now and then', ''.join(', ' + m for m in mode),
        'launched' if launched else 'attached') + (', 32 bits' if builds.is_32_bit(variant) else '')
    return name, run


def let_go_of(mode):
    """Nothing is killed here: functrace traces a target for a while and detaches, again and again; the target's threads
    stay unharmed."""
    def run(room):
        need_attach()
        child = room.start([builds.target('sound', 'O2'), '4', str(BUSY), mode], stdin=subprocess.PIPE)
        child.stdout.readline()
        for number in range(processes.rounds(24)):
            folder = room.path('round%d' % number)
            os.makedirs(folder)
            tracer = start_tracer(room, folder, ['-q', '-t', str(child.pid)])
            wait_for('events', lambda: is_traced(child.pid) and folder_with_events(folder))
            time.sleep(0.5)
            tracer.send_signal(signal.SIGINT)
            room.finish(tracer)
        ended = room.finish(child, data=b'')
        if ended.status or not ended.out.endswith(b'sound\n'):
            return ['the target ended with status %d, %r' % (ended.status, ended.out[-200:])], ''
        return [], '%d rounds' % processes.rounds(24)
    return 'detached from again and again, 4 threads always busy, %s' % mode, run


CASES = [let_go_of('trap-ignored'), let_go_of('trap-handled')]
CASES += [case(launched, threads, period) for launched in (True, False) for threads in (1, 8, 64)
         for period in (BUSY, CALM)]
CASES += [case(False, 1, BUSY, 'signals'), case(False, 4, BUSY, 'signals'), case(False, 2, BUSY, 'trap-ignored'),
          case(False, 2, BUSY, 'trap-handled')]
CASES += [case(False, 4, BUSY, *mode, variant='m32') for mode in ((), ('signals',), ('trap-ignored',), ('trap-handled',))]
