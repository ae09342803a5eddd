"""Tests files whose content comes late while a program is traced: a debug file, a library. tests/targets/slowfile.c
mounts a file whose first read by functrace is answered after some seconds. The program measures its longest pause,
which is compared with this time. All reads of the file fail if the time is FAILS."""

import os
import re
import shutil
import signal
import time

import builds
import kinds
from lifecycle import need_attach
from outputs import equal
from processes import FUNCTRACE, Failure, wait_for
from words import has_line, said

LATE = 6  # seconds
NEVER = 600
FAILS = -1
TARGETS = os.path.join(os.environ['TOP_SRCDIR'], 'tests', 'targets')

# Mounts $1 over $2, delays reads by $3 seconds, and runs the remaining arguments.
SCRIPT = '''
./slowfile "$1" "$2" "$3" >slow 2>why & slow=$!
shift 3
while ! grep -q mounted slow && kill -0 $slow 2>/dev/null; do sleep 0.05; done
grep -q mounted slow || exit 77
"$@" & echo $! >pid
wait $!
status=$?
kill -9 $slow
exit $status
'''


def build(room, name, source, *options):
    made = room.run(builds.compiler() + ['-g', '-O0', *options, '-o', room.path(name), os.path.join(TARGETS, source)])
    if made.status:
        raise Failure(made.err.decode())
    return room.path(name)


def prepare(room, strip):
    """Builds the program, with its debug information in a separate file."""
    kinds.need('objcopy')
    kinds.need('unshare')
    build(room, 'slowfile', 'slowfile.c')
    program = build(room, 'prog', 'slowreads.c', '-ldl')
    debug = room.path('prog.debug')
    for command in (['objcopy', '--only-keep-debug', program, debug], ['objcopy', strip, program],
                    ['objcopy', '--add-gnu-debuglink=' + debug, program], ['cp', debug, debug + '.real']):
        made = room.run(command)
        if made.status:
            raise Failure(made.err.decode())
    return program, debug + '.real', debug


def mounted(source, over, late, *command):
    flag = '-m' if os.geteuid() == 0 else '-Urm'
    return ['unshare', flag, 'sh', '-c', SCRIPT, 'sh', source, over, str(late), *command]


def text_of(room, name):
    with open(room.path(name), errors='replace') as file:
        return file.read()


def skip_if_unmounted(room, status):
    if status == 77:
        raise builds.Skip('no file can be mounted here: %s' % text_of(room, 'why').strip())


def run(room, late, *command):
    done = room.run(mounted(*late, *command), timeout=120)
    skip_if_unmounted(room, done.status)
    return done, equal('status', done.status, 0)


def calls_of(out, late=LATE):
    """Returns how many calls the program has made; it must have run for most of the delay."""
    calls, longest = map(int, re.match(rb'(\d+) calls, (\d+) ms', out).groups())
    if longest * 2 >= late * 1000:
        return calls, ['the program waited for %d ms' % longest]
    return calls, []


def stacks_of(trace):
    """Returns the first line of each stack of the program's allocations, and checks the order of all calls."""
    stacks, indices = [], []
    for entry in trace.split('\n\n'):
        call = re.search(r'^(\d+)\. \[.*?\] (\S+?)\((\d*).*\n?((?:\t.*\n?)*)', entry, re.M)
        if not call:
            continue
        indices.append(int(call.group(1)))
        if call.group(3) == '31000':
            stacks.append([line for line in call.group(4).split('\n') if line.startswith('\t0x')])
    problems = [] if indices == list(range(1, len(indices) + 1)) else ['the order of events is %r' % indices[:20]]
    return stacks, problems


def names(room):
    """With -r all stacks have names in the end."""
    program, *late = prepare(room, '--strip-debug')
    done, problems = run(room, (*late, LATE), FUNCTRACE, '-f', 'text', '-r', '-o', 'trace', program, '2')
    calls, more = calls_of(done.out)
    stacks, others = stacks_of(text_of(room, 'trace'))
    problems += more + others + equal('stacks', len(stacks), calls)
    unnamed = [stack for stack in stacks if not re.search(r' in inner\(\) at .*slowreads\.c:\d+$', stack[0])]
    problems += equal('stacks without a name', unnamed, [])
    return problems + equal('the message about a late file',
                            'not found in time' in said(done), False), '%d calls' % calls


