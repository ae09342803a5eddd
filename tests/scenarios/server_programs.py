"""Servers for the tests, and for measurements (bench/ has other clients): how each server is started, which of its
processes work, and how the server ends."""

import glob
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile

import builds
from processes import Failure, read_if_there, tasks_of, wait_for

BUILD = os.environ.get('TOP_BUILDDIR', os.getcwd())


def need(name, package, *folders):
    found = shutil.which(name, path=os.pathsep.join([*folders, os.environ.get('PATH', ''), '/usr/sbin', '/usr/local/sbin']))
    if not found:
        raise builds.Skip('%s is not installed: apt-get install %s' % (name, package))
    return found


# ---- Servers that answer numbers, over HTTP ----

def numbers(n):
    return ''.join('%d,' % (n * i % 997) for i in range(300)).encode()


PYTHON = '''
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        n = int(self.path[1:])
        kept[n % 500] = json.loads(json.dumps([{str(i): [i] * (n % 20)} for i in range(50)]))
        body = ''.join('%d,' % (n * i % 997) for i in range(300)).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
kept = {}
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
Server(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
'''

NODE = '''
const kept = [];
require('http').createServer((request, response) => {
    const n = parseInt(request.url.slice(1));
    kept[n % 500] = Buffer.from(JSON.stringify(Array.from({length: 200}, (_, i) => ({i, s: 'x'.repeat(n % 50)}))));
    let body = '';
    for (let i = 0; i < 300; i++) body += n * i % 997 + ',';
    require('zlib').deflate(body, () => { response.setHeader('Content-Length', body.length); response.end(body); });
}).listen(parseInt(process.argv[2]), '127.0.0.1');
'''

JAVA = '''
import com.sun.net.httpserver.*;
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
public class Numbers {
    static final Map<Integer, List<String>> kept = new ConcurrentHashMap<>();
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/", exchange -> {
            int n = Integer.parseInt(exchange.getRequestURI().getPath().substring(1));
            List<String> words = new ArrayList<>();
            StringBuilder body = new StringBuilder();
            for (int i = 0; i < 300; i++) { body.append(n * i % 997).append(','); words.add("word" + n * i); }
            kept.put(n % 500, words);
            java.util.zip.Deflater deflater = new java.util.zip.Deflater();
            deflater.setInput(body.toString().getBytes()); deflater.finish(); deflater.deflate(new byte[4096]); deflater.end();
            byte[] bytes = body.toString().getBytes();
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(30);
        pool.prestartAllCoreThreads();
        server.setExecutor(pool);
        server.start();
    }
}
'''

NGINX = '''daemon off; worker_processes 2; pid %(folder)s/pid; error_log stderr; %(user)s
events { worker_connections 64; }
http { access_log off; gzip on; gzip_types *; gzip_min_length 1; client_body_temp_path %(folder)s/body; proxy_temp_path %(folder)s/proxy;
fastcgi_temp_path %(folder)s/fastcgi; uwsgi_temp_path %(folder)s/uwsgi; scgi_temp_path %(folder)s/scgi;
server { keepalive_requests 1000000; listen 127.0.0.1:%(port)d; root %(folder)s/numbers; } }
'''


_reserved = []


def free_port():
    """Returns a port of 127.0.0.1. Until this program ends, a socket that is bound to the port keeps the kernel from
    giving it to another program. The servers can bind it all the same, because they set SO_REUSEADDR as this socket
    does, which does not listen."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(('127.0.0.1', 0))
    _reserved.append(holder)
    return holder.getsockname()[1]


def answers(port):
    try:
        socket.create_connection(('127.0.0.1', port), 1).close()
        return True
    except OSError:
        return False


def listens(path):
    """Returns true if a server listens at the socket of that path. The socket's file exists a moment before."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def children_of(pid):
    return [int(child) for tid in tasks_of(pid)
            for child in read_if_there('/proc/%d/task/%d/children' % (pid, tid)).split()]


