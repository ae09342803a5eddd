"""Tests --copy-file, which copies files to the trace's folder: the content of the copies, their names in the trace,
and the messages about files that cannot be copied."""

import os
import re
import signal

import builds
import trace_text
from lifecycle import Held, need_attach
from outputs import equal
from processes import FUNCTRACE, POSTPROC, Tracer
from words import compiled, has_line, said

# This program maps the file of its first argument, and ends in the way that the second argument says. A child that it
# has forked does the same.
MAPPING = r'''
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	int fd = open(argv[1], O_RDONLY);

	free(malloc(100));
	if (!strcmp(how, "fork") && fork()) {
		wait(NULL);
		return 0;
	}
	free(malloc(200));
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 90;
	if (!strcmp(how, "exec"))
		execl(argv[0], argv[0], argv[1], "exit", (char *)NULL);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	return 0;
}
'''


def attachments_of(room, trace, *options):
    """Returns {name: path} of the copies, as functrace-postproc shows them for a trace in any format."""
    done = room.run([POSTPROC, '-b', '0', *options, room.path(trace)])
    return dict(re.findall(r'^& (\w+) : (.*)$', done.out.decode(), re.M))


def content(room, *path):
    with open(room.path(*path), 'rb') as file:
        return file.read()


def paths_in(maps):
    return {line.split(None, 5)[5] for line in maps.decode().splitlines() if len(line.split(None, 5)) == 6}


def prepared(room):
    """Returns the program, and a file that it maps."""
    with open(room.path('mapped'), 'w') as file:
        file.write('x' * 5000)
    return compiled(room, 'mapping', MAPPING)


def formats(room):
    """In each format and dialect the trace names the copied file, the command line at the start, and the maps at the
    end."""
    program, problems = prepared(room), []
    command = [program, room.path('mapped'), 'exit']
    with open(room.path('notes.txt'), 'w') as file:
        file.write('of the user\n')
    for name, options in (('t.rtrace', []), ('t.txt', ['-f', 'text']), ('c.rtrace', ['--compat=sp-rtrace']),
                          ('c.txt', ['-f', 'text', '--compat=sp-rtrace'])):
        done = room.run([FUNCTRACE, '-q', '-o', name, '--copy-file=notes=notes.txt', '--copy-file=maps',
                         '--copy-file=cmdline'] + options + command)
        problems += equal('status and messages', (done.status, said(done)), (0, ''))
        wanted = {kind: name + '.' + kind for kind in ('notes', 'maps', 'cmdline')}
        problems += equal('attachments of ' + name, attachments_of(room, name), wanted)
        problems += equal('the file', content(room, name + '.notes'), b'of the user\n')
        problems += equal('the command line', content(room, name + '.cmdline'), '\0'.join(command + ['']).encode())
        missing = {program, room.path('mapped')} - paths_in(content(room, name + '.maps'))
        problems += ['the maps at the end lack %s' % path for path in sorted(missing)]
        problems += equal('the permissions of the copy', os.stat(room.path(name + '.maps')).st_mode & 0o777, 0o600)
    return problems, ''


def conversion(room):
    """A converted trace names the same files. In another folder it names them by absolute path, because the files are
    not moved."""
    program, problems = prepared(room), []
    room.run([FUNCTRACE, '-q', '-o', 'a', '--copy-file=limits', '--copy-file=maps', program, 'mapped'])
    os.mkdir(room.path('other'))
    beside, moved = ({kind: before + 'a.' + kind for kind in ('limits', 'maps')} for before in ('', room.path('')))
    for source, to, options, wanted in (
            ('a', 'b.txt', ['-f', 'text'], beside), ('b.txt', 'c', ['-f', 'rtrace'], beside),
            ('c', 'd.txt', ['-f', 'text', '--compat=sp-rtrace'], beside), ('d.txt', 'e', ['-f', 'rtrace', '--compat=none'], beside),
            ('e', 'f', ['-f', 'rtrace', '-l'], beside), ('a', 'other/g', ['-f', 'rtrace'], moved),
            ('other/g', 'h.txt', ['-f', 'text'], moved)):
        done = room.run([POSTPROC, '-o', to] + options + [source])
        lost = [line for line in said(done).splitlines() if 'has no place for these, which were left out' not in line]
        problems += equal('words', lost, []) + equal(to, attachments_of(room, to), wanted)
    done = room.run([POSTPROC, '-f', 'rtrace', room.path('a')])
    with open(room.path('from-stdout'), 'wb') as file:
        file.write(done.out)
    return problems + equal('standard output', attachments_of(room, 'from-stdout'), beside), ''


def processes(room):
    """Each process has its own copies. A fork's child is copied at its own end. A process that is killed or executes
    another program has the last copies from before."""
    program, problems = prepared(room), []
    mapped = room.path('mapped')
    os.mkdir(room.path('folder'))
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'folder', '--copy-file=maps', program, mapped, 'fork'])
    found = {}
    for name in os.listdir(room.path('folder')):
        if name.endswith('.txt'):
            trace = trace_text.read(room.path('folder', name))
            problems += equal(name, trace.attachments, [('maps', name + '.maps')])
            found[any('was forked by' in note for note in trace.notes)] = paths_in(content(room, 'folder', name + '.maps'))
    problems += equal('status and processes', (done.status, sorted(found)), (0, [False, True]))
    problems += equal('the file in the maps of the parent and its child',
                      [mapped in found.get(key, ()) for key in (False, True)], [False, True])
    done = room.run([FUNCTRACE, '-q', '-o', 'killed', '--copy-file=maps', program, mapped, 'kill'])
    problems += equal('the status of the killed program', done.status, -signal.SIGKILL)
    problems += equal('maps of the killed program', program in paths_in(content(room, 'killed.maps')), True)
    done = room.run([FUNCTRACE, '-q', '-o', 'exec', '--copy-file=maps', '--copy-file=cmdline', program, mapped, 'exec'])
    names = sorted(name for name in os.listdir(room.folder) if re.match(r'exec(\.\d+\.\d+)?$', name))
    problems += equal('images', (done.status, len(names)), (0, 2))
    for name, how in zip(names, ('exec', 'exit')):
        problems += equal('the maps of ' + how, program in paths_in(content(room, name + '.maps')), True)
        problems += equal('command line of the new program',
                          content(room, name + '.cmdline').split(b'\0')[2].decode(), how)
    return problems, ''


