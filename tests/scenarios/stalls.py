"""Traces a server while functrace's output is blocked: functrace's terminal is stopped (Ctrl-S), functrace is stopped
(Ctrl-Z, SIGSTOP), or its pipe is full. Clients send requests and check each answer: answers must come all the time, and
functrace must detach when it should, although its output is not read. attach() starts functrace in a new terminal or
with a full pipe. STALLS are the ways to stop it, ENDS the ways to end it; drawn() draws one of each at random. No time
is measured: the answers are counted."""

import fcntl
import os
import random
import re
import signal
import struct
import termios
import threading
import time

import rounds
import servers
from lifecycle import need_attach
from processes import (FUNCTRACE, Failure, has_ended, kernel_text, state_of, status_field, tasks_of, text_differences,
                       text_of, wait_for)
from server_programs import children_of
from terminal import Shell

SUMMARY = r'\d+ events; .*; trace: '
LONG = 2.5 if rounds.LONG else 1.5  # seconds of a stall: long enough for a line with counts, which comes each second


def tracer_of(pid):
    return int(status_field(pid, 'TracerPid') or 0)


def visible_of(engine):
    """Returns the process that the user started, by the parents in /proc/PID/status: the engine's parent is the
    guardian, whose parent it is."""
    return int(status_field(int(status_field(engine, 'PPid')), 'PPid'))


def fill(fd):
    """Fills a pipe until not a byte more fits."""
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    for size in (4096, 1):
        try:
            while True:
                os.write(fd, b'.' * size)
        except BlockingIOError:
            pass
    fcntl.fcntl(fd, fcntl.F_SETFL, flags)


def in_pipe(fd):
    return struct.unpack('i', fcntl.ioctl(fd, termios.FIONREAD, b'    '))[0]


class Attached:
    """functrace, attached to a server. `visible`: the process that the user has started; `engine`: the process that
    traces."""

    def __init__(self, room, server):
        self.room, self.server, self.pid = room, server, next(server.scanned)
        self.text, self.shell, self.child, self.reader, self.said = text_of(self.pid), None, None, -1, b''

    def at_terminal(self, options):
        """Starts functrace in the foreground of a shell on a new terminal."""
        self.shell = Shell()
        words = [FUNCTRACE, *options, '-t', str(self.pid)]
        self.shell.send("cd '%s'; stty rows 30 cols 150; TERM=xterm %s\n" % (self.room.folder, ' '.join(words)))
        return self.wait()

    def at_pipe(self, options, stream, is_full):
        """Starts functrace with a pipe as its standard output or error."""
        self.reader, writer = os.pipe()
        if is_full:
            fill(writer)
        self.child = self.room.start([FUNCTRACE, *options, '-t', str(self.pid)], **{stream: writer})
        os.close(writer)
        return self.wait()

    def wait(self):
        def is_attached():
            if self.child and self.child.poll() is not None:
                raise Failure('functrace ended with %d' % self.child.returncode)
            return tracer_of(self.pid)
        self.engine = int(status_field(wait_for('functrace to attach', is_attached), 'Tgid'))
        self.visible = visible_of(self.engine)
        return self

    def is_free(self, what):
        """Waits until the server is no longer traced; its text must be unchanged, and it must answer."""
        wait_for('functrace to detach from the server: %s' % what, lambda: not tracer_of(self.pid))
        problems = text_differences(self.text, text_of(self.pid))
        if problems:
            raise Failure('%s: %s' % (what, '; '.join(problems)))
        self.server.clients.more(what)

    def has_gone(self, what):
        for name in 'visible', 'engine':
            wait_for('the end of the %s process: %s' % (name, what), lambda: has_ended(getattr(self, name)))

    def close(self):
        for pid in (self.visible, self.engine):
            if not has_ended(pid):
                os.kill(pid, signal.SIGKILL)
        if self.shell:
            os.kill(self.shell.pid, signal.SIGKILL)
            self.shell.close()
        if self.reader >= 0:
            os.close(self.reader)


# ---- Stalls: begin(attached) and resume(attached) ----

class CtrlS:
    name, place = 'Ctrl-S', 'terminal'

    def begin(self, attached):
        attached.shell.send('\x13')

    def resume(self, attached):
        attached.shell.send('\x11')


