"""Tests several kinds of resource in one run, and popular programs: the programs are unharmed, and functrace reports no
errors in them."""

import glob
import os
import re
import sys

import builds
import kinds
from processes import FUNCTRACE, POSTPROC, wait_for
from resources import calls_of
from several import described, judge, judged

PYTHON = '''
import threading
for _ in range(10):
    threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print("done")
'''


def several(room):
    """The summary and functrace-postproc's leaks have a noun for each kind."""
    done = room.run([FUNCTRACE, '-e', 'memory,file,thread,shmsysv,shmposix', '-o', room.path('trace'),
                     builds.target('kind_several', 'O2')])
    said = done.err.decode(errors='replace')
    words = (r'; 2 threads never joined; ', r'; 2 descriptors are live beside \d+ descriptors from before the trace; ',
             r'; 1 file mapping with 8,192 bytes is live; ', r'; 1 attached segment with 30,004 bytes is live; ',
             r'; 1 shared memory segment with 30,004 bytes not removed, or still attached; ')
    problems = [] if done.status == 0 else ['status %d' % done.status]
    problems += ['functrace does not say: ' + word for word in words if not re.search(word, said)]
    text = room.run([POSTPROC, '-l', room.path('trace')]).out.decode(errors='replace')
    leaks = (r'# 2 thread\(s\) never joined', r'# 1 file mapping\(s\) leaked with total size of 8192 bytes',
             r'# 1 attached segment\(s\) leaked with total size of 30004 bytes', r'malloc<memory>\(30001\) = ',
             r'<2> : fd ', r'<\w+> : pthread_t ', r'<\w+> : segment .*\[refcount\]', r'<\w+> : fshmmap ')
    problems += ['functrace-postproc does not say: ' + word for word in leaks if not re.search(word, text)]
    return problems + ([said, text[-1500:]] if problems else []), ''


def python_threads(room):
    """Every thread that python creates is joined or detached, in this order; it creates 80."""
    problems, remark = judged(room, [sys.executable, '-I', '-c', PYTHON], None, 160, ['-e', 'thread'])
    live, made = set(), 0
    for path in glob.glob(room.path('traces', '*')):
        for call in calls_of(path)[0]:
            ident = call.split('0x')[1].rstrip(')')
            if '= 0x' in call:
                made += 1
                live.add(ident)
            elif ident not in live:
                problems.append('%s has the id of no thread' % call)
            else:
                live.remove(ident)
    if made < 80 or live:
        problems.append('%d threads were created, %d of them are live at the end' % (made, len(live)))
    return problems, remark


def redis(room):
    program, client = kinds.need('redis-server'), kinds.need('redis-cli')
    path = room.path('socket')
    command = [program, '--port', '0', '--unixsocket', path, '--save', '', '--dir', room.folder, '--logfile', room.path('redis.log')]
    os.makedirs(room.path('traces'))
    child = room.start(kinds.functrace(room.path('traces'), '-e', 'memory,thread,shmposix') + command)
    ask = [client, '-s', path]
    wait_for('the server', lambda: room.run(ask + ['ping']).out == b'PONG\n', 60)
    problems = []
    for n in range(20):
        room.run(ask + ['set', 'k%d' % n, 'v' * 1000 * n])
    if room.run(ask + ['strlen', 'k19']).out != b'19000\n':
        problems.append('the server has lost the stored values')
    room.run(ask + ['shutdown', 'nosave'])
    done = room.finish(child)
    done.err = b'\n'.join(line for line in done.err.split(b'\n') if line.startswith(b'functrace: '))
    more, traces = judge(room, type(done)(0, done.out, b''), done)
    if not re.search(rb'threads? never joined', done.err):
        problems.append('the server\'s threads are not reported as live')
    return problems + more, described(traces)


def gio(room):
    """A program of GLib is traced: the trace has the types of its objects."""
    with open(room.path('file'), 'w') as file:
        file.write('x\n')
    problems, remark = judged(room, [kinds.need('gio'), 'info', '-a', 'standard::type,standard::size', room.path('file')], None, 4,
                              ['-e', 'gobject,thread'])
    calls = [call for path in glob.glob(room.path('traces', '*')) for call in calls_of(path)[0] if '<gobject>' in call]
    if not any('type=GLocalFile' in call for call in calls):
        problems.append('no GLocalFile in the trace: ' + '; '.join(calls[:10]))
    problems += ['a size of 0: ' + call for call in calls if '(0) = ' in call][:3]
    return problems, remark


FORKS = '''
import ctypes, os
c = ctypes.CDLL(None)
word, number = ctypes.c_void_p, ctypes.c_int
c.shmget.argtypes, c.shmat.argtypes, c.shmat.restype, c.shmdt.argtypes = [number, ctypes.c_size_t, number], [number, word, number], word, [word]
c.mmap.argtypes, c.mmap.restype = [word, ctypes.c_size_t, number, number, number, ctypes.c_long], word
c.munmap.argtypes, c.shmctl.argtypes = [word, ctypes.c_size_t], [number, number, word]
segment = c.shmget(0, 5000, 0o600)
at = c.shmat(segment, None, 0)
c.shmctl(segment, 0, None)
mapping = c.mmap(None, 8 * 4096, 1, 0x22, -1, 0)
print(segment, at, mapping, flush=True)
child = os.fork()
if not child:
    c.shmdt(at)
    c.munmap(mapping + 4096, 4096)
    os._exit(0)
os.waitpid(child, 0)
print(child)
'''


def forked(room):
    """A fork's child inherits its parent's segments and mappings, with the blocks to be freed, and releases them
    itself."""
    os.makedirs(room.path('traces'))
    done = room.run([FUNCTRACE, '-e', 'shmsysv,shmposix', '-f', 'text', '-T', '-o', room.path('traces'), sys.executable, '-I', '-c',
                     FORKS])
    if done.status:
        return ['status %d: %s' % (done.status, done.err[-500:])], ''
    segment, at, mapping, child = (int(word) for word in done.out.split())
    wanted = ['shmdt<segment>(%#x)' % segment, 'shmdt<attachment>(%#x)' % at, 'munmap<shmmap>(%#x)' % mapping,
              'munmap<shmmap>(4096) = %#x' % mapping, 'munmap<shmmap>(24576) = %#x' % (mapping + 8192)]
    calls = [call for path in glob.glob(room.path('traces', '*%d*' % child)) for call in calls_of(path)[0]]
    missing = [call for call in wanted if call not in calls]
    return (['the child\'s trace lacks %s; it has %s' % (missing, calls)] if missing else []), '%d calls' % len(calls)


CASES = [('a fork inherits resources', forked), ('several kinds in one run', several), ('python3: each of its threads is joined or detached', python_threads),
         ('several kinds in one run: redis', redis), ('gio: its GLib objects have types', gio)]
BUILDS = (('kind_several', 'O2'),)