class Server:
    """A running server. `scanned` yields the process to scan next; `address` is a port of this machine, or a socket's
    path; `clients`, if any, are ended before the server; end() returns problems."""

    address, clients = None, None

    def __init__(self, room, command, **more):
        self.room = room
        # The server shares the position in the file: it must write at the end while the test reads from the start.
        self.log = open(room.path('log'), 'ab+')
        self.child = room.start(command, stdout=self.log, stderr=self.log, **more)
        self.scanned = itertools.repeat(self.child.pid)

    def wait(self, what, condition):
        def is_there():
            if self.child.poll() is not None:
                raise Failure('the process ended with status %d: %s' % (self.child.returncode, self.said()))
            return condition()
        return wait_for(what, is_there, 300)

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors='replace')[-2000:]

    def end(self, number=signal.SIGTERM, statuses=(0,)):
        problems = self.clients.end() if self.clients else []
        if self.child.poll() is None:
            self.child.send_signal(number)
        status = self.room.finish(self.child, 120).status
        if status not in statuses:
            problems.append('the process ended with status %d: %s' % (status, self.said()))
        self.log.close()
        return problems


class Http(Server):
    def __init__(self, room, command, port):
        super().__init__(room, command)
        self.address = port
        self.wait('the server', lambda: answers(port))

    def end(self, number=signal.SIGTERM, statuses=(0, -signal.SIGTERM, 128 + signal.SIGTERM)):
        return super().end(number, statuses)


def of_text(room, name, text):
    with open(room.path(name), 'w') as file:
        file.write(text)
    return room.path(name)


def python(room):
    port = free_port()
    return Http(room, [os.path.realpath(sys.executable), '-c', PYTHON, str(port)], port)


def node(room):
    port = free_port()
    return Http(room, [need('node', 'nodejs'), of_text(room, 'numbers.js', NODE), str(port)], port)


def java(room):
    program = need('java', 'default-jdk-headless')
    if not subprocess.run([program, '--list-modules'], capture_output=True, timeout=120).stdout.count(b'jdk.compiler'):
        raise builds.Skip('java has no compiler here: apt-get install default-jdk-headless')
    port = free_port()
    server = Http(room, [program, '-Xmx256m', of_text(room, 'Numbers.java', JAVA), str(port)], port)
    server.wait('30 threads', lambda: len(tasks_of(server.child.pid)) >= 30)
    return server


class Nginx(Http):
    """A server whose workers are scanned, and now and then the master."""

    def __init__(self, room):
        program, port = need('nginx', 'nginx-light'), free_port()
        os.mkdir(room.path('numbers'))
        for n in range(1000):
            with open(room.path('numbers', str(n)), 'wb') as file:
                file.write(numbers(n))
        path = of_text(room, 'nginx.conf', NGINX % {'folder': room.folder, 'port': port,
                                                    'user': 'user root;' if os.geteuid() == 0 else ''})
        super().__init__(room, [program, '-e', 'stderr', '-c', path, '-p', room.folder], port)
        workers = self.wait('the workers', lambda: children_of(self.child.pid)[1:] and children_of(self.child.pid))
        self.scanned = itertools.cycle([*workers, *workers, self.child.pid])


# ---- Redis ----

def apt_sources(folder):
    """Writes the machine's apt sources as sources of source packages."""
    os.makedirs(os.path.join(folder, 'parts'), exist_ok=True)
    for path in ['/etc/apt/sources.list'] + glob.glob('/etc/apt/sources.list.d/*'):
        if not os.path.exists(path) or not path.endswith(('.list', '.sources')):
            continue
        with open(path) as file:
            text = re.sub(r'(?m)^Types:.*', 'Types: deb-src', re.sub(r'(?m)^deb(?=[ \t])', 'deb-src', file.read()))
        with open(os.path.join(folder, 'parts', os.path.basename(path)), 'w') as file:
            file.write(text)


