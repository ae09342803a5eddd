"""Tests descriptors of real programs: the live descriptors of a trace must be those in /proc/PID/fd."""

import os
import re
import subprocess
import sys

import attached
import builds
import kinds
import trace_text
from processes import FUNCTRACE, POSTPROC, Failure, Tracer, may_attach

PYTHON = r'''
import array, os, select, socket, subprocess, sys, tempfile, threading
kept = [open("/dev/null"), socket.socket()]
def work(n):
    for i in range(5):
        a, b = socket.socketpair()
        a.send(b"x"); b.recv(1); a.close(); b.close()
        r, w = os.pipe(); os.close(r); os.close(w)
    if n == 2:
        kept.append(os.dup(0))
for line in sys.stdin:
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    out = subprocess.run(["echo", line.strip()], stdout=subprocess.PIPE, close_fds=True).stdout
    with tempfile.TemporaryFile() as f, open("/proc/self/stat") as g:
        f.write(out); g.read()
    poll = select.epoll(); poll.close()
    a, b = socket.socketpair()
    with open("/dev/zero") as z:
        socket.send_fds(a, [b"m"], [z.fileno(), z.fileno()])
        _, got, _, _ = socket.recv_fds(b, 1, 4)
    os.close(got[0]); kept.append(got[1]); a.close(); b.close()
    if len(kept) > 6:
        os.close(kept.pop())
    os.dup2(0, 60); os.dup2(0, 60); os.closerange(60, 62)
    try: os.close(60)
    except OSError: pass
    print("=%s %d" % (line.strip(), len(kept)), flush=True)
raise SystemExit(3)
'''


def descriptors(pid):
    return {int(name) for name in os.listdir('/proc/%d/fd' % pid)}


def events_of(traces, pid):
    return [e for t in traces if t.pid == pid for e in t.events if e.function.endswith('<fd>')]


def live(traces, pid, before):
    """Returns the open descriptors according to the trace of a process that had `before` open at its start; releases of
    unknown descriptors are problems."""
    open_now, problems = set(before), []
    for event in events_of(traces, pid):
        if event.kind == '+':
            if event.id in open_now:
                problems.append('%s: it is open' % event)
            open_now.add(event.id)
        elif event.id in open_now:
            open_now.remove(event.id)
        else:
            problems.append('%s: it is not open' % event)
    return open_now, problems


def compare_live(traces, pid, before, now):
    events = events_of(traces, pid)
    # functrace attached to the server between an open, which took the lowest free descriptor, and its close.
    lowest = min(set(range(len(before) + 1)) - before)
    is_attached = any(t.header.get('attached') == 'yes' for t in traces if t.pid == pid)
    passing = {e.id for e in events[:1] if e.kind == '-' and e.id == lowest and is_attached}
    open_now, problems = live(traces, pid, before | passing)
    # functrace detached from the server between an open and its close.
    open_now -= {e.id for e in events[-1:] if e.kind == '+' and e.id not in now}
    if open_now != now:
        problems.append('open by the trace: %s; by /proc: %s' % (sorted(open_now), sorted(now)))
    return problems


def python_attached(room):
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    command, lines = [os.path.realpath(sys.executable), '-c', PYTHON], attached.numbers()
    plain = attached.Talk(room, command, None)
    for line in lines:
        plain.ask(line)
    plain = plain.end()
    talk = attached.Talk(room, command, None)
    talk.ask(lines[0])
    before = descriptors(talk.child.pid)
    tracer = Tracer(room, talk.child.pid, ['-e', 'file'])
    tracer.planted()
    for line in lines[1:-1]:
        talk.ask(line)
    now = descriptors(talk.child.pid)
    problems = tracer.let_go()
    talk.ask(lines[-1])
    problems += kinds.compare_runs(plain, talk.end())
    traces = kinds.read_traces(room.path('traces'))[0]
    problems += compare_live(traces, talk.child.pid, before, now)
    if b'not seen' in tracer.err:
        problems.append('functrace said: %s' % tracer.err.decode(errors='replace')[-800:])
    return problems, '%d events' % sum(len(t.events) for t in traces)


