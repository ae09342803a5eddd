"""Tests errors before and during tracing: the message has cause and advice, the status is right, and the program is
unharmed."""

import os
import re
import shutil
import subprocess
import time

import builds
import kinds
from lifecycle import Held
from processes import FUNCTRACE, POSTPROC, Failure, command_of, state_of, status_field, wait_for


def refused(room, command, status, *words, run_as=None, env=None, stdout=None):
    """Runs a command that must fail with that status and a message that contains all the words."""
    if run_as:
        command = run_as + command
    more = {'stdout': stdout} if stdout is not None else {}
    done = room.run(command, env, **more)
    text = done.err.decode(errors='replace')
    problems = []
    if done.status != status:
        problems.append('status %d, expected %d' % (done.status, status))
    problems += ['the message does not have %r' % word for word in words if word not in text]
    if status and 'functrace: ' not in text:
        problems.append('no message of functrace')
    if 'core dumped' in text or done.status < 0:
        problems.append('functrace died')
    if problems:
        problems.append('functrace said: ' + text.strip()[-600:])
    return problems


def traced(room, *options):
    os.makedirs(room.path('traces'), exist_ok=True)
    return kinds.functrace(room.path('traces'), *options)


def none_written(room):
    left = os.listdir(room.path('traces'))
    return ['a trace was left: %s' % left] if left else []


def pid_not_there(room):
    child = room.start(['true'])
    room.finish(child)
    return refused(room, traced(room, '-t', str(child.pid)), 1, str(child.pid)) + none_written(room), ''


def pid_just_exited(room):
    child = room.start(['true'])
    wait_for('a zombie', lambda: state_of(child.pid) == 'Z')
    problems = refused(room, traced(room, '-t', str(child.pid)), 1, str(child.pid)) + none_written(room)
    return problems, ''


def kernel_thread(room):
    if command_of(2) != 'kthreadd':
        raise builds.Skip('process 2 is no kernel thread here')
    return refused(room, traced(room, '-t', '2'), 1, 'kernel') + none_written(room), ''


def traced_by(room, tracer):
    kinds.need(tracer if tracer != 'functrace' else 'sh')
    if tracer == 'strace':
        other = room.start(['strace', '-o', '/dev/null', '-e', 'trace=none', 'sleep', '600'])
        pid = wait_for('the child of strace', lambda: [p for p in room.processes() if command_of(p) == 'sleep'])[0]
        return refused_of_traced(room, tracer, other, pid)
    with Held(room, [builds.target('churn', 'O2'), '1']) as held:
        pid = held.child.pid
        command = ['gdb', '-q', '-nx', '-p', str(pid)] if tracer == 'gdb' else \
            [FUNCTRACE, '-o', room.path('other.rtrace'), '-t', str(pid)]
        return refused_of_traced(room, tracer, room.start(command, stdin=subprocess.PIPE), pid)


def refused_of_traced(room, tracer, other, pid):
    by = wait_for('%s to trace' % tracer, lambda: int(status_field(pid, 'TracerPid') or 0))
    problems = refused(room, traced(room, '-t', str(pid)), 1, str(pid), tracer, str(by)) + none_written(room)
    if int(status_field(pid, 'TracerPid') or 0) != by:
        problems.append('the process is no longer traced by the first tracer')
    if tracer == 'functrace':
        other.terminate()
        room.finish(other)
    else:
        room.kill(other)
    return problems, ''


def by_strace(room):
    return traced_by(room, 'strace')


def by_gdb(room):
    return traced_by(room, 'gdb')


def by_functrace(room):
    return traced_by(room, 'functrace')


def below_another(room):
    """functrace is launched by a process that another tracer follows: the program already has that tracer."""
    strace = kinds.need('strace')
    below = [strace, '-f', '-o', '/dev/null', '-e', 'trace=none'] + traced(room, 'true')
    advice = ') traces it already, and a process can have only one tracer. Start functrace outside of that tracer.\n'
    problems = refused(room, below, 1, 'functrace: cannot trace true: process ', ' (strace' + advice)
    outer = [FUNCTRACE, '-q', '-o', room.path('outer')]
    return problems + refused(room, outer + traced(room, 'true'), 1, ' (ft-engine' + advice) + none_written(room), ''