def fetch_source(folder):
    """Fetches Redis's source package of the machine's distribution by apt, whose state is kept in `folder`."""
    for name in 'lists/partial', 'cache/archives/partial':
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    apt_sources(folder)
    settings = {'Dir::Etc::sourcelist': '-', 'Dir::Etc::sourceparts': folder + '/parts', 'Dir::State::lists': folder + '/lists',
                'Dir::Cache': folder + '/cache', 'Debug::NoLocking': '1', 'APT::Sandbox::User': 'root', 'Acquire::Retries': '3'}
    command = ['apt-get', '-q'] + [word for pair in settings.items() for word in ('-o', '%s=%s' % pair)]
    for words in ['update'], ['source', '--download-only', 'redis']:
        done = subprocess.run(command + words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
    found = glob.glob(os.path.join(folder, 'redis_*.orig.tar.*'))
    if not found:
        raise builds.Skip("redis's sources cannot be fetched: " + (re.findall(r'(?m)^E: .*', done.stdout) or [done.stdout])[0][-150:])
    with tarfile.open(found[0]) as file:
        file.extractall(folder)


def redis_of_libc():
    """Returns the path of a redis-server with the C library's malloc, which is built once."""
    folder = os.path.join(BUILD, 'long-redis')
    program = os.path.join(folder, 'redis-server')
    if os.path.exists(program):
        return program
    need('apt-get', 'apt')
    need('make', 'make')
    fetch_source(folder)
    source = glob.glob(os.path.join(folder, 'redis-*', 'src'))[0]
    environment = {name: value for name, value in os.environ.items() if name not in ('MAKEFLAGS', 'MFLAGS', 'CFLAGS', 'MALLOC')}
    done = subprocess.run(['make', '-C', source, '-j%d' % (os.cpu_count() or 1), 'MALLOC=libc', 'BUILD_TLS=no', 'USE_SYSTEMD=no',
                           'redis-server'], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=3600)
    if done.returncode:
        raise builds.Skip('redis cannot be built here: ' + done.stdout[-200:].replace('\n', ' '))
    shutil.copy(os.path.join(source, 'redis-server'), program)
    return program


class Redis(Server):
    def __init__(self, room, program):
        self.address = room.path('socket')
        super().__init__(room, [program, '--port', '0', '--unixsocket', self.address, '--save', '', '--dir', room.folder])
        self.wait('redis', lambda: listens(self.address))


# ---- PostgreSQL ----

class Postgres(Server):
    """A PostgreSQL server, whose backends are scanned, and now and then their parent."""

    def __init__(self, room):
        folders = sorted(glob.glob('/usr/lib/postgresql/*/bin'))
        self.programs = {name: need(name, 'postgresql', *folders[-1:]) for name in ('initdb', 'postgres', 'pgbench', 'psql')}
        self.by = []
        folder = room.path('database')
        os.mkdir(folder)
        if os.geteuid() == 0:  # postgres refuses to run as root
            self.by = [need('setpriv', 'util-linux'), '--reuid=postgres', '--regid=postgres', '--clear-groups']
            shutil.chown(folder, 'postgres', 'postgres')
        self.room, self.folder = room, folder
        self.run_one('initdb', '-N', '-A', 'trust', '-U', 'postgres', '-D', folder + '/data')
        super().__init__(room, self.by + [self.programs['postgres'], '-D', folder + '/data', '-k', folder, '-c', 'listen_addresses=',
                                          '-c', 'fsync=off', '-c', 'shared_buffers=64MB'])
        self.wait('postgres', lambda: os.path.exists(folder + '/.s.PGSQL.5432') and 'ready to accept' in self.said())
        self.run_one('psql', '-h', folder, '-U', 'postgres', '-c', 'create database bench')
        self.bench('-i', '-q', '-s', '2')
        self.address, self.scanned = folder + '/.s.PGSQL.5432', self.backends()

    def run_one(self, name, *arguments):
        done = self.room.run(self.by + [self.programs[name], *arguments], timeout=600)
        if done.status:
            raise Failure('%s ended with %d: %s' % (name, done.status, (done.out + done.err).decode(errors='replace')[-500:]))
        return done.out.decode()

    def bench(self, *arguments):
        return self.run_one('pgbench', '-h', self.folder, '-U', 'postgres', *arguments, 'bench')

    def backends(self):
        for turn in itertools.count():
            found = [pid for pid in children_of(self.child.pid)
                     if b' bench ' in read_if_there('/proc/%d/cmdline' % pid)]
            yield found[turn % len(found)] if found and turn % 7 else self.child.pid

    def end(self, number=signal.SIGINT, statuses=(0,)):
        return super().end(number, statuses)


class Memcached(Server):
    def __init__(self, room):
        program, port = need('memcached', 'memcached'), free_port()
        super().__init__(room, [program, '-l', '127.0.0.1', '-p', str(port), '-U', '0', *(['-u', 'nobody'] if os.geteuid() == 0 else [])])
        self.address = port
        self.wait('memcached', lambda: answers(port))
