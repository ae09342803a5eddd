"""Tests -x, by which the user chooses functions: which functions are found, how their calls are recorded, and which
messages are printed about others."""

import os
import re
import shutil
import sys

import builds
import kinds
import trace_text
from kinds import Scenario
from outputs import equal
from processes import FUNCTRACE, Failure
from words import compiled, has_line, said

ALL = ('O0', 'O2', 'O2-noframe', 'no-pie', 'static', 'static-pie', 'no-plt', 'z-now', 'cet', 'one-segment', 'gold', 'lld',
       'mold', 'clang', 'musl', 'musl-static', 'm32', 'm32-O0', 'm32-no-pie', 'm32-static', 'm32-cet', 'branch-protection',
       'arm', 'thumb', 'arm-O0', 'arm32', 'arm32-arm', 'arm32-static')
LIST = ('leaf;f?ctorial@main;[a-k]ops;jumps;lands@chosen;try_*;leaves;deeper;*_name;within;by_pointer;makes;'
        'returns_nothing;allocates;leaf')
# The calls in the order of their returns. None as a result matches any: the function returns nothing.
CALLS = [('leaf', 6), ('factorial', 1), ('factorial', 2), ('factorial', 6), ('factorial', 24), ('lands', 4), ('hops', 4),
         ('jumps', 4), ('deeper', 20), ('leaves', 21), ('try_leaving', 21), ('short_name', 101), ('short_name', 102),
         ('within', 2), ('by_pointer', 9), ('within', 4), ('by_pointer', 11), ('makes', None),
         ('returns_nothing', None), ('allocates', 2)]
CLASSES = 'shop::*;throws;passes(long);catches'
METHODS = [('shop::price(int)', 5), ('shop::price(char const*, long)', 100), ('long shop::twice<int>(int)', 42),
           ('long shop::twice<long>(long)', 44), ('shop::(anonymous namespace)::hidden(long)', 8),
           ('shop::Parser::Parser(long)', None), ('shop::FastParser::parse(int)', 51),
           ('shop::Parser::parse(long, long) const', 13), ('shop::Parser::limit()', 1000),
           ('shop::Parser::operator()(long)', 3), ('shop::Parser::operator[](long) const', 4),
           ('shop::Parser::operator==(long) const', 1), ('shop::Parser::~Parser()', None),
           ('throws(long)', 1), ('passes(long)', 2), ('catches(long)', 2), ('catches(long)', 20), ('catches(long)', 30)]


def calls_of(trace):
    """Returns [(name, result)] of the calls of chosen functions. If the trace has several kinds, their suffix
    <function> is removed."""
    several = len(trace.kinds) > 1
    return [(event.function[:-len('<function>')] if several else event.function, event.id) for event in trace.events
            if not several or event.function.endswith('<function>')]


def compare(found, expected):
    """Compares the calls in their order; the expectation None matches any result."""
    unknown = {name for name, result in expected if result is None}
    known = [(name, None if name in unknown else result) for name, result in found]
    return equal('calls', known, expected)


def check(expected):
    # Compilers differ in how they call constructors and destructors of derived classes.
    def compare_calls(_, traces):
        found = [call for trace in traces for call in calls_of(trace) if 'FastParser::' not in call[0] or 'parse' in call[0]]
        return compare([(name, result & 0xff if 'operator==' in name else result) for name, result in found], expected)
    return compare_calls


class Everything(Scenario):
    """Every function is traced together with memory, whose blocks are the same as without -x."""

    def __init__(self, *args, **fields):
        super().__init__(*args, options=('-b', '0', '-x', '*'), names=False, **fields)

    def judge(self, room, *args, **fields):
        # The target prints its functions without their types.
        for name in os.listdir(room.path('traces')):
            path = room.path('traces', name)
            with open(path, errors='surrogateescape') as file:
                text = file.read()
            with open(path, 'w', errors='surrogateescape') as file:
                file.write(text.replace('<memory>(', '('))
        return super().judge(room, *args, **fields)


SCENARIOS = [
    Scenario('chosen', variants=ALL, options=('-x', LIST), check=check(CALLS)),
    Scenario('chosen', variants=('O2',), modes=('binary', 'nofollow'), options=('-x', LIST), check=check(CALLS),
             label='chosen/file'),
    Scenario('chosen', variants=('O2',), options=('-b', '0', '-x', LIST), check=check(CALLS), label='chosen without stacks'),
    Scenario('chosen_classes', variants=('O0', 'O2', 'no-pie', 'static', 'cet', 'm32', 'm32-O0', 'arm32'),
             options=('-x', CLASSES), check=check(METHODS)),
    Everything('threads', (4, 20), variants=('O2', 'static'), label="threads, -x '*'"),
    Everything('forks', ('tree',), files=9, variants=('O2',), label="forks tree, -x '*'"),
    Everything('throwing', variants=('O2',), label="throwing, -x '*'"),
    Everything('recursion', (500,), variants=('O2',), label="recursion, -x '*'"),
]