UNNAMED = (r'functrace: names of [1-9][\d,]* stacks? were not found in time: the trace has addresses instead, '
           r'which functrace-postproc -r names')


def has_addresses(room, calls):
    """All stacks have addresses instead of names, with a message; the file was never read."""
    stacks, problems = stacks_of(text_of(room, 'trace'))
    problems += equal('stacks', len(stacks), calls)
    problems += equal('the last stack', bool(re.fullmatch(r'\t0x[0-9a-f]+', stacks[-1][0])), True)
    problems += equal('said', len(re.findall('^%s$' % UNNAMED, text_of(room, 'said'), re.M)), 1)
    return problems + equal('answered', 'answered' in text_of(room, 'slow'), False)


def begun(room, late, *command):
    with open(room.path('said'), 'wb') as errors:
        return room.start(mounted(*late, *command), stderr=errors)


def wait_for_words(room, child, words):
    def are_there():
        if child.poll() is not None:
            skip_if_unmounted(room, child.returncode)
            raise Failure('the process ended with status %d: %s' % (child.returncode, text_of(room, 'said')))
        return words in text_of(room, 'said')
    wait_for(words, are_there)


def never(room):
    """With -r, if reads of the file are never answered, only functrace waits, until SIGTERM comes."""
    program, *late = prepare(room, '--strip-debug')
    child = begun(room, (*late, NEVER), FUNCTRACE, '-f', 'text', '-r', '-o', 'trace', program, '1')
    wait_for_words(room, child, 'names are still looked up')
    os.kill(int(text_of(room, 'pid')), signal.SIGTERM)
    done = room.finish(child, timeout=60)
    calls, problems = calls_of(done.out, NEVER)
    return problems + equal('status', done.status, 0) + has_addresses(room, calls), '%d calls' % calls


def duration(room):
    """The same with -r and --duration when functrace has attached; the program runs on."""
    need_attach()
    program, *late = prepare(room, '--strip-debug')
    # functrace must find the program, not the shell before it executes the program: that would have another trace.
    script = ('"$0" 0 >out & until grep -q prog /proc/$!/comm; do sleep 0.05; done; "$@" -t $!; status=$?; : >enough; '
              'wait $!; exit $status')
    child = begun(room, (*late, NEVER), 'sh', '-c', script, program, FUNCTRACE, '-f', 'text', '-r', '-o', 'trace',
                  '--duration=5s')
    done = room.finish(child, timeout=90)
    skip_if_unmounted(room, done.status)
    with open(room.path('out'), 'rb') as file:
        calls, problems = calls_of(file.read())
    traced = len(stacks_of(text_of(room, 'trace'))[0])
    problems += equal('calls are traced', 0 < traced <= calls, True)
    return problems + equal('status', done.status, 0) + has_addresses(room, traced), '%d calls' % traced


def attaching(room, script, status, words, late=NEVER):
    """functrace does not trace a program whose own file is not answered, or cannot be read, and prints these words; the
    program runs on."""
    need_attach()
    build(room, 'slowfile', 'slowfile.c')
    program = build(room, 'prog', 'slowreads.c', '-ldl')
    shutil.copy(program, program + '.real')
    child = begun(room, (program + '.real', program, late), 'sh', '-c',
                  script + ' "$@" -t $!; status=$?; : >enough; wait $!; exit $status', program, FUNCTRACE, '-o',
                  'trace')
    done = room.finish(child, timeout=90)
    skip_if_unmounted(room, done.status)
    with open(room.path('out'), 'rb') as file:
        calls, problems = calls_of(file.read())
    said = text_of(room, 'said')
    if len(re.findall('^%s$' % words, said, re.M)) != 1:
        problems.append('functrace printed: %s' % said)
    return problems + equal('status', done.status, status), '%d calls' % calls


SILENT = "its program's file could not be read in time, and that file says for which processor the program is made"


def attach(room):
    """functrace attaches after the process has executed that program."""
    script = '"$0" 0 >out & while ! grep -q prog /proc/$!/comm; do sleep 0.05; done;'
    return attaching(room, script, 1, r'functrace: cannot attach to process \d+: %s\. Try again when the file can be '
                     r'read\.' % SILENT)