class CtrlZ:
    name, place = 'Ctrl-Z', 'terminal'

    def begin(self, attached):
        attached.shell.send('\x1a')
        # --duration may be over before the stall begins.
        wait_for('functrace to stop', lambda: state_of(attached.visible) == 'T' or has_ended(attached.visible))

    def resume(self, attached):
        attached.shell.send('fg\n')
        wait_for('functrace to run in the foreground', lambda: state_of(attached.visible) != 'T')


class Stop:
    name, place = 'SIGSTOP', 'terminal'

    def begin(self, attached):
        self.send(attached, signal.SIGSTOP)

    def resume(self, attached):
        self.send(attached, signal.SIGCONT)
        attached.shell.send('fg\n')

    def send(self, attached, number):
        try:
            os.kill(attached.visible, number)
        except ProcessLookupError:
            pass  # --duration was over before the stall began


class FullPipe:
    name, place = 'a pipe that is full', 'pipe'

    def begin(self, _):
        pass

    def resume(self, attached):
        """Reads what is in the pipe now."""
        while in_pipe(attached.reader):
            attached.said += os.read(attached.reader, 65536)


STALLS = [CtrlS(), CtrlZ(), Stop(), FullPipe()]
ENDS = ['duration', 'TERM', 'KILL', 'resume']


def attach(room, server, stall, options):
    attached = Attached(room, server)
    return attached.at_terminal(options) if stall.place == 'terminal' else attached.at_pipe(options, 'stderr', True)


def shows_summary(attached, what):
    """Waits for the summary, and for the end of functrace."""
    if attached.shell:
        try:
            attached.shell.expect(SUMMARY)
        except AssertionError as error:
            raise Failure('%s, the summary: %s' % (what, error))
    else:
        while not re.search(SUMMARY, attached.said.decode(errors='replace')):
            more = os.read(attached.reader, 65536)
            if not more:
                raise Failure('%s: no summary: %r' % (what, attached.said[-600:]))
            attached.said += more
    attached.has_gone(what)


def ended_by(attached, stall, end):
    """Ends a functrace whose output is blocked in this way."""
    what = '%s, %s' % (stall.name, end)
    if end == 'duration':
        attached.is_free(what)
    if end == 'TERM':
        os.kill(attached.visible, signal.SIGTERM)
        if stall.name in ('SIGSTOP', 'Ctrl-Z'):  # the kernel delivers the signal after SIGCONT
            os.kill(attached.visible, signal.SIGCONT)
        attached.is_free(what)
        attached.has_gone(what)
        return
    if end == 'KILL':
        os.kill(attached.visible, signal.SIGKILL)
        attached.is_free(what)
        attached.has_gone(what)
        return
    stall.resume(attached)
    if end == 'resume':
        attached.server.clients.more('%s, it goes on' % stall.name)
        os.kill(attached.visible, signal.SIGINT)
        attached.is_free(what)
    shows_summary(attached, what)


def stalled(room, make, stall, end, options=()):
    """Returns (problems, remark) of one stall and one end of a functrace."""
    need_attach()
    server, problems, attached = make(room), [], None
    try:
        server.clients.more('before functrace')
        options = ['-o', room.path('trace'), *(['--duration=4'] if end == 'duration' else []), *options]
        attached = attach(room, server, stall, options)
        server.clients.more('attached')
        before = server.clients.right
        stall.begin(attached)
        time.sleep(LONG)
        if end != 'duration' and not tracer_of(attached.pid):
            problems.append('functrace has detached by itself')
        server.clients.more('%s, after %.1f s' % (stall.name, LONG))
        remark = '%d answers' % (server.clients.right - before)
        ended_by(attached, stall, end)
    except Failure as failure:
        problems, remark = problems + [str(failure)], ''
    finally:
        if attached:
            attached.close()
        problems += server.end()
    return problems, remark


def waits_for_room(engine):
    """Returns true if a thread of the engine waits until there is room for its output: only then another thread than
    the first one sleeps in poll()."""
    try:
        return any('poll' in kernel_text(engine, tid, 'wchan') for tid in tasks_of(engine) if tid != engine)
    except OSError:
        return False