def attached(room):
    """When functrace detaches from a process, it copies the maps of that moment."""
    need_attach()
    with Held(room, [builds.target('loading', 'O2'), builds.library(), '1']) as held:
        tracer = Tracer(room, held.child.pid, ['--copy-file=maps', '--copy-file=environ'])
        tracer.planted()
        held.gate.open()
        held.gate.arrived(held.child)
        with open('/proc/%d/maps' % held.child.pid, 'rb') as file:
            maps = file.read()
        with open('/proc/%d/environ' % held.child.pid, 'rb') as file:
            environ = file.read()
        problems = tracer.let_go()
        held.gate.open()
        room.finish(held.child)
        name, = [name for name in os.listdir(room.path('traces')) if name.endswith('.maps')]
        problems += equal('files in the copied maps', paths_in(content(room, 'traces', name)), paths_in(maps))
        problems += equal('the copied environment', content(room, 'traces', name[:-4] + 'environ'), environ)
    return problems, ''


def failing(room):
    """A file that cannot be copied is reported, and all else goes on; a file without an end is cut."""
    program, problems = prepared(room), []
    os.mkfifo(room.path('fifo'))
    for name, size in (('large', (64 << 20) + 1), ('nothing', 0)):
        with open(room.path(name), 'wb') as file:
            file.truncate(size)
    files = ['missing=missing', 'fifo=fifo', 'zero=/dev/zero', 'folder=.', 'large=large', 'empty=nothing']
    done = room.run([FUNCTRACE, '-o', 'x'] + ['--copy-file=' + file for file in files] + ['--copy-file=maps', program, 'mapped'])
    for path, why in (('missing', 'No such file or directory'), ('fifo', 'it is no regular file'),
                      ('/dev/zero', 'it is no regular file'), (r'\.', 'it is no regular file')):
        problems += has_line(done, r'functrace: warning: %s is not attached to the trace of process \d+: %s' % (path, why))
    problems += has_line(done, r'functrace: warning: only the first 64 MiB of large are attached to the trace of process \d+')
    problems += has_line(done, r'functrace: process \d+ \(mapping\): 4 events; .*; trace: x')
    problems += equal('attached', sorted(attachments_of(room, 'x')), ['empty', 'large', 'maps'])
    problems += equal('sizes', [os.path.getsize(room.path('x.' + name)) for name in ('large', 'empty')], [64 << 20, 0])
    return problems + equal('status', done.status, 0), ''


def replaced(room):
    """With -o FILE, copies of an earlier run are replaced. In a folder no file is replaced, neither of another run nor
    of this one."""
    program, problems = prepared(room), []
    for name in ('x.maps', 'x.notes'):
        with open(room.path(name), 'w') as file:
            file.write('of another run\n' * 1000)
    room.run([FUNCTRACE, '-q', '-o', 'x', '--copy-file=notes=mapped', '--copy-file=maps', program, 'mapped'])
    problems += equal('the file', content(room, 'x.notes'), b'x' * 5000)
    problems += equal('the maps', b'of another run' in content(room, 'x.maps'), False)
    # The program, which knows its process id, makes the file of that name. functrace writes the copy at the end.
    folder = 'folder'
    os.mkdir(room.path(folder))
    done = room.run([FUNCTRACE, '-q', '-o', folder, '--copy-file=maps', 'sh', '-c',
                     'printf kept >folder/$$-0.rtrace.maps'])
    names = {name for name in os.listdir(room.path(folder)) if not name.endswith('.maps')}
    trace = min(names, key=len)
    problems += equal('in a folder', names, {trace, trace + '.maps.1'})
    problems += equal('named', attachments_of(room, folder + '/' + trace), {'maps': trace + '.maps.1'})
    problems += equal('the existing file', content(room, folder, trace + '.maps'), b'kept')
    return problems + equal('status', done.status, 0), ''


def no_place(room):
    """If the output is not a regular file, there is no place beside it: functrace reports this before it starts the
    program."""
    os.mkfifo(room.path('fifo'))
    problems = []
    for output in ('-', 'fifo', '/dev/null', '/dev/fd/1'):
        done = room.run([FUNCTRACE, '-f', 'text', '-o', output, '--copy-file=maps', 'touch', room.path('begun')])
        shown = '-' if output == '/dev/fd/1' else output
        problems += equal(output, (done.status, said(done)), (2, 'functrace: --copy-file: there is no place for files beside -o %s; '
                          "give -o a file or a folder\nTry 'functrace --help' for more information.\n" % shown))
    return problems + equal('begun', os.path.exists(room.path('begun')), False), ''


BUILDS = [('loading', 'O2')]
CASES = [
    ('--copy-file: formats', formats),
    ('--copy-file: conversion', conversion),
    ('--copy-file: each process', processes),
    ('--copy-file: a process that functrace attaches to', attached),
    ('--copy-file: files that cannot be copied', failing),
    ('--copy-file: files of an earlier run', replaced),
    ('--copy-file: output that is not a regular file', no_place),
]