# ---- Which functions are found ----

def traced(room, functions, command, *options):
    """Launches a program. Returns the calls in its first trace, and the command's result."""
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'trace', '-x', functions] + list(options) + command)
    trace = trace_text.read(room.path('trace'))
    if done.status or trace.problems:
        raise Failure('status %d: %s %s' % (done.status, trace.problems, said(done)))
    return calls_of(trace), done


def names(calls):
    return [name for name, _ in calls]


def patterns(room):
    """Which names each pattern matches."""
    program = [builds.target('chosen_classes', 'O2')]
    problems = []
    for functions, expected in (
            ('shop::price', ['shop::price(int)', 'shop::price(char const*, long)']),
            ('shop::price(int)', ['shop::price(int)']),
            ('*price(char*', ['shop::price(char const*, long)']),
            ('_ZN4shop5priceEi', ['shop::price(int)']),
            ('_ZN4shop5price*', ['shop::price(int)', 'shop::price(char const*, long)']),
            ('price', []),
            ('shop::twice<long>', ['long shop::twice<long>(long)']),
            ('shop::(anonymous namespace)::*', ['shop::(anonymous namespace)::hidden(long)']),
            ('*::hidden', ['shop::(anonymous namespace)::hidden(long)']),
            ('shop::Parser::operator[]', ['shop::Parser::operator[](long) const']),
            ('shop::Parser::operator()', ['shop::Parser::operator()(long)']),
            ('shop::Parser::operator==', ['shop::Parser::operator==(long) const']),
            ('*::parse', ['shop::FastParser::parse(int)', 'shop::Parser::parse(long, long) const']),
            ('*::parse(*) const@chosen_classes', ['shop::Parser::parse(long, long) const']),
            ('*::parse@libstdc++', [])):
        problems += equal(functions, names(traced(room, functions, program)[0]), expected)
    return problems, ''


def from_a_file(room):
    """-x @FILE with comments, together with names on the command line."""
    with open(room.path('list'), 'w') as file:
        file.write('# of the target\n  leaf   # the first\n\njumps;hops\n')
    calls = traced(room, '@list;by_pointer', [builds.target('chosen', 'O2')])[0]
    return compare(calls, [c for c in CALLS if c[0] in ('leaf', 'hops', 'jumps', 'by_pointer')]), ''


def symbols_of(room, *command):
    """Returns {name: address}, as nm prints them."""
    kinds.need(builds.NM[0])
    found = {}
    for line in room.run([*builds.NM, *command]).out.decode().splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in 'tTwW':
            found[words[2].split('@')[0]] = words[0]
    return found


def addresses(room):
    """NAME=ADDRESS and OBJECT!0xOFFSET: in a stripped program, in a library, and inside a function."""
    kinds.need('objcopy')
    problems = []
    for variant in ('O2', 'no-pie'):
        program, bare = builds.target('chosen', variant), room.path('bare-' + variant)
        address = symbols_of(room, program)
        room.run(['objcopy', '--strip-all', program, bare])
        calls, done = traced(room, 'mine=%s;bare!0x%s;main!0x%s;my_hop=bare-%s!0x%s' % (
            address['leaf'], address['lands'], address['jumps'], variant, address['hops']), [bare])
        start = '%s!0x%x'
        problems += compare(calls, [('mine', 6), (start % (os.path.basename(bare), int(address['lands'], 16)), 4), ('my_hop', 4),
                                    (start % (os.path.basename(bare), int(address['jumps'], 16)), 4)])
        problems += equal('warnings', re.findall('nothing matched', said(done)), [])
        # If a symbol has the address, its name is shown.
        problems += compare(traced(room, '!0x' + address['leaf'], [program])[0], [('leaf', 6)])
        inside = int(address['factorial'], 16) + 1
        calls, done = traced(room, '!0x%x;leaf;!0x7fffffff' % inside, [program])
        problems += compare(calls, [('leaf', 6)])
        problems += has_line(done, 'functrace: warning: address 0x%x of %s is not traced: no function begins there, the '
                             "address is inside the function at 0x%x; give the function's address in the file, as nm or objdump print it" % (
                                 inside, re.escape(program), inside - 1))
        problems += has_line(done, 'functrace: warning: %s has no code at 0x7fffffff: .*' % re.escape(program))
        problems += has_line(done, 'functrace: not traced: 2 patterns that matched nothing')
    library = builds.library()
    address = symbols_of(room, library)
    calls = traced(room, 'in_there=liblibrary.so!' + address['library_work'],
                   [builds.target('loading', 'O2'), library, '3'])[0]
    return problems + compare(calls, [('in_there', 1)] * 3), ''


