"""Files that a target, or somebody else, can put in functrace's way: what debug information names, and names that
functrace makes itself."""

import os
import shutil

import builds
import kinds
from outputs import equal
from processes import FUNCTRACE, POSTPROC, Failure
from words import compiled, has_line, said

PROGRAM = '''
#include <stdlib.h>
#include <stdio.h>
__attribute__((noinline)) static void *make(int size) { return malloc(size); }
int main(void)
{
	for (int i = 0; i < 5; i++)
		free(make(31000 + i));
	puts("done");
	return 0;
}
'''


def debug_file(room):
    """A stripped program whose debug file is a fifo."""
    kinds.need('objcopy')
    program, debug = compiled(room, 'prog', PROGRAM), room.path('prog.debug')
    for command in (['objcopy', '--only-keep-debug', program, debug], ['objcopy', '--strip-debug', program],
                    ['objcopy', '--add-gnu-debuglink=' + debug, program]):
        made = room.run(command)
        if made.status:
            raise Failure(made.err.decode())
    os.unlink(debug)
    os.mkfifo(debug)
    return program


def split_file(room):
    """A program whose .dwo file is a fifo."""
    program = compiled(room, 'prog', PROGRAM, '-gsplit-dwarf')
    for name in os.listdir(room.folder):
        if name.endswith('.dwo'):
            os.unlink(room.path(name))
            os.mkfifo(room.path(name))
    return program


def fifos(make):
    def run(room):
        program, problems = make(room), []
        for options in (['-r'], ['-a'], ['-x', 'make', '-a', '-r'], ['--report']):
            done = room.run([FUNCTRACE, '-f', 'text', '-o', room.path('trace'), *options, program], timeout=60)
            problems += equal('%s: status' % options, done.status, 0)
            problems += equal('%s: output' % options, done.out.startswith(b'done\n'), True)
        with open(room.path('trace'), encoding='utf-8') as file:
            problems += equal('31000 is there', '31000' in file.read(), True)
        done = room.run([POSTPROC, '-r', '-f', 'text', room.path('trace')], timeout=60)
        return problems + equal('functrace-postproc -r: status', done.status, 0), ''
    return run


def beside_the_trace(room):
    """A map and a source that are fifos, of a trace that is read."""
    program = compiled(room, 'prog', PROGRAM)
    done = room.run([FUNCTRACE, '-q', '-f', 'text', '-r', '-o', room.path('trace'), program])
    problems = equal('status', done.status, 0)
    os.mkfifo(room.path('trace.map'))
    os.unlink(room.path('prog.c'))
    os.mkfifo(room.path('prog.c'))
    for options in (['-f', 'text'], ['--report'], ['--html', room.path('page.html')]):
        done = room.run([POSTPROC, *options, room.path('trace')], timeout=60)
        problems += equal('%s: status' % options, done.status, 0)
    return problems, ''


def modules(room):
    """-e FILE.so of a file that is cut, and of a fifo."""
    with open(room.path('m.c'), 'w') as file:
        file.write('int figures[100000] = {1};\n')
    made = room.run(builds.compiler() + ['-shared', '-fPIC', '-o', room.path('whole.so'), room.path('m.c')])
    if made.status:
        raise Failure(made.err.decode())
    shutil.copy(room.path('whole.so'), room.path('cut.so'))
    os.truncate(room.path('cut.so'), 20000)
    os.mkfifo(room.path('fifo.so'))
    problems = []
    for name, words in (('cut.so', 'it is cut: its header says that it is longer. Build or copy it again'),
                        ('fifo.so', 'it is no regular file')):
        done = room.run([FUNCTRACE, '-e', './' + name, 'true'], timeout=60)
        problems += equal(name, done.status, 2)
        problems += has_line(done, r'functrace: -e \./%s: cannot be loaded: %s' % (name.replace('.', r'\.'), words))
    return problems, ''


def links(room):
    """What a link leads to stays as it is; what functrace names itself takes the next name."""
    victim = room.path('victim')
    with open(victim, 'w') as file:
        file.write('secret\n')
    os.symlink(victim, room.path('trace.maps'))
    script = 'ln -s %s %s.$$.1; exec true' % (victim, room.path('trace'))
    done = room.run([FUNCTRACE, '-q', '--attach-file=maps', '-o', room.path('trace'), 'sh', '-c', script])
    problems = equal('status', done.status, 0)
    with open(victim) as file:
        problems += equal('what the link leads to', file.read(), 'secret\n')
    problems += equal('the attachment', os.path.exists(room.path('trace.maps.1')), True)
    numbered = [name for name in os.listdir(room.folder) if name.startswith('trace.') and name.endswith('.2')]
    return problems + equal('the next trace', len(numbered), 1), said(done)


def given_link(room):
    """-o FILE may be a link of the user's."""
    os.symlink(room.path('there'), room.path('trace'))
    done = room.run([FUNCTRACE, '-q', '-o', room.path('trace'), 'true'])
    problems = equal('status', done.status, 0) + equal('the file', os.path.getsize(room.path('there')) > 0, True)
    if os.geteuid() == 0:
        os.lchown(room.path('trace'), 65534, 65534)
        os.truncate(room.path('there'), 0)
        done = room.run([FUNCTRACE, '-q', '-o', room.path('trace'), 'true'])
        problems += equal("another user's: size", os.path.getsize(room.path('there')), 0)
        problems += equal("another user's: said", "It is a link of another user's" in said(done), True)
    return problems, ''


CASES = [
    ('a debug file', fifos(debug_file)),
    ('a .dwo file', fifos(split_file)),
    ('a map and a source', beside_the_trace),
    ('modules', modules),
    ('links beside the trace', links),
    ('a link that was given', given_link),
]
