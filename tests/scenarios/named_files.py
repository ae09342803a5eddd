"""Tests files by which a target or another user may mislead functrace: files at the places of named_places.py, and
files with names that functrace chooses."""

import os
import shutil

import builds
import named_places
from outputs import equal
from processes import FUNCTRACE, POSTPROC, Failure
from words import has_line, said

PROGRAM = '#include <stdlib.h>\nint main(void) { void *volatile p = malloc(31000); free(p); return 0; }\n'


def of_the_folder(room):
    """Unwind tables are not searched for in a folder of debug files where functrace is started."""
    bare = ['-fno-asynchronous-unwind-tables', '-fno-unwind-tables', '-fomit-frame-pointer', '-O2']
    with open(room.path('bare.c'), 'w') as file:
        file.write(PROGRAM)
    made = room.run(builds.compiler() + bare + ['-o', room.path('bare'), room.path('bare.c')])
    if made.status:
        raise Failure(made.err.decode())
    os.mkdir(room.path('.debug'))
    done = room.run(['sh', '-c', 'cd "$0" && exec "$@"', room.folder, FUNCTRACE, '-o', 'trace', './bare'])
    return equal('status', done.status, 0) + equal('said', b'is not read' in done.err, False), ''


def modules(room):
    """-e FILE.so is given a truncated file, and a fifo."""
    with open(room.path('m.c'), 'w') as file:
        file.write('int figures[100000] = {1};\n')
    made = room.run(builds.compiler() + ['-shared', '-fPIC', '-o', room.path('whole.so'), room.path('m.c')])
    if made.status:
        raise Failure(made.err.decode())
    shutil.copy(room.path('whole.so'), room.path('cut.so'))
    os.truncate(room.path('cut.so'), 20000)
    os.mkfifo(room.path('fifo.so'))
    problems = []
    for name, words in (('cut.so', 'it is truncated: its header says that it is longer. Build or copy it again'),
                        ('fifo.so', 'it is no regular file')):
        done = room.run([FUNCTRACE, '-e', './' + name, 'true'], timeout=60)
        problems += equal(name, done.status, 2)
        problems += has_line(done, r'functrace: -e \./%s: cannot be loaded: %s' % (name.replace('.', r'\.'), words))
    return problems, ''


def links(room):
    """functrace does not write through links under names that it chooses itself, but takes the next name."""
    victim = room.path('victim')
    with open(victim, 'w') as file:
        file.write('secret\n')
    os.symlink(victim, room.path('trace.maps'))
    script = 'ln -s %s %s.$$.1; exec true' % (victim, room.path('trace'))
    done = room.run([FUNCTRACE, '-q', '--copy-file=maps', '-o', room.path('trace'), 'sh', '-c', script])
    problems = equal('status', done.status, 0)
    with open(victim) as file:
        problems += equal('the file of the link', file.read(), 'secret\n')
    problems += equal('the attachment', os.path.exists(room.path('trace.maps.1')), True)
    numbered = [name for name in os.listdir(room.folder) if name.startswith('trace.') and name.endswith('.2')]
    return problems + equal('the next trace', len(numbered), 1), said(done)


def given_link(room):
    """-o FILE may be a link that the user made, but not one that another user made."""
    os.symlink(room.path('there'), room.path('trace'))
    done = room.run([FUNCTRACE, '-q', '-o', room.path('trace'), 'true'])
    problems = equal('status', done.status, 0) + equal('the file', os.path.getsize(room.path('there')) > 0, True)
    if os.geteuid() == 0:
        os.lchown(room.path('trace'), 65534, 65534)
        os.truncate(room.path('there'), 0)
        done = room.run([FUNCTRACE, '-q', '-o', room.path('trace'), 'true'])
        problems += equal("another user's link: size", os.path.getsize(room.path('there')), 0)
        problems += equal("another user's link: message", "A link in the path belongs to another user" in said(done), True)
    return problems, ''


def outputs_of_postproc(room):
    """functrace-postproc follows a link that the user made when it writes a named file, but not another user's."""
    done = room.run([FUNCTRACE, '-q', '-o', room.path('trace'), 'true'])
    problems = equal('status', done.status, 0)
    os.symlink(room.path('next'), room.path('link'))
    os.symlink(room.path('there'), room.path('next'))
    for owner in (0, 65534) if os.geteuid() == 0 else (None,):
        if owner is not None:
            os.lchown(room.path('next'), owner, owner)
        for options in (['-f', 'text', '-o'], ['--stats', '-o'], ['--html']):
            with open(room.path('there'), 'w') as file:
                file.write('<!doctype html>\nolder\n')
            done = room.run([POSTPROC, '-q'] + options + [room.path('link'), room.path('trace')])
            with open(room.path('there'), 'rb') as file:
                is_kept = file.read() == b'<!doctype html>\nolder\n'
            problems += equal('%s: kept' % options, is_kept, bool(owner))
            problems += equal('%s: said' % options, "A link in the path belongs to another user" in said(done), bool(owner))
            problems += equal('%s: fails' % options, done.status != 0, bool(owner))
    return problems, ''


CASES = list(named_places.some_cells()) + [
    ('a mapped library whose file is truncated', named_places.cut_in_place),
    ('debug files are not searched for in the current folder', of_the_folder),
    ('a truncated module, and a fifo as a module, are refused', modules),
    ('functrace does not write through links beside the trace', links),
    ('-o FILE is a link', given_link),
    ('functrace-postproc writes to a link', outputs_of_postproc),
]