def loaded_later(room):
    """Functions of a library that is loaded, unloaded and loaded again; with -L; and NAME@OBJECT."""
    program = [builds.target('loading', 'O2'), builds.library(), '3']
    problems = []
    for options, functions, expected in (
            ((), 'library_*;work_between', ['work_between'] + ['library_work', 'work_between'] * 3),
            (('-L', 'liblibrary'), 'library_*;work_between', ['library_work'] * 3),
            ((), '*work*@liblibrary', ['library_work'] * 3),
            ((), '*work*@main', ['work_between'] * 4)):
        calls, done = traced(room, functions, program, *options)
        problems += equal('%s %s' % (functions, options), names(calls), expected)
        problems += equal('the message that no name matched', 'nothing matched' in said(done), '-L' in options)
    return problems, ''


def debug_files(room):
    """The static functions of a stripped program are found in its debug file (.gnu_debuglink), beside the program or in
    .debug. A debug file of another build is ignored."""
    kinds.need('objcopy')
    program, bare, debug = builds.target('chosen', 'O2'), room.path('bare'), room.path('bare.debug')
    for command in (['objcopy', '--only-keep-debug', program, debug],
                    ['objcopy', '--strip-all', '--add-gnu-debuglink=' + debug, program, bare]):
        made = room.run(command)
        if made.status:
            raise Failure(made.err.decode())
    functions = LIST.replace('@chosen', '')
    calls, done = traced(room, functions + ';not_there_at_all', [bare])
    problems = compare(calls, CALLS)
    problems += has_line(done, "functrace: warning: nothing matched -x 'not_there_at_all': 'nm -C FILE' lists .*")
    os.mkdir(room.path('.debug'))
    os.rename(debug, room.path('.debug', 'bare.debug'))
    problems += compare(traced(room, functions, [bare])[0], CALLS)
    other = builds.target('chosen', 'O0')
    room.run(['objcopy', '--only-keep-debug', other, room.path('.debug', 'bare.debug')])
    calls, done = traced(room, 'leaf;no::such::*', [bare])
    problems += equal('the calls without a debug file', calls, [])
    for name in ('leaf', r'no::such::\*'):
        problems += has_line(done, "functrace: warning: nothing matched -x '%s': %s is stripped, so that only exported "
                             r"functions have names \('nm -DC FILE' lists them\), and no debug file of it was found. Give a "
                             "function's address: -x NAME=ADDRESS" % (name, re.escape(bare)))
    return problems + has_line(done, 'functrace: not traced: 2 patterns that matched nothing'), ''


def of_a_module_too(room):
    """malloc is traced both as an allocation and as a call; the same holds for the pool functions of a program."""
    program = builds.target('chosen', 'O2')
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'trace', '-e', 'memory', '-x', 'malloc;free;allocates', program])
    events = [(e.function, e.size) for e in trace_text.read(room.path('trace')).events]
    at = events.index(('malloc<memory>', 30601))
    around = [name for name, size in events[at - 1:] if size in (0, 30601)]
    problems = equal('events', sorted(around[:3]), ['free<memory>', 'malloc<function>', 'malloc<memory>'])
    problems += equal('all', [around.count(name + kind) for kind in ('<memory>', '<function>') for name in ('malloc', 'free')],
                      [2, 2, 2, 2])
    return problems + has_line(done, r'functrace: process \d+ \(chosen-O2\): \d+ events; 0 blocks with 0 bytes are live; trace: '
                               'trace'), ''