def execute(room):
    """functrace is attached when the process executes that program, and detaches."""
    script = '(until grep -q "attached to" said; do sleep 0.05; done; exec "$0" 0) >out &'
    return attaching(room, script, 0, r'functrace: warning: process \d+ is not traced: %s' % SILENT)


def execute_failing(room):
    """The same with a program whose file functrace cannot read."""
    script = '(until grep -q "attached to" said; do sleep 0.05; done; exec "$0" 0) >out &'
    return attaching(room, script, 0, r"functrace: warning: process \d+ is not traced: its memory or its program's file "
                     r'cannot be read: Input/output error', FAILS)


def arguments(room):
    """With -a, calls from before the answer have no arguments, later calls have them."""
    program, *late = prepare(room, '--strip-debug')
    child = begun(room, (*late, LATE), FUNCTRACE, '-f', 'text', '-x', 'inner', '-a', '-o', 'trace', program, '0')
    wait_for('arguments in the trace', lambda: child.poll() is not None or (
        os.path.exists(room.path('trace')) and '= size=31000\n' in text_of(room, 'trace')))
    with open(room.path('enough'), 'w'):
        pass
    done = room.finish(child)
    skip_if_unmounted(room, done.status)
    problems = equal('status', done.status, 0)
    with open(room.path('said'), 'rb') as file:
        done.err = file.read()
    calls, more = calls_of(done.out)
    shown = re.findall(r'^\d+\. \[.*?\] inner\(.*\n(\t\$1 = size=31000\n)?', text_of(room, 'trace'), re.M)
    problems += more + equal('calls', len(shown), calls) + equal('the arguments of the first call', shown[0], '')
    problems += equal('the arguments of the last call', shown[-1], '\t$1 = size=31000\n')
    words = (r'functrace: warning: the debug information of \S+ takes long to read: arguments and results '
             r'of its functions are unknown until it is read')
    return problems + has_line(done, words), '%d calls' % calls


def functions(room):
    """With -x, functions that only the debug file names are not traced, and a message says so."""
    program, *late = prepare(room, '--strip-all')
    done, problems = run(room, (*late, LATE), FUNCTRACE, '-f', 'text', '-x', 'inner', '-o', 'trace', program, '1')
    calls, more = calls_of(done.out)
    words = (r'functrace: warning: the debug information of \S+ takes too long to read: patterns of -x do not find '
             r'functions whose names are only there\. .*')
    return problems + more + has_line(done, words), '%d calls' % calls


def stood(room):
    """The reported pause at attaching is not longer than the pause that the program sees: while files are read the
    program runs, and a request in that time is not delayed."""
    need_attach()
    program, *late = prepare(room, '--strip-all')
    # If the shell gets no CPU for so long that it never sees the tracer, it sees its messages.
    script = ('"$0" 0 - >out & traced=$!; until grep -q prog /proc/$traced/comm; do sleep 0.05; done; '
              '"$@" -t $traced & tracer=$!; '
              'while grep -q "^TracerPid:.0$" /proc/$traced/status && ! [ -s said ]; do sleep 0.2; done; sleep 0.2; '
              'kill -USR2 $tracer; wait $tracer; status=$?; : >enough; wait $traced; exit $status')
    child = begun(room, (*late, NEVER), 'sh', '-c', script, program, FUNCTRACE, '-e', 'memory', '-x', 'inner', '-o',
                  'trace', '-S', 'USR2', '--duration=1s')
    done = room.finish(child, timeout=90)
    skip_if_unmounted(room, done.status)
    with open(room.path('out'), 'rb') as file:
        calls, problems = calls_of(file.read())
        file.seek(0)
        longest = int(re.search(rb'(\d+) ms', file.read()).group(1))
    found = re.findall(r'process \d+ was stopped for ([\d.]+) ms(?:: it has|, but)', text_of(room, 'said'))
    problems += equal('pauses', len(found), 1)
    # 72 ms are a tenth of the time that functrace waits for a file that is not answered.
    if found and float(found[0]) > 2 * longest + 72:
        problems.append('functrace reports a pause of %s ms; the longest pause took %d ms' % (found[0], longest))
    return problems + equal('status', done.status, 0), '%s ms, %d ms' % (' '.join(found), longest)


PATIENCE = 2  # seconds for which functrace waits for its own processes at the end


