"""Traces real programs with all kinds that can leak at once: they must behave the same, and functrace must report no
error and no release of an unknown resource."""

import os
import re
import signal
import socket
import subprocess
import sys

import builds
import descriptors
import kinds
from processes import Failure, Tracer, all_sleep, may_attach, wait_for

ALL = ['-e', 'memory,file,thread,shmposix,gobject']
# Messages that functrace must not print about a correct program that it has traced from its first instruction.
UNMATCHED = re.compile(rb'not seen|allocated again|double release|another family')

PYTHON = r'''
import concurrent.futures, mmap, socket, subprocess, tempfile, threading
from multiprocessing import shared_memory
results = []
def serve(server):
    for _ in range(5):
        client, _ = server.accept()
        with client: client.sendall(client.recv(100).upper())
with socket.socket() as server:
    server.bind(("127.0.0.1", 0)); server.listen()
    thread = threading.Thread(target=serve, args=(server,)); thread.start()
    for i in range(5):
        with socket.create_connection(server.getsockname()) as s:
            s.sendall(b"word%d" % i); results.append(s.recv(100))
    thread.join()
for i in range(3):
    results.append(subprocess.run(["echo", str(i)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout)
with tempfile.TemporaryFile() as f: f.write(b"x" * 10000)
with concurrent.futures.ThreadPoolExecutor(4) as pool: results.append(sum(pool.map(len, ["a" * i for i in range(50)])))
m = mmap.mmap(-1, 1 << 20); m.resize(1 << 21); m.close()
s = shared_memory.SharedMemory(create=True, size=5000); s.buf[0] = 1; s.close(); s.unlink()
print(results)
'''


def judge(room, plain, traced, folder='traces'):
    """Returns problems and the traces: both runs must be alike, functrace must report no error of the program, and each
    released resource must be in a trace."""
    problems = kinds.compare_runs(plain, traced)
    traces, more = kinds.read_traces(room.path(folder))
    problems += more
    problems += ['functrace said: ' + line.decode(errors='replace') for line in traced.err.split(b'\n') if UNMATCHED.search(line)]
    problems += [note for t in traces for note in t.notes if 'releases 0x' in note][:2]
    return problems, traces


def described(traces):
    types = {e.function[e.function.rfind('<'):] for t in traces for e in t.events}
    return '%d events of %s' % (sum(len(t.events) for t in traces), ' '.join(sorted(types)))


def judged(room, command, env=None, at_least=10, kinds_traced=ALL):
    """Runs the program untraced and traced; returns problems, and the numbers of the traces."""
    plain = room.run(command, env)
    os.makedirs(room.path('traces'))
    traced = room.run(kinds.functrace(room.path('traces'), *kinds_traced) + command, env)
    problems, traces = judge(room, plain, traced)
    if sum(len(t.events) for t in traces) < at_least:
        problems.append('only %d events' % sum(len(t.events) for t in traces))
    return problems, described(traces)


def python(room):
    return judged(room, [os.path.realpath(sys.executable), '-c', PYTHON], {'PYTHONHASHSEED': '1'}, 1000)


def git(room):
    """git creates a repository, from the first commit to the packing by its children."""
    env = {'GIT_AUTHOR_DATE': '1700000000 +0000', 'GIT_COMMITTER_DATE': '1700000000 +0000', 'GIT_CONFIG_NOSYSTEM': '1',
           'HOME': room.folder}
    script = 'cd "$0" && rm -rf r && mkdir r && cd r && "$1" init -q . && echo x > f && "$1" add f && ' \
             '"$1" -c user.email=a@b -c user.name=n commit -q -m x && "$1" log --stat -p --format=%H && "$1" gc -q'
    return judged(room, ['sh', '-c', script, room.folder, kinds.need('git')], env, 1000)


def sqlite(room):
    script = 'create table t(a, b); insert into t values (1, 2), (3, 4); select sum(a * b) from t;'
    return judged(room, [kinds.need('sqlite3'), ':memory:', script], None, 100)


def perl(room):
    script = 'use IO::Socket; for (1 .. 3) { my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1"); ' \
             'open(my $f, "<", "/etc/passwd"); my @l = <$f>; open(my $p, "-|", "echo", "x$_"); print <$p>, scalar(@l); }'
    return judged(room, [kinds.need('perl'), '-e', script], None, 100)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def listens(child, where):
    """where: a port of this machine, or the path of a socket"""
    if child.poll() is not None:
        raise Failure('the server ended with status %d' % child.returncode)
    is_path = isinstance(where, str)
    with socket.socket(socket.AF_UNIX if is_path else socket.AF_INET) as s:
        return s.connect_ex(where if is_path else ('127.0.0.1', where)) == 0