RESULTS = r'''
#include <stdint.h>
struct two { double d; long l; };
struct one { int i; };
struct many { long a[8]; };
volatile long sink = -1;
volatile double number = 1.5;

#define CALLED __attribute__((noinline)) __attribute__((noclone))
CALLED void r_void(void) { sink = sink * 3; }
CALLED float r_float(void) { sink--; return (float)number; }
CALLED double r_double(void) { sink--; return number; }
CALLED long double r_long_double(void) { sink--; return (long double)number; }
CALLED _Complex double r_complex(void) { sink--; return number + 2.5i; }
CALLED struct two r_two(void) { sink--; return (struct two){number, 7}; }
CALLED struct one r_one(void) { sink--; return (struct one){7}; }
CALLED struct many r_many(void) { sink--; return (struct many){{1, 2, 3, 4, 5, 6, 7, 8}}; }
CALLED int8_t r_int8(void) { sink--; return -2; }
CALLED int r_int(void) { sink--; return -2; }
CALLED _Bool r_bool(void) { sink = 0x12345678; return sink != 0; }
CALLED const void *r_pointer(void) { sink--; return (const void *)0x1234; }
CALLED uintptr_t r_word(void) { sink--; return ~(uintptr_t)4; }
__attribute__((noinline)) static int r_static(int value) { sink--; return value; }

int main(void)
{
	r_void(), r_float(), r_double(), r_long_double(), r_complex();
	r_two(), r_one(), r_many();
	r_int8(), r_int(), r_bool(), r_pointer(), r_word();
	return r_static((int)sink & 1) > 1;
}
'''


def results(room):
    """A numeric result is as wide as its type. A function that does not return, or returns nothing, a float or a
    struct, has the result 0, not the value of a register."""
    program, problems = compiled(room, 'results', RESULTS), []
    expected = [('r_void', 0), ('r_float', 0), ('r_double', 0), ('r_long_double', 0), ('r_complex', 0), ('r_two', 0), ('r_one', 0),
                ('r_many', 0), ('r_int8', 0xfe), ('r_int', 0xfffffffe), ('r_bool', 1), ('r_pointer', 0x1234),
                ('r_word', (1 << (64 if sys.maxsize > 1 << 32 else 32)) - 5)]
    for options in ([], ['-a']):
        found, _ = traced(room, 'r_*@main', [program], '-b', '0', *options)
        problems += equal('results %s' % options, [call for call in found if call[0] != 'r_static'], expected)
    with open(room.path('trace')) as file:
        shown = dict(re.findall(r'^\d+\. \[.*?\] (\w+)\(0\) = .*\n\t\$\d = return=(.*)$', file.read(), re.M))
    problems += equal('-a', {name: shown.get(name) for name in ('r_void', 'r_float', 'r_double', 'r_long_double', 'r_two', 'r_one')},
                      {'r_void': None, 'r_float': '1.5', 'r_double': '1.5', 'r_long_double': '1.5',
                       'r_two': '{d=1.5, l=7}', 'r_one': '{i=7}'})
    return problems, ''


def unknown_results(room):
    """Without debug information the result is the register's value, and the trace says that its type is unknown."""
    compiled(room, 'results', RESULTS)
    made = room.run(builds.compiler() + ['-O1', '-o', room.path('bare'), room.path('results.c')])
    if made.status:
        raise Failure(made.err.decode())
    found, _ = traced(room, 'r_pointer;r_int;r_void', [room.path('bare')], '-b', '0')
    notes = [note for note in trace_text.read(room.path('trace')).notes if note.startswith('the type of the result of')]
    problems = equal('results', [(name, result & 0xffffffff) for name, result in found if name != 'r_void'],
                     [('r_int', 0xfffffffe), ('r_pointer', 0x1234)])
    return problems + equal('notes', notes, ['the type of the result of r_void is unknown, and perhaps also the types of other functions\' results: a result of unknown type is shown as the whole register that returns integers']), ''


LOST = r'''
#include <stdio.h>
static __attribute__((noinline)) int dropped(int a, int b) { printf("%d %d\n", a, b); return a * 1000 + b; }
int main(int count, char **arguments) { (void)arguments; dropped(count, 2); return 0; }
'''


def lost_results(room):
    """The compiler leaves out the result of a static function that no caller uses; the trace says that the shown result
    may be another value."""
    with open(room.path('dropped.c'), 'w') as file:
        file.write(LOST)
    unknown = ('the type of the result of %s is unknown, and perhaps also the types of other functions\' results: a result of unknown type '
               'is shown as the whole register that returns integers')
    lost = ('the shown result of %s may be wrong, and perhaps also the results of other functions: the compiler leaves out a '
            'result that no caller uses')
    problems = []
    for compiler, function, notes in (('gcc', r'dropped\.constprop\.0\.isra\.0|dropped\.isra\.0', (unknown,)), ('clang', 'dropped', (lost,))):
        if not shutil.which(compiler):
            continue
        made = room.run([compiler, '-g', '-O2', '-o', room.path('dropped'), room.path('dropped.c')])
        if made.status:
            raise Failure(made.err.decode())
        found, _ = traced(room, 'dropped*', [room.path('dropped')], '-b', '0')
        name = found[0][0] if found else ''
        said = [note for note in trace_text.read(room.path('trace')).notes if ' result of ' in note]
        problems += [] if re.fullmatch(function, name) else ['%s: the calls are %s' % (compiler, found)]
        problems += equal(compiler, said, [note % name for note in notes])
    return problems, ''