def root_without_capability(room):
    """If root of a container lacks the capability, functrace does not advise to become root."""
    setpriv = kinds.need('setpriv')
    if os.geteuid() != 0:
        raise builds.Skip('needs root')
    without = [setpriv, '--bounding-set', '-sys_ptrace', '--inh-caps', '-sys_ptrace']
    nobody = [setpriv, '--reuid=65534', '--regid=65534', '--clear-groups']
    problems = []
    for user in ([], nobody):
        child = room.start(user + ['sleep', '600'])
        wait_for('the program to start', lambda: command_of(child.pid) == 'sleep')
        problems += refused(room, traced(room, '-t', str(child.pid)), 1,
                            'functrace: cannot attach to process %d: functrace runs as root, but without the capability '
                            'SYS_PTRACE. Add the capability (to a container: --cap-add=SYS_PTRACE).\n' % child.pid,
                            run_as=without)
        room.kill(child)
    return problems + none_written(room), ''


def program_missing(room):
    problems = refused(room, traced(room, '/nonexistent/program'), 127, '/nonexistent/program')
    problems += refused(room, traced(room, 'no-such-program-anywhere'), 127, 'no-such-program-anywhere')
    return problems + none_written(room), ''


def program_not_executable(room):
    path = room.path('plain')
    with open(path, 'w') as file:
        file.write('#!/bin/sh\n')
    os.chmod(path, 0o644)
    problems = refused(room, traced(room, path), 126, path)
    problems += refused(room, traced(room, '/'), 126, 'functrace: / is a folder, not a program\n')
    return problems + none_written(room), ''


def program_is_no_program(room):
    """Binary files are refused, as by shells; a text file without a #! line is run by the shell, as env(1) does."""
    problems = []
    for name, content in (('garbage', b'\x7fELF garbage'), ('packed', b'\x1f\x8b\x08\0\0\nexit 3\n')):
        room.run(['tee', room.path(name)], data=content)  # by a process of its own: see as_nobody()
        os.chmod(room.path(name), 0o755)
        for path, env in ((room.path(name), None), (name, {'PATH': room.folder + ':' + os.environ['PATH']})):
            problems += refused(room, traced(room, path), 126, 'functrace: %s cannot be run: it is a binary file that this '
                                'system cannot execute (damaged, or made for another processor)\n' % path, env=env)
    room.run(['tee', room.path('script')], data=b'exit 3\n')
    os.chmod(room.path('script'), 0o755)
    done = room.run(traced(room, '-q', room.path('script')))
    return problems + ([] if done.status == 3 else ['of a script: status %d' % done.status]), ''


def usage(room):
    problems = []
    for options in (['-t', '1', 'true'], ['-t', 'abc'], ['-t', '0'], ['-t', '-5'], ['--nonsense'], [],
                    ['-b', '257', 'true'], ['-b', 'x', 'true'], ['-e', 'nothing', 'true'], ['-f', 'nothing', 'true'],
                    ['-t', str(os.getpid()), '-t', '1', '-o', room.path('one-file')],
                    ['-t', str(os.getpid()), '-t', '1', '-o', '-'], ['-M', '5-', '-M', 'x', 'true'],
                    ['--symbol-address=malloc', 'true']):
        problems += ['%s: %s' % (' '.join(options) or 'nothing at all', p)
                     for p in refused(room, [FUNCTRACE] + options, 2)]
    return problems, ''


def own_name(room):
    """Messages of getopt begin with functrace's name, as all others do."""
    problems = []
    for program, name in ((FUNCTRACE, 'functrace'), (POSTPROC, 'functrace-postproc')):
        done = room.run([program, '--nonsense'])
        if done.status != 2 or not done.err.startswith(b"%s: unrecognized option '--nonsense'\n" % name.encode()):
            problems.append('status %d, %r' % (done.status, done.err))
    return problems, ''