def python_launched(room):
    """The program prints at its end which descriptors are open."""
    script = PYTHON.replace('raise SystemExit(3)', 'print("open", *[n for n in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + n)])')
    command = [os.path.realpath(sys.executable), '-c', script]
    done = room.run([FUNCTRACE, '-e', 'file', '-f', 'text', '-o', room.path('t')] + command, data=b''.join(attached.numbers(count=3)))
    words = [line.split()[1:] for line in done.out.decode().split('\n') if line.startswith('open ')]
    trace = trace_text.read(room.path('t'))
    if done.status or not words:
        return ['status %d: %s' % (done.status, done.err.decode(errors='replace')[-600:])], ''
    shown = set(map(int, words[0]))
    # Descriptors 0 to 2 are open at the start; at the end the program closes none of the descriptors that it printed.
    last = max(i for i, e in enumerate(trace.events) if e.function.startswith('opendir') and e.kind == '+')
    trace.events = trace.events[:last + 1]
    return compare_live([trace], trace.pid, {0, 1, 2}, shown), '%d events' % len(trace.events)


LEAKS = '''
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static int keep(const char *path)
{
	return open(path, O_RDONLY); /* line 7 */
}
int main(void)
{
	int pair[2];
	keep("/dev/null");
	keep("/dev/zero");
	close(keep("/dev/null"));
	if (pipe(pair) < 0 || !fopen("/dev/null", "r")) /* line 15 */
		return 1;
	close(pair[0]);
	close(pair[0]);
	close(STDIN_FILENO);
	return 0;
}
'''


def leaks(room):
    """The report has the source lines where leaked descriptors were opened, with a noun for each kind, and descriptors
    that were closed twice."""
    compiler = builds.compiler()
    with open(room.path('leaks.c'), 'w') as file:
        file.write(LEAKS)
    subprocess.run(compiler + ['-g', '-O0', '-o', room.path('leaks'), room.path('leaks.c')], check=True)
    done = room.run([FUNCTRACE, '-e', 'file', '-o', room.path('t'), room.path('leaks')], stdin=subprocess.DEVNULL)
    report = room.run([POSTPROC, '-l', '-c', '-r', room.path('t')]).out.decode()
    problems = []
    wanted = [b'3 descriptors are live beside 2 descriptors from before the trace; 1 FILE pointer is live; trace: ',
              b'1 release of a descriptor failed: it had been released already']
    for words in wanted:
        if words not in done.err:
            problems.append('message missing: %s; functrace said: %s' % (words.decode(), done.err.decode()[-800:]))
    for words in ('leaks.c:7', 'leaks.c:15', 'open<fd>', 'pipe<fd>', 'fopen<fp>'):
        if words not in report:
            problems.append('%s is not in: %s' % (words, report[-1500:]))
    return problems, ''


def preloaded(room):
    """A preloaded allocator is loaded into functrace, too, where it opens and closes a pipe: its descriptors have
    numbers that functrace does not use."""
    env = {'LD_PRELOAD': 'libtcmalloc.so.4'}
    plain = room.run(['cat', '/proc/self/maps'], env=env)
    if b'libtcmalloc' not in plain.out:
        raise builds.Skip('libtcmalloc.so.4 is not installed')
    done = room.run([FUNCTRACE, '-o', room.path('trace'), 'sh', '-c', 'echo a; exit 3'], env=env)
    if (done.status, done.out) != (3, b'a\n'):
        return ['status %d: %s' % (done.status, done.out + done.err)], ''
    return [], ''


REFUSED = """
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int close_range(unsigned first, unsigned last, int flags);
/* As a kernel before Linux 5.9, or a sandbox, answers. */
static int refuse(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436 /* close_range */, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
int main(void)
{
	int fds[4];
	for (int i = 0; i < 4; i++)
		fds[i] = open("/dev/null", O_RDONLY);
	if (close_range((unsigned)fds[0], (unsigned)fds[1], 0))
		return 2;
	if (refuse() || close_range((unsigned)fds[2], (unsigned)fds[3], 0) != -1 || errno != ENOSYS)
		return 3;
	return fcntl(fds[2], F_GETFD) || fcntl(fds[3], F_GETFD); /* they are open */
}
"""


