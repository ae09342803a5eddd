"""Tests functrace-probes, by which an ordinary user gets probes in the kernel: the events are those by breakpoints, what
functrace says if the helper cannot work, and that a hostile client of the helper gets nothing that ptrace would not give
it."""

import os
import re
import signal
import stat

import builds
import kinds
import oracle
from errors import as_nobody
from kernel_probes import by_content, differ, differ_unordered, need_probes, text_and_files
from lifecycle import Held, end_of_churn, engine_of
from processes import FUNCTRACE, wait_for

GROUP = 54321  # of those who may execute the helper
CAPABILITIES = 'cap_bpf,cap_perfmon=ep'


def set_capabilities(helper):
    """Returns the command that gives the helper its capabilities."""
    return [kinds.need('setcap'), CAPABILITIES, helper]


def as_member(room):
    """Returns as as_nobody() does; the user is a member of the group that may execute the helper, which is beside this
    functrace, as an administrator installs it."""
    need_probes()
    prefix, functrace = as_nobody(room)
    helper = functrace + '-probes'
    if not os.path.exists(FUNCTRACE + '-probes'):
        raise builds.Skip('%s-probes does not exist' % FUNCTRACE)
    room.run(['cp', FUNCTRACE + '-probes', helper])
    if os.statvfs(helper).f_flag & os.ST_NOSUID:
        raise builds.Skip('the file system of %s is mounted with nosuid' % room.folder)
    os.chown(helper, 0, GROUP)
    os.chmod(helper, 0o750)
    done = room.run(set_capabilities(helper))
    if done.status:
        raise builds.Skip('the file system of %s has no capabilities: %s' % (room.folder, done.err.decode().strip()))
    return [word if word != '--clear-groups' else '--groups=%d' % GROUP for word in prefix], functrace


def open_folder(room, name):
    """Makes a folder to which everyone may write."""
    folder = room.path(name)
    os.makedirs(folder)
    os.chmod(folder, 0o777)
    return folder


def copied(room, name, variant='O2'):
    """Returns a copy of a target that the other user can execute."""
    path = room.path(name)
    room.run(['cp', builds.target(name, variant), path])
    return path


# ---- The same events by both ways ----

def same(target, *args, files=1, threads=False):
    """Returns a scenario that traces a target in both ways, as an ordinary user."""
    def run(room):
        prefix, functrace = as_member(room)
        command = [copied(room, target)] + [str(arg) for arg in args]
        plain = room.run(prefix + command)
        traces, problems, said = {}, [], ''
        for way in ('kernel', 'breakpoints'):
            folder = open_folder(room, way)
            done = room.run(prefix + [kinds.need('setarch'), '-R', functrace, '--debug=breakpoint:1', '-f', 'text', '-r',
                                      '--probes=' + way, '-o', folder] + kinds.modules([]) + command)
            said = said or done.err.decode(errors='replace')
            traces[way], more = kinds.read_traces(folder, files)
            problems += more
            if done.status != plain.status or done.out != plain.out:
                problems.append('%s: status %s: %s' % (way, done.status, done.err.decode(errors='replace')[-600:]))
        if not re.search(r'kernel probes at \d+ functions of .*: linked', said):
            problems.append('no function has a probe: ' + said[-600:])
        for one, other in zip(by_content(traces['kernel']), by_content(traces['breakpoints'])):
            problems += differ_unordered(one, other) if threads else differ(one, other, False, False)
            problems += ['lost: ' + note for note in one.notes if note.startswith('lost: ')]
        problems += oracle.Oracle(plain.out).check(traces['kernel'])
        events = sum(len(trace.events) for trace in traces['kernel'])
        return problems + ([] if events else ['no events']), '%d events' % events
    return run


def helpers(functrace):
    """Returns the pids of the helpers that run beside this functrace."""
    found = []
    for name in os.listdir('/proc'):
        try:
            if name.isdigit() and os.readlink('/proc/%s/exe' % name) == functrace + '-probes':
                found.append(int(name))
        except OSError:
            pass
    return found


def attached(room):
    """An ordinary user attaches to a process, which allocates all the time, and detaches. The text is then that of its
    files, and the helper has ended. The second functrace's helper is killed while it works."""
    prefix, functrace = as_member(room)
    problems, events = [], 0
    with Held(room, prefix + [copied(room, 'churn'), '3']) as held:
        pid = held.child.pid
        for name in ('first', 'killed'):
            folder = open_folder(room, name)
            tracer = room.start(prefix + [functrace, '--probes=kernel', '-f', 'text', '-o', folder, '-t', str(pid)])
            wait_for('events', lambda: tracer.poll() is not None or any(
                os.path.getsize(os.path.join(folder, file)) > 100000 for file in os.listdir(folder)))
            running = helpers(functrace)
            if len(running) != 1:
                problems.append('%s: %d helpers' % (name, len(running)))
            for helper in running if name == 'killed' else ():
                os.kill(helper, signal.SIGKILL)
            tracer.send_signal(signal.SIGINT)
            done = room.finish(tracer)
            if done.status:
                problems.append('%s: status %s: %s' % (name, done.status, done.err.decode(errors='replace')[-600:]))
            problems += text_and_files(pid) + ['%s: the helper still runs' % name for _ in helpers(functrace)]
            traces, more = kinds.read_traces(folder, 1)
            problems += more
            events += sum(len(trace.events) for trace in traces)
        problems += end_of_churn(room, held)
    return problems, '%d events' % events