def is_full(attached):
    """Waits until the pipe has no room for the next record. (Not all pages of a blocked pipe are full.)"""
    wait_for('the pipe to be full', lambda: waits_for_room(attached.engine) or not tracer_of(attached.pid))


def unread(room, make, end, options):
    """The trace goes into a pipe that is not read. This blocks the server, but functrace must still be able to end."""
    need_attach()
    server, problems, attached = make(room), [], None
    what = 'a trace that is not read, %s' % end
    try:
        server.clients.more('before functrace')
        options = ['-o', '-', *options, *(['--duration=4'] if end == 'duration' else [])]
        attached = Attached(room, server).at_pipe(options, 'stdout', False)
        is_full(attached)
        if end != 'duration':
            os.kill(attached.visible, getattr(signal, 'SIG' + end))
        attached.is_free(what)
        attached.has_gone(what)
        trace = b''
        while in_pipe(attached.reader):
            trace += os.read(attached.reader, 65536)
        if 'text' in options and not trace.endswith(b'\n'):
            problems.append('%s: the trace ends with %r' % (what, trace[-200:]))
        if end != 'KILL':
            done = room.finish(attached.child)
            text = done.err.decode()
            if done.status != 1 or not re.search(r'the end of the trace of process \d+ is missing, because nothing reads standard output', text) or \
               not re.search(r' [\d,]+ events?%s; .*\(incomplete\)' % (
                       ', [\d,]+ of them in the trace' if '--no-baseline' in options else '.*'), text):
                problems.append('%s: status %d: %s' % (what, done.status, text))
        remark = '%d bytes' % len(trace)
    except Failure as failure:
        problems, remark = problems + [str(failure)], ''
    finally:
        if attached:
            attached.close()
        problems += server.end()
    return problems, remark


# ---- The live view: while it is stopped calls are left out, and the live blocks are right again afterwards ----

UNREAD = 400 if rounds.LONG else 250  # number of answers; not all of their calls fit into a pipe
LOOK = re.compile(r'^memory: ([\d,]+) bytes in ([\d,]+) blocks? alive,', re.M)
ALIVE = re.compile(r'; ([\d,]+) blocks? with ([\d,]+) bytes? (?:is|are) live(?: beside ([\d,]+) blocks? with ([\d,]+) bytes? from before)?')


def number(text):
    return int((text or '0').replace(',', ''))


def view_of(attached):
    """Returns the process of the live view."""
    parent = attached.child.pid if attached.child else int(status_field(attached.visible, 'PPid'))
    return wait_for('the process of the view',
                    lambda: [pid for pid in children_of(parent) if pid != attached.visible])[0]


def live(make_options=()):
    return ['--live', '--interval=0.2', '--top=2', *make_options]


def live_unread(room):
    """The view is stopped and continued. At the end its figures must be those of the engine."""
    need_attach()
    server, problems, attached = servers.python(room), [], None
    try:
        server.clients.more('before functrace')
        attached = Attached(room, server).at_pipe(live(), 'stdout', False)
        reader = Reader(attached.reader)
        view = view_of(attached)
        wait_for('a first look', lambda: LOOK.search(reader.text()))
        os.kill(view, signal.SIGSTOP)
        server.clients.more('the view is stopped', UNREAD)
        os.kill(view, signal.SIGCONT)
        wait_for('the message about calls while the view was stopped',
                 lambda: ' calls came while this view was stopped' in reader.text())
        problems += server.clients.end()
        os.kill(server.child.pid, signal.SIGTERM)
        done = room.finish(attached.child)
        text, alive = reader.all(), ALIVE.search(done.err.decode())
        look = LOOK.findall(text)[-1]
        if not alive or 'The trace has ended' not in text:
            problems.append('status %d: %s' % (done.status, done.err))
        elif (number(look[1]), number(look[0])) != (number(alive[1]) + number(alive[3]), number(alive[2]) + number(alive[4])):
            problems.append('the view shows %s: %s' % (look, alive[0]))
    except Failure as failure:
        problems.append(str(failure))
    finally:
        if attached:
            attached.close()
        problems += server.end()
    return problems, ''