NGINX = '''
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
    access_log {folder}/access.log; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
'''


def settled(pid):
    """Returns the descriptors of an idle server when they no longer change. A server that does not sleep may be about
    to close one, and wait for a CPU."""
    reads = []
    wait_for('the descriptors to stay', lambda: reads.append(all_sleep(pid) and descriptors.descriptors(pid)) or
             (len(reads) > 10 and reads[-1] and all(r == reads[-1] for r in reads[-10:])))
    return reads[-1]


def nginx_and_curl(room):
    """functrace traces a server from its first request on, and the client from its start to its end."""
    server_path, curl = kinds.need('nginx'), kinds.need('curl')
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    port = free_port()
    with open(room.path('conf'), 'w') as file:
        file.write(NGINX.format(folder=room.folder, port=port))
    with open(room.path('page'), 'w') as file:
        file.write('word ' * 20000)
    server = room.start([server_path, '-p', room.folder, '-c', room.path('conf'), '-e', room.path('error.log')],
                        stdout=subprocess.DEVNULL)
    wait_for('nginx to listen', lambda: listens(server, port))
    url = ['http://127.0.0.1:%d/page' % port]
    plain = room.run([curl, '-s'] + url * 4)
    before = settled(server.pid)
    tracer = Tracer(room, server.pid, ALL, output=room.path('server'))
    tracer.planted()
    problems, remark = judged(room, [curl, '-s'] + url * 4, None, 50)
    if len(plain.out) != 4 * 5 * 20000:
        problems.append('curl got %d bytes' % len(plain.out))
    wait_for('the server to close the client\'s descriptor', lambda: descriptors.descriptors(server.pid) == before)
    problems += tracer.let_go()
    traces = kinds.read_traces(room.path('server'))[0]
    problems += descriptors.compare_live(traces, server.pid, before, before)
    after = room.run([curl, '-s'] + url)
    if after.out != plain.out[:len(after.out)] or after.status:
        problems.append('curl afterwards: status %d' % after.status)
    server.send_signal(signal.SIGQUIT)
    ended = room.finish(server)
    if ended.status:
        problems.append('nginx ended with status %d: %s' % (ended.status, ended.err[-300:]))
    return problems, remark + '; nginx: %d events' % sum(len(t.events) for t in traces)


def redis(room):
    server_path, bench = kinds.need('redis-server'), kinds.need('redis-benchmark')
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    # Not a port: another program might take it before the server does.
    path = room.path('socket')
    server = room.start([server_path, '--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no',
                         '--dir', room.folder], stdout=subprocess.DEVNULL)
    wait_for('redis-server to listen', lambda: listens(server, path))
    before = settled(server.pid)
    tracer = Tracer(room, server.pid, ALL)
    tracer.planted()
    done = room.run([bench, '-s', path, '-t', 'set,get', '-q', '-n', '500', '-c', '8'])
    problems = ['redis-benchmark: status %d' % done.status] if done.status or b'rror' in done.out + done.err else []
    # The server closes the descriptor of a client when it notices the client's end.
    wait_for('the server to close the clients\' descriptors', lambda: descriptors.descriptors(server.pid) == before)
    problems += tracer.let_go()
    traces = kinds.read_traces(room.path('traces'))[0]
    problems += descriptors.compare_live(traces, server.pid, before, before)
    server.send_signal(signal.SIGTERM)
    ended = room.finish(server)
    if ended.status:
        problems.append('redis-server ended with status %d' % ended.status)
    return problems, '%d events' % sum(len(t.events) for t in traces)


def glib(room):
    return judged(room, [kinds.need('gio'), 'info', '/etc/passwd'], {'GIO_USE_VFS': 'local'}, 100)


CASES = [
    ('several kinds: python3: sockets, threads, subprocess', python),
    ('several kinds: git', git),
    ('several kinds: sqlite3', sqlite),
    ('several kinds: perl', perl),
    ('several kinds: nginx and curl', nginx_and_curl),
    ('several kinds: redis-server', redis),
    ('several kinds: gio, a program with GLib', glib),
]
