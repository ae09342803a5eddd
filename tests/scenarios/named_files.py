"""Files that a target, or somebody else, can put in functrace's way: what debug information names, and names that
functrace makes itself."""

import os
import re
import shutil
import socket
import stat
import subprocess

import builds
import kinds
from outputs import equal
from processes import FUNCTRACE, POSTPROC, Failure
from words import compiled, has_line, said

PROGRAM = '''
#include <stdlib.h>
#include <stdio.h>
__attribute__((noinline)) static void *make(int wanted) { return malloc(wanted); }
int main(void)
{
	for (int i = 0; i < 5; i++)
		free(make(31000 + i));
	puts("done");
	return 0;
}
'''


def run_all(room, *commands):
    for command in commands:
        made = room.run(command)
        if made.status:
            raise Failure(made.err.decode())


# Each place makes room.path('prog'), a program with debug information beside it, and gives the file that it is in, and the
# folder below which the program is to see that file.


def debug_file(room):
    kinds.need('objcopy')
    program, debug = compiled(room, 'prog', PROGRAM), room.path('prog.debug')
    run_all(room, ['objcopy', '--only-keep-debug', program, debug], ['objcopy', '--strip-debug', program],
            ['objcopy', '--add-gnu-debuglink=' + debug, program])
    return debug, None


def by_build_id(room):
    """Seen by functrace and the program alone: a folder of theirs lies over /usr/lib/debug."""
    kinds.need('readelf')
    if os.geteuid() or not os.path.isdir('/usr/lib/debug'):
        raise builds.Skip('only root can lay a folder over /usr/lib/debug')
    debug, _ = debug_file(room)
    run_all(room, ['objcopy', '--remove-section=.gnu_debuglink', room.path('prog')])
    found = re.search(rb'Build ID: (..)([0-9a-f]+)', room.run(['readelf', '-n', room.path('prog')]).out)
    if not found:
        raise builds.Skip('the compiler gives no build-id')
    path = room.path('folders/.build-id/%s/%s.debug' % (found[1].decode(), found[2].decode()))
    os.makedirs(os.path.dirname(path))
    shutil.move(debug, path)
    return path, room.path('folders')


def split_file(room):
    compiled(room, 'prog', PROGRAM, '-gsplit-dwarf')
    return [room.path(name) for name in os.listdir(room.folder) if name.endswith('.dwo')][0], None


def common_file(room):
    """dwz's, which two programs share, named relative to them."""
    kinds.need('dwz')
    compiled(room, 'prog', PROGRAM)
    compiled(room, 'other', PROGRAM.replace('31000', '32000'))
    made = subprocess.run(['dwz', '-m', 'common', 'prog', 'other'], cwd=room.folder, stderr=subprocess.PIPE)
    if made.returncode or not os.path.exists(room.path('common')):
        raise builds.Skip('dwz finds nothing that two programs share: %s' % made.stderr.decode())
    return room.path('common'), None


def a_socket(path):
    # Its name may be longer than an address of a socket.
    here = os.open(os.path.dirname(path), os.O_RDONLY)
    made = socket.socket(socket.AF_UNIX)
    made.bind('/proc/self/fd/%d/%s' % (here, os.path.basename(path)))
    made.close()
    os.close(here)


def a_device(path):
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        os.symlink('/dev/zero', path)


def cut_file(path, healthy):
    with open(path, 'wb') as file:
        file.write(healthy[:len(healthy) // 2])


def sparse_file(path, healthy):
    """The file, and zeros behind it, as far as the file system has them."""
    with open(path, 'wb') as file:
        file.write(healthy)
        try:
            file.truncate(1 << 40)
        except OSError:
            file.truncate(1 << 33)


# What is there in its place, and whether it tells what the file has told.
KINDS = {'as it was': (None, True), 'a fifo': (lambda path, _: os.mkfifo(path), False),
         'a socket': (lambda path, _: a_socket(path), False), 'a device': (lambda path, _: a_device(path), False),
         'a folder': (lambda path, _: os.mkdir(path), False), 'cut': (cut_file, False), '1 TiB': (sparse_file, True)}


def in_place(make):
    """The program runs, and is traced, whatever is there; its arguments are known where that is what it should be."""
    def run(room):
        path, folders = make(room)
        with open(path, 'rb') as file:
            healthy, problems = file.read(), []
        over = ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /usr/lib/debug && exec "$@"', folders] if folders else []
        for name, (replace, tells) in KINDS.items():
            if replace:
                os.unlink(path)
                replace(path, healthy)
            trace = room.path('trace')
            done = room.run([*over, FUNCTRACE, '-f', 'text', '-r', '-a', '-x', 'make', '-o', trace, room.path('prog')],
                            timeout=60)
            problems += equal('%s: status' % name, done.status, 0)
            problems += equal('%s: output' % name, done.out, b'done\n')
            why = 'it is cut: its header says that it is longer' if replace is cut_file else 'it is no regular file'
            found = re.findall('warning: the debug file .* is not read: ' + why, done.err.decode())
            problems += equal('%s: the word of it' % name, len(found), int(not tells))
            with open(trace, encoding='utf-8') as file:
                text = file.read()
            problems += equal('%s: calls' % name, len(re.findall(r'^\d+\. .*\bmake\(', text, re.M)), 5)
            problems += equal('%s: arguments' % name, len(re.findall(r'\$1 = wanted=3100\d\n', text)), 5 if tells else 0)
            for options in (['-r', '-f', 'text'], ['--report=alive']):
                read = room.run([*over, POSTPROC, *options, trace], timeout=60)
                problems += equal('%s: functrace-postproc %s: status' % (name, options[0]), read.status, 0)
            if os.path.isdir(path):
                os.rmdir(path)
                cut_file(path, healthy)
        return problems, ''
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
    ('a debug file', in_place(debug_file)),
    ('a debug file by its build-id', in_place(by_build_id)),
    ('a .dwo file', in_place(split_file)),
    ("dwz's file", in_place(common_file)),
    ('a map and a source', beside_the_trace),
    ('modules', modules),
    ('links beside the trace', links),
    ('a link that was given', given_link),
]