class Reader:
    """A thread that reads a pipe to its end."""

    def __init__(self, fd):
        self.parts, self.fd = [], os.dup(fd)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while True:
            part = os.read(self.fd, 65536)
            if not part:
                os.close(self.fd)
                return
            self.parts.append(part)

    def text(self):
        return b''.join(self.parts).decode(errors='replace')

    def all(self):
        """Waits for the writer's end; returns all the text."""
        self.thread.join(60)
        return self.text()


def writes(pid):
    """Returns true if the process waits in a system call for its standard output."""
    return kernel_text(pid, pid, 'syscall').split()[1:2] == ['0x1']


def live_stopped(room, stall, end):
    """In a terminal, the view is stopped by `stall`, and the process that the user started is ended."""
    need_attach()
    server, problems, attached = servers.python(room), [], None
    what = 'a live view, %s, %s' % (stall, end)
    try:
        server.clients.more('before functrace')
        attached = Attached(room, server).at_terminal(live())
        started = int(status_field(attached.visible, 'PPid'))
        view = view_of(attached)
        # From here on both processes handle the signals that come below.
        attached.shell.expect('allocated by')
        wait_for('functrace to handle SIGTERM',
                 lambda: int(status_field(started, 'SigCgt') or '0', 16) >> signal.SIGTERM - 1 & 1)
        if stall == 'Ctrl-Z':
            # The signal comes while the view draws, because its terminal is not read (Ctrl-L: all is drawn again).
            wait_for('the view to wait for its terminal', lambda: attached.shell.send('\x0c') or writes(view))
            attached.shell.send('\x1a')
            attached.shell.prompt()
            wait_for('functrace and the view to stop', lambda: state_of(started) == 'T' and state_of(view) == 'T')
        elif stall == 'Ctrl-S':
            attached.shell.send('\x13')
        else:
            os.kill(view, signal.SIGSTOP)
        server.clients.more(what, UNREAD)
        if not tracer_of(attached.pid):
            problems.append('%s: functrace has detached by itself' % what)
        if end == 'fg':
            attached.shell.send('fg\n')
            attached.shell.expect('calls came while this view was stopped')
            attached.shell.send('q')
        else:
            os.kill(started, getattr(signal, 'SIG' + end))
        attached.is_free(what)
        attached.has_gone(what)
        wait_for('the end of %d: %s' % (started, what), lambda: has_ended(started))
        if end != 'KILL':
            wait_for('the end of the view: %s' % what, lambda: has_ended(view))
    except (Failure, AssertionError) as failure:
        problems.append(str(failure))
    finally:
        if attached:
            attached.close()
        problems += server.end()
    return problems, ''


def drawn(seed, makes=(servers.python,)):
    """Returns a scenario that is drawn by that seed."""
    draw = random.Random(seed)
    make, stall, end = draw.choice(makes), draw.choice(STALLS), draw.choice(ENDS)
    options = draw.choice([(), ('-f', 'text'), ('-A', '-b', '20'), ('-d',), ('--no-baseline',), ('-f', 'text', '-r')])
    name = '%s, %s, %s%s' % (make.__name__, stall.name, end, ''.join(' ' + word for word in options))
    return name, lambda room: stalled(room, make, stall, end, options)


CASES = [('%s, %s' % (stall.name, end), lambda room, stall=stall, end=end: stalled(room, servers.python, stall, end))
         for stall, end in ((STALLS[0], 'duration'), (STALLS[0], 'TERM'), (STALLS[0], 'resume'), (STALLS[2], 'KILL'),
                            (STALLS[1], 'resume'), (STALLS[3], 'duration'))]
CASES += [('a trace that is not read, %s%s' % (end, ''.join(' ' + word for word in options)),
           lambda room, end=end, options=options: unread(room, servers.python, end, options))
          for end, options in (('duration', ('-f', 'text', '--no-baseline')), ('TERM', ()), ('KILL', ('-f', 'text', '-r', '-b', '30')),
                               ('TERM', ('-z',)))]
CASES += [('a live view that is stopped', live_unread)]
CASES += [('a live view, %s, %s' % words, lambda room, words=words: live_stopped(room, *words))
          for words in (('Ctrl-Z', 'fg'), ('SIGSTOP', 'TERM'), ('Ctrl-Z', 'KILL'), ('Ctrl-S', 'TERM'))]