def engine_killed(room):
    """After SIGKILL of the engine the kernel removes the probes, and the helper ends."""
    prefix, functrace = as_member(room)
    with Held(room, prefix + [copied(room, 'churn'), '3']) as held:
        pid, folder = held.child.pid, open_folder(room, 'traces')
        tracer = room.start(prefix + [functrace, '--probes=kernel', '-f', 'text', '-o', folder, '-t', str(pid)])
        wait_for('the helper', lambda: helpers(functrace) and any(os.path.getsize(os.path.join(folder, file)) > 100000
                                                                  for file in os.listdir(folder)))
        os.kill(engine_of(None, pid), signal.SIGKILL)
        room.finish(tracer)
        wait_for('the removal of the probes', lambda: not text_and_files(pid))
        wait_for('the end of the helper', lambda: not helpers(functrace))
        return end_of_churn(room, held), ''


# ---- What functrace says ----

def reasons(room):
    prefix, functrace = as_member(room)
    helper, folder = functrace + '-probes', open_folder(room, 'traces')
    lacks = 'functrace lacks the capabilities CAP_BPF and CAP_PERFMON, and '
    not_given = lacks + 'the kernel does not give the helper %s those of its file, because ' % helper

    def says(case, wanted, run_as):
        done = room.run(run_as + [functrace, '-q', '--probes=kernel', '-o', folder + '/', 'touch', folder + '/started'])
        said = done.err.decode(errors='replace').strip()
        if done.status == 1 and said == 'functrace: --probes=kernel is not possible: ' + wanted and not os.listdir(folder):
            return []
        return ['%s: status %s, functrace said %r, expected %r; the folder has %s' % (
            case, done.status, said, wanted, os.listdir(folder))]
    problems = says('no_new_privs', not_given + 'functrace was started with no_new_privs (setpriv, systemd\'s '
                    'NoNewPrivileges=)', prefix + ['setpriv', '--no-new-privs'])
    problems += says('without the capabilities in the bounding set', not_given + 'this is a container',
                     prefix[:1] + ['--bounding-set=-perfmon'] + prefix[1:])
    unshare = ['unshare', '-p', '-f', '--mount-proc']
    if not room.run(unshare + ['true']).status:
        problems += says('pid namespace', lacks + 'the helper %s does not work in a container: run functrace outside of it, '
                         'or as root' % helper, unshare + prefix)
    no_member = [word for word in prefix if '--groups' not in word]
    problems += says('no member', lacks + 'the helper %s may not be executed by this user: ask for membership of its group' %
                     helper, no_member[:1] + ['--clear-groups'] + no_member[1:])
    os.makedirs(room.path('alone'))
    room.run(['cp', FUNCTRACE, room.path('alone', 'functrace')])
    done = room.run(['setpriv', '--bounding-set=-perfmon,-sys_admin', room.path('alone', 'functrace'), '-q', '--probes=kernel', '-o',
                     folder + '/', 'true'])
    if lacks + 'root of a container usually has not got them: run functrace outside of it' not in done.err.decode() and \
       not os.path.exists('/usr/libexec/functrace'):
        problems.append('root without the capabilities: %r' % done.err)
    room.run([kinds.need('setcap'), '-r', helper])
    problems += says('no capabilities', lacks + 'the helper %s has not been given them: as root, run setcap %s %s' % (
        helper, CAPABILITIES, helper), prefix)
    os.remove(helper)
    done = room.run(prefix + [functrace, '-q', '--probes=kernel', '-o', folder + '/', 'true'])
    if not re.search(r'and its helper /\S+/functrace/functrace-probes is not installed: run functrace as root$',
                     done.err.decode().strip()) and not os.path.exists('/usr/libexec/functrace'):
        problems.append('without the helper: %r' % done.err)
    return problems, ''


def alone(room):
    """The helper says what it is to a user who starts it."""
    prefix, functrace = as_member(room)
    done = room.run(prefix + [functrace + '-probes'], data=b'')
    wanted = b'functrace-probes: functrace runs this program; it does nothing by itself\n'
    return [] if (done.status, done.err) == (2, wanted) else ['status %s, %r' % (done.status, done.err)], ''


# ---- A hostile client ----

EINVAL, ESRCH, EACCES, ENDED = -22, -3, -13, 1  # answers: -errno; ENDED: the helper has ended


def compared(done, wanted):
    """Compares what the client has printed."""
    found = {}
    for line in done.out.decode(errors='replace').splitlines():
        name, _, value = line.rpartition(': ')
        found[name] = int(value) if re.fullmatch(r'-?\d+', value) else value
    found.pop('helper', None)
    problems = ['%s: %s, expected %s' % (name, found.get(name), wanted.get(name))
                for name in list(wanted) + sorted(set(found) - set(wanted)) if found.get(name) != wanted.get(name)]
    return problems + (['status %s: %s' % (done.status, done.err.decode(errors='replace')[-300:])] if done.status else [])