CONVENTION = '''
volatile long sink;
__attribute__((ms_abi)) __attribute__((noinline)) long other(long a, long b) { sink = a; return b; }
__attribute__((noinline)) long usual(long a, long b) { sink = a; return b; }

int main(void) { other(41, 42); usual(43, 44); return 0; }
'''


def other_conventions(room):
    """Clang's debug information says that a function has another calling convention. Then the places of its arguments
    are unknown."""
    if builds.processor() != 'x86_64':
        raise builds.Skip('ms_abi is of x86-64')
    kinds.need('clang')
    with open(room.path('convention.c'), 'w') as file:
        file.write(CONVENTION)
    made = room.run(['clang', '-g', '-O0', '-o', room.path('convention'), room.path('convention.c')])
    if made.status:
        raise Failure(made.err.decode())
    traced(room, 'other;usual', [room.path('convention')], '-b', '0', '-a')
    with open(room.path('trace')) as file:
        found = re.findall(r'^\t\$\d = (.*)$', file.read(), re.M)
    return equal('arguments', found, ['a=<unknown place>', 'b=<unknown place>', 'a=43', 'b=44', 'return=44']), ''


def left(room):
    """Calls that end by longjmp or an exception are counted, and have no event."""
    problems = []
    for target, functions, calls, count in (('chosen', 'leaves;deeper', [('deeper', 20), ('leaves', 21)], 2),
                                            ('chosen_classes', 'throws;passes', [('throws(long)', 1), ('passes(long)', 2)], 4)):
        for variant in ('O0', 'O2'):
            found, done = traced(room, functions, [builds.target(target, variant)])
            problems += compare(found, calls)
            problems += has_line(done, r'functrace: %d calls ended without a return \(an exception, longjmp\)' % count)
    return problems, ''


# ---- Messages ----

def nothing_matched(room):
    """Names that match nothing are listed, with advice; if there are many, they are counted."""
    program = builds.target('chosen', 'O0')
    calls, done = traced(room, 'leaf;Parser::*;leaf@nowhere;abs@nowhere', [program])
    problems = compare(calls, [('leaf', 6)])
    problems += has_line(done, r"functrace: warning: nothing matched -x 'Parser::\*': 'nm -C FILE' lists the names in a file, "
                         r"'nm -DC FILE' the exported names; a function that is inlined everywhere is never called "
                         r'\(-fno-inline prevents that\)')
    problems += has_line(done, "functrace: warning: nothing matched -x 'leaf@nowhere': no object has nowhere in its path")
    problems += has_line(done, 'functrace: not traced: 3 patterns that matched nothing')
    calls, done = traced(room, ';'.join('no_%d' % i for i in range(20)), [program])
    problems += equal('named', re.findall(r"-x 'no_(\d+)'", said(done)), [str(i) for i in range(8)])
    problems += has_line(done, 'functrace: not traced: 20 patterns that matched nothing')
    # A child of a shell has a function of that name.
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'trace', '-x', 'leaf', 'sh', '-c', program + '; true'])
    return problems + equal('warnings if a child has the function', said(done).count('warning'), 0), ''


FULL = '''
#define TRAPS(n) __attribute__((noinline)) void own_trap_##n(void) { __asm__ volatile("int3"); }
TRAPS(0) TRAPS(1) TRAPS(2) TRAPS(3) TRAPS(4) TRAPS(5) TRAPS(6) TRAPS(7) TRAPS(8) TRAPS(9)
__attribute__((noinline)) int good(void) { __asm__ volatile(""); return 3; }
int main(void) { return good() - 3; }
'''