def let_go_after(room, program, late):
    """Returns the seconds from SIGTERM to functrace's end, and the program's longest pause."""
    # The pid of functrace is in the file before functrace begins, and it is not that of an earlier round.
    script = ('rm -f enough; "$0" 0 >out & traced=$!; until grep -q prog /proc/$traced/comm; do sleep 0.05; done; '
              'sh -c \'echo $$ >tracer; exec "$@"\' sh "$@" -t $traced & wait $!; echo $? >over; : >enough; wait')
    child = begun(room, (*late, NEVER), 'sh', '-c', script, program, FUNCTRACE, '-x', 'inner', '-o', 'trace')
    wait_for_words(room, child, 'attached to')
    asked = time.monotonic()
    os.kill(int(text_of(room, 'tracer')), signal.SIGTERM)
    wait_for('the end of functrace', lambda: os.path.exists(room.path('over')))
    took = time.monotonic() - asked
    room.finish(child, timeout=60)
    problems = equal('status', text_of(room, 'over').strip(), '0')
    os.unlink(room.path('over'))
    with open(room.path('out'), 'rb') as file:
        return took, problems + calls_of(file.read())[1]


def let_go(room):
    """A request to detach while a file is not answered: functrace does not wait for the thread that reads it."""
    need_attach()
    program, *late = prepare(room, '--strip-all')
    times, problems = [], []
    while not problems and len(times) < 4 and not (times and times[-1] < PATIENCE):
        took, problems = let_go_after(room, program, late)
        times.append(took)
    if not problems and times[-1] >= PATIENCE:
        problems.append('detaching took %s s each time' % times)
    return problems, '%d times' % len(times)


def library(room):
    """A library that is loaded while the program is traced: its exported functions are found in memory."""
    program, *_ = prepare(room, '--strip-debug')
    with open(room.path('library.c'), 'w') as file:
        file.write('__attribute__((noinline)) void library_function(void) { __asm__ volatile("" ::: "memory"); }\n')
    made = room.run(builds.compiler() + ['-shared', '-fPIC', '-o', room.path('library.real'), room.path('library.c')])
    if made.status:
        raise Failure(made.err.decode())
    shutil.copy(room.path('library.real'), room.path('library.so'))
    late = (room.path('library.real'), room.path('library.so'), LATE)
    done, problems = run(room, late, FUNCTRACE, '-f', 'text', '-x', 'library_function', '-x', 'inner', '-o', 'trace',
                         program, '2', room.path('library.so'))
    calls, more = calls_of(done.out)
    trace = text_of(room, 'trace')
    problems += more + equal('calls', len(re.findall(r'\] inner\(', trace)), calls)
    problems += equal('calls of the library', len(re.findall(r'\] library_function\(', trace)), 1)
    words = (r'functrace: warning: \S+/library\.so is read from the process\'s memory, not from the file: reading it '
             r'takes too long\. Functions with names only in \.symtab are not traced\. .*')
    return problems + has_line(done, words), '%d calls' % calls


def attached(room):
    """--copy-file with a file that is not answered: another process, which is still traced, does not wait."""
    program, _, debug = prepare(room, '--strip-debug')
    shutil.copy(debug, room.path('notes'))
    late = (debug, room.path('notes'), NEVER)
    done, problems = run(room, late, FUNCTRACE, '-o', 'trace-', '--copy-file=notes=' + room.path('notes'), 'sh', '-c',
                         '/bin/true; "$0" 3; :', program)
    calls, more = calls_of(done.out, LATE)
    words = r'functrace: warning: \S+/notes is not attached to the trace of process \d+: reading it takes too long'
    return problems + more + has_line(done, words), '%d calls' % calls


CASES = [
    ('names from a debug file that is read late', names),
    ('names from a file that is never answered', never),
    ('names, with --duration', duration),
    ('attaching to a program whose file is never answered', attach),
    ('a traced process executes a program whose file is never answered', execute),
    ('a traced process executes a program whose file cannot be read', execute_failing),
    ('arguments are shown after a late debug file was read', arguments),
    ('functions that only a late debug file names are not traced', functions),
    ('the reported pause at attaching', stood),
    ('detaching does not wait for a file that is never answered', let_go),
    ('functions of a library that is read late are found in memory', library),
    ('no other process waits for a --copy-file that is never answered', attached),
]