def to_a_terminal(room):
    """A binary trace is not written to a terminal, whatever its name; text is."""
    import pty
    master, slave = pty.openpty()
    tty, trace = os.ttyname(slave), room.path('t')
    problems = []
    try:
        room.run([FUNCTRACE, '-q', '-o', trace, 'true'])
        for output in ('-', '/dev/stdout', '/dev/fd/%d' % slave, tty):
            done = room.run([FUNCTRACE, '-o', output, 'true'], stdout=slave, pass_fds=[slave])
            words = b'functrace: -o %s: this is a terminal, and the format rtrace is not text; add -f text, or give ' \
                b'-o a file\n' % output.replace('/dev/stdout', '-').encode()
            if done.status != 2 or not done.err.startswith(words):
                problems.append('-o %s: status %d, %r' % (output, done.status, done.err))
        for options in ([], ['-o', '-'], ['-o', tty]):
            done = room.run([POSTPROC, '-f', 'rtrace'] + options + [trace], stdout=slave)
            if done.status != 2 or b'the output is a terminal, and the format rtrace is not text' not in done.err:
                problems.append('functrace-postproc: status %d, %r' % (done.status, done.err))
        done = room.run([FUNCTRACE, '-q', '-f', 'text', '-o', '-', 'true'], stdout=slave)
        if done.status or not os.read(master, 1000):
            problems.append('text: status %d, %r' % (done.status, done.err))
    finally:
        os.close(slave)
        os.close(master)
    return problems, ''


def help_and_version(room):
    problems = []
    for option, word in (('-h', b'Usage'), ('--help', b'-t'), ('-V', b'functrace'), ('--version', b'functrace'),
                         ('-V', b'traces: '), ('-V', b'\nprobes in the kernel: ')):
        done = room.run([FUNCTRACE, option])
        if done.status or word.lower() not in done.out.lower() or done.err:
            problems.append('%s: status %d, stdout %r, stderr %r' % (option, done.status, done.out[:200], done.err[:200]))
    return problems, ''


def unharmed(room, output, *words, status=3, **more):
    """A program whose trace cannot be written runs to its end, with its own status."""
    script = 'import os\nx = [os.urandom(10000) for i in range(2000)]\nprint(len(x))\nraise SystemExit(3)\n'
    path = room.path('s.py')
    with open(path, 'w') as file:
        file.write(script)
    python = os.path.realpath(os.environ.get('PYTHON') or shutil.which('python3'))
    command = [FUNCTRACE, '-e', 'memory', '-f', 'text', '-A', '-o', output, python, path]
    done = room.run(command, timeout=60, **more)
    text = done.err.decode(errors='replace')
    problems = []
    if done.status != status:
        problems.append('status %d, expected %d' % (done.status, status))
    if b'2000' not in done.out + done.err:
        problems.append('the program did not run to its end')
    problems += ['the message does not have %r' % word for word in words if word not in text]
    if problems:
        problems.append('functrace said: ' + text.strip()[-600:])
    return problems


def output_full(room):
    return unharmed(room, '/dev/full', '/dev/full', 'No space left'), ''


def output_closed_pipe(room):
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        return unharmed(room, '-', 'Broken pipe', stdout=write_end), ''
    finally:
        os.close(write_end)


def output_file_too_large(room):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
    return unharmed(room, room.path('t.txt'), 'File too large', preexec_fn=limit), ''


def output_folder_missing(room):
    marker = room.path('ran')
    problems = refused(room, [FUNCTRACE, '-o', room.path('no', 'such', 'file'), '/usr/bin/touch', marker], 2,
                       room.path('no', 'such'), 'mkdir')
    if os.path.exists(marker):
        problems.append('the program was started')
    return problems, ''


def as_nobody(room):
    """Returns a command prefix that runs a command as another user, and a functrace that this user can execute."""
    if os.geteuid() != 0:
        raise builds.Skip('needs root, to become another user')
    setpriv = kinds.need('setpriv')
    copy = room.path('functrace')
    # Copied by a process of its own: a child that another scenario is just forking here would have the copy open for
    # writing until its exec, and setpriv could not execute it (ETXTBSY).
    room.run(['cp', FUNCTRACE, copy])
    os.chmod(copy, 0o755)
    return [setpriv, '--reuid=65534', '--regid=65534', '--clear-groups'], copy


def not_ours(room):
    prefix, functrace = as_nobody(room)
    child = room.start(['sleep', '600'])
    os.makedirs(room.path('traces'))
    os.chmod(room.path('traces'), 0o777)
    problems = refused(room, [functrace, '-o', room.path('traces'), '-t', str(child.pid)], 1, str(child.pid),
                       run_as=prefix)
    problems += none_written(room)
    if child.poll() is not None:
        problems.append('the program has ended')
    return problems, ''


def output_forbidden(room):
    prefix, functrace = as_nobody(room)
    os.makedirs(room.path('traces'))
    os.chmod(room.path('traces'), 0o555)
    problems = refused(room, [functrace, '-o', room.path('traces'), '/bin/true'], 1, room.path('traces'),
                       'Permission denied', run_as=prefix)
    return problems + none_written(room), ''