def many_failures(room):
    """Functions that begin with a trap instruction of their own cannot be probed: the first ones are named, and all are
    counted."""
    if builds.processor() != 'x86_64':
        raise builds.Skip('the functions of the target are in assembly of x86-64')
    program = compiled(room, 'traps', FULL, '-O2', '-fomit-frame-pointer', '-fcf-protection=none')
    calls, done = traced(room, 'own_trap_*;good', [program])
    problems = compare(calls, [('good', 3)])
    named = re.findall(r'warning: own_trap_\d in \S+ is not traced: no breakpoint can be set there', said(done))
    problems += equal('named', len(named), 8)
    return problems + has_line(done, 'functrace: not traced: 10 functions in which no breakpoint could be set'), ''


DATA = '''
#include <stdio.h>
extern const unsigned table_in_text[4];
__asm__(".text\\n.balign 16\\n.globl table_in_text\\ntable_in_text: .long 0x1000, 0x200, 0x30, 4\\n.previous\\n");
__attribute__((noinline)) unsigned summed(void)
{
	unsigned sum = 0;
	for (int i = 0; i < 4; i++)
		sum += ((volatile const unsigned *)table_in_text)[i];
	return sum;
}
int main(void)
{
	printf("%x\\n", summed());
	return 0;
}
'''


def data_in_text(room):
    """A symbol without a type may be data; patterns do not match it."""
    program = compiled(room, 'tables', DATA)
    calls, done = traced(room, '*@main', [program])
    return equal('output', done.out, b'1234\n') + equal('a call', ('summed', 0x1234) in calls, True), ''


# ---- Everything ----

def unharmed(command, functions='*'):
    """A program whose functions are all traced behaves as it does untraced."""
    def run(room):
        words = command()
        plain = room.run(words)
        os.makedirs(room.path('traces'))
        done = room.run([FUNCTRACE, '-b', '0', '--verify', '-o', 'traces', '-x', functions] + words)
        problems = kinds.compare_runs(plain, done)
        problems += equal('verified', re.findall('differs', said(done)), [])
        events = sum(int(n.replace(',', '')) for n in re.findall(r'\): ([\d,]+) events?', said(done)))
        problems += [] if events > 20 else ['only %d events: %s' % (events, said(done))]
        return problems, '%d events' % events
    return run


def listing():
    path = kinds.need('ls')
    if kinds.is_busybox(path):
        raise builds.Skip('ls is busybox, which is stripped and exports nothing')
    return [path, '-l', builds.SOURCES]


def script():
    return [sys.executable, '-S', '-E', '-c', 'print(sorted(str(i) for i in range(20))[3])']


BUILDS = [(target, variant) for target in ('chosen', 'chosen_classes') for variant in ('O0', 'O2')]

CASES = [
    ('-x: patterns', patterns),
    ('-x: @FILE', from_a_file),
    ('-x: addresses', addresses),
    ('-x: a library that is loaded later, -L, NAME@OBJECT', loaded_later),
    ('-x: separate debug files', debug_files),
    ('-x: functions that a module traces, too', of_a_module_too),
    ('-x: results by their types', results),
    ('-x: results of unknown type', unknown_results),
    ('-x: results that the compiler leaves out', lost_results),
    ('-x: functions with other calling conventions', other_conventions),
    ('-x: calls that end by longjmp or an exception', left),
    ('-x: names that match nothing', nothing_matched),
    ('-x: functions that cannot be probed', many_failures),
    ('-x: data in the text segment', data_in_text),
    ("-x '*': ls", unharmed(listing)),
    ("-x '*': threads", unharmed(lambda: [builds.target('threads', 'O2'), '4', '10'])),
    ("-x '*': threads, static", unharmed(lambda: [builds.target('threads', 'static'), '4', '10'])),
    ("-x '*': threads, musl", unharmed(lambda: [builds.target('threads', 'musl'), '4', '10'])),
    ("-x '*': threads, musl, static", unharmed(lambda: [builds.target('threads', 'musl-static'), '4', '10'])),
    ("-x '*': exceptions", unharmed(lambda: [builds.target('chosen_classes', 'O2')])),
    ("-x '*': exceptions, static", unharmed(lambda: [builds.target('chosen_classes', 'static')])),
    ("-x '*': a handler of SIGTRAP", unharmed(lambda: [builds.target('sigtrap', 'static'), 'handler'])),
    ("-x '*': handlers of SIGTRAP, blocked", unharmed(lambda: [builds.target('sigtrap', 'static'), 'at-once'])),
    ("-x '*': vfork", unharmed(lambda: [builds.target('forks', 'O2'), 'vfork'])),
    ("-x 'PyUnicode_*': python3", unharmed(script, 'PyUnicode_*')),
    ("-x '*': coroutines", unharmed(lambda: [builds.target('coroutines', 'O2')])),
]