def refused(room):
    """A close_range that fails closes no descriptor, and is a remark with -a."""
    with open(room.path('refused.c'), 'w') as file:
        file.write(REFUSED)
    made = room.run(builds.compiler() + ['-g', '-O0', '-o', room.path('refused'), room.path('refused.c')])
    if made.status:
        raise builds.Skip('the C library has no close_range, or the system no seccomp')
    done = room.run([FUNCTRACE, '-e', 'file', '-a', '-b', '0', '-f', 'text', '-o', 't', room.path('refused')])
    with open(room.path('t')) as file:
        text = file.read()
    calls = re.findall(r'^\d+\. \[.*?\] (open|close_range)', text, re.M)
    remarks = re.findall(r'^## (close_range\(.*)', text, re.M)
    problems = [] if done.status == 0 else ['status %d: %s' % (done.status, done.err.decode()[-600:])]
    if calls != ['open'] * 4 + ['close_range'] * 2:
        problems.append('the calls are %s' % calls)
    if len(remarks) != 1 or not re.match(r'close_range\(first=\d+, last=\d+, flags=0\) = -1 ENOSYS$', remarks[0]):
        problems.append('the remarks are %s' % remarks)
    if b'2 descriptors are live' not in done.err:
        problems.append('functrace said: %s' % done.err.decode(errors='replace')[-600:])
    return problems, ''


PARTLY = """
#include <fcntl.h>
#include <unistd.h>
/* The program's own: it has closed the first one when it fails, and then all. */
__attribute__((noipa)) int close_range(unsigned first, unsigned last, int flags)
{
	for (unsigned fd = first; fd <= last; fd++)
		if (close((int)fd) || flags == 1)
			return -1;
	return 0;
}
int main(void)
{
	int fds[5];
	for (int i = 0; i < 5; i++)
		fds[i] = open("/dev/null", O_RDONLY);
	close_range((unsigned)fds[0], (unsigned)fds[2], 1);
	close_range((unsigned)fds[1], (unsigned)fds[2], 0);
	return fds[0] + 4 != fds[4];
}
"""


def partly(room):
    """close_range fails after it has closed some descriptors by close: each of these is released once."""
    with open(room.path('partly.c'), 'w') as file:
        file.write(PARTLY)
    subprocess.run(builds.compiler() + ['-w', '-g', '-O0', '-o', room.path('partly'), room.path('partly.c')], check=True)
    done = room.run([FUNCTRACE, '-e', 'file', '-b', '0', '-f', 'text', '-o', 't', room.path('partly')])
    with open(room.path('t')) as file:
        calls = re.findall(r'^\d+\. \[.*?\] (open|close\w*)<fd>\((?:1\) = )?(0x\w+)', file.read(), re.M)
    first = int(calls[0][1], 16) if calls else 0
    expected = [('open', i) for i in range(5)] + [('close_range', i) for i in range(3)]
    found = [(name, int(fd, 16) - first) for name, fd in calls]
    problems = [] if found == expected and not done.status else ['status %d, the calls are %s' % (done.status, found)]
    if b'2 descriptors are live' not in done.err or b'double' in done.err:
        problems.append('functrace said: %s' % done.err.decode(errors='replace')[-600:])
    return problems, ''


CASES = [
    ("descriptors: functrace does not use the numbers of a preloaded library's", preloaded),
    ('descriptors: a python3 that is attached to', python_attached),
    ('descriptors: a python3 from its first instruction', python_launched),
    ('descriptors: leaks, by kind and with their lines', leaks),
    ('descriptors: close_range that the kernel refuses', refused),
    ('descriptors: close_range that fails in the middle', partly),
]