def as_ordinary_user(room):
    """functrace without root launches a program, and attaches to a process of the same user (if yama permits it)."""
    prefix, functrace = as_nobody(room)
    os.makedirs(room.path('traces'))
    os.chmod(room.path('traces'), 0o777)
    target = room.path('target')
    room.run(['cp', builds.target('alloc_basic', 'O2'), target])  # by a process of its own: see as_nobody()
    done = room.run(prefix + [functrace, '-e', 'memory', '-f', 'text', '-o', room.path('traces'), target])
    traces, problems = kinds.read_traces(room.path('traces'), 1)
    import oracle
    problems += oracle.Oracle(done.out).check(traces)
    if done.status:
        problems.append('status %d: %s' % (done.status, done.err.decode(errors='replace')[-500:]))
    return problems, ''


def without_proc(room):
    """If /proc is not mounted, the message says so. functrace finds functrace-postproc by the path with which it was
    executed."""
    unshare = [kinds.need('unshare'), '-rm', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh']
    if room.run(unshare + ['true']).status:
        raise builds.Skip('no mount namespace can be made here')
    problems = refused(room, unshare + [FUNCTRACE, '--report', 'true'], 1,
                       'functrace: /proc is not mounted, and functrace needs it (as root: mount -t proc proc /proc)\n')
    os.mkdir(room.path('alone'))
    shutil.copy(FUNCTRACE, room.path('alone', 'functrace'))
    done = room.run([room.path('alone', 'functrace'), '--report', 'true'], env={'PATH': '/bin:/usr/bin'})
    wanted = ('functrace: functrace-postproc cannot be run: No such file or directory. It belongs beside functrace (%s) or in a '
              'folder of PATH; install it there, or run functrace by its whole path\n' % room.path('alone', 'functrace'))
    if shutil.which('functrace-postproc', path='/bin:/usr/bin'):
        return problems, 'functrace-postproc is installed'
    return problems + ([] if wanted in done.err.decode() else ['alone it says %r' % done.err]), ''


def too_many_traces(room):
    """More traces than one command line can name: no report can be made, and the traces and their list are kept. The
    path of each trace is long, so that some hundred traces are enough."""
    folder = room.folder
    at = os.open(folder, os.O_RDONLY)
    for name in ('%02d' % number * 100 for number in range(18)):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at, folder = below, os.path.join(folder, name)
    os.close(at)
    done = room.run([FUNCTRACE, '-q', '--report', 'sh', '-c', 'for i in $(seq 320); do /bin/true; done'], env={'TMPDIR': folder},
                    timeout=300)
    found = re.search(rb'too many traces for one report; they are kept, and (.*/list) lists them', done.err)
    if done.status != 1 or not found:
        return ['status %d: %s' % (done.status, done.err.decode()[-300:])], ''
    with open(found[1], 'rb') as file:
        paths = file.read().split(b'\0')[:-1]
    missing = [path for path in paths if not os.path.exists(path)]
    return ['%d of %d traces are missing' % (len(missing), len(paths))] * bool(missing or len(paths) < 200), ''


CASES = [
    ('a pid that does not exist', pid_not_there),
    ('a process that has just exited', pid_just_exited),
    ('a kernel thread', kernel_thread),
    ('a process that strace traces', by_strace),
    ('a process that gdb traces', by_gdb),
    ('a process that functrace traces', by_functrace),
    ('launched under another tracer', below_another),
    ('root without the capability to trace', root_without_capability),
    ('/proc is not mounted: the message says so', without_proc),
    ('PROGRAM is missing: status 127', program_missing),
    ('PROGRAM is not executable: status 126', program_not_executable),
    ('PROGRAM is no program: status 126', program_is_no_program),
    ('usage errors: status 2', usage),
    ('getopt\'s errors begin with functrace\'s name', own_name),
    ('a binary trace is not written to a terminal', to_a_terminal),
    ('--help and --version', help_and_version),
    ('output: no space left', output_full),
    ('output: the reader has gone', output_closed_pipe),
    ('output: over the file size limit', output_file_too_large),
    ('output: no such folder', output_folder_missing),
    ('a process of another user', not_ours),
    ('output: no permission', output_forbidden),
    ('--report: more traces than one report can have', too_many_traces),
    ('an ordinary user', as_ordinary_user),
]