def hostile(case, wanted, argument=None):
    """Returns a scenario that runs a case of the client, and compares its output. argument: a function that returns the
    client's last argument."""
    def run(room):
        prefix, functrace = as_member(room)
        done = room.run(prefix + [copied(room, 'probes_client'), functrace + '-probes', case] +
                        ([argument()] if argument else []))
        return compared(done, wanted), '%d answers' % len(wanted)
    return run


def garbage(room):
    """Messages that are no requests end the helper; descriptors that are sent with a request do not stay open in it."""
    prefix, functrace = as_member(room)
    child = room.start(prefix + [copied(room, 'probes_client'), functrace + '-probes', 'garbage'], stdin=-1)
    helper, said = None, b''
    while helper is None:
        line = child.stdout.readline()
        if not line:
            break
        said += line
        helper = int(line.split()[1]) if line.startswith(b'helper:') else None
    problems = []
    if helper:
        problems += hardened(helper)
    done = room.finish(child, None, b'')
    done.out = said + done.out
    return problems + compared(done, {'unknown type': ENDED, '3 bytes': ENDED, '0 bytes': ENDED, '100000 bytes': ENDED,
                                      'load': 0}), ''


def hardened(pid):
    """Checks a helper that works: its descriptors, its rights, and who owns its files in /proc."""
    problems = []
    names = [os.readlink('/proc/%d/fd/%s' % (pid, name)) for name in os.listdir('/proc/%d/fd' % pid)]
    strange = [name for name in names if not name.startswith(('socket:', 'anon_inode:', '/dev/null'))]
    if strange or sum(name.startswith('socket:') for name in names) != 1:
        problems.append('the helper has open: %s' % names)
    with open('/proc/%d/status' % pid) as file:
        status = dict(line.split(':\t', 1) for line in file.read().splitlines() if ':\t' in line)
    wanted = {'CapInh': 0, 'CapPrm': 3 << 38, 'CapEff': 3 << 38, 'CapAmb': 0, 'NoNewPrivs': 1}
    problems += ['the helper has %s %s' % (name, status[name]) for name, value in wanted.items()
                 if int(status[name], 16) != value]
    if os.stat('/proc/%d/environ' % pid).st_uid != 0:
        problems.append('other processes of the user can read the helper')
    return problems


def set_user_id_program():
    """Returns a program of root with the set-user-ID bit, which allocates by the C library."""
    for path in ('/usr/bin/su', '/bin/su', '/usr/bin/passwd', '/usr/bin/chsh', '/usr/bin/newgrp'):
        if os.path.exists(path) and os.stat(path).st_mode & stat.S_ISUID and os.stat(path).st_uid == 0:
            return path
    raise builds.Skip('there is no set-user-ID program')


NUMBERS = {'load': 0, 'pid 0': ESRCH, 'pid -1': ESRCH, 'own pid': ESRCH}
NUMBERS.update(dict.fromkeys(('link before load', 'ring of 3 bytes', 'ring of 1 TiB', 'ring of no power of two', '1000 frames',
                              'SIGKILL', 'load twice', 'no sites', '257 sites', '4294967295 sites', 'at_return 2'), EINVAL))
BUILDS = [('alloc_basic', 'O2'), ('forks', 'O2'), ('execs', 'O2'), ('threads', 'O2'), ('churn', 'O2'), ('probes_client', 'O2')]
CASES = [
    ('an ordinary user', same('alloc_basic')),
    ('an ordinary user, fork', same('forks', 'tree', files=9, threads=True)),
    ('an ordinary user, vfork', same('forks', 'vfork', files=None)),
    ('an ordinary user, exec twice', same('execs', 'twice', files=3)),
    ('an ordinary user, threads', same('threads', 4, 100, threads=True)),
    ('an ordinary user attaches', attached),
    ('an ordinary user, the engine is killed', engine_killed),
    ('why an ordinary user has none', reasons),
    ('the helper by itself', alone),
    ('a hostile client: wrong numbers', hostile('numbers', NUMBERS)),
    ('a hostile client: garbage', garbage),
    ('a hostile client: processes of others', hostile('foreign', {
        'not traced': 0, 'of another user': 0, 'traced by another': 0, 'traced': 1, 'records': 1}, lambda: '1')),
    ('a hostile client: other places', hostile('places', {
        'malloc': 1, "malloc's code": 0, 'return of malloc': 1, 'free': 1, 'return of free': 0, '_setjmp': 0,
        'return of _setjmp': 0, 'printf': 0, '/proc': EACCES, 'folder': EACCES, 'device': EACCES})),
    ('a hostile client: a process that it may not read', hostile('silence', {
        'traced': 1, 'detached': 0, 'traced again': 1, 'undumpable': 0, 'set-user-ID program ended': 1,
        'set-user-ID program': 0}, set_user_id_program)),
]
