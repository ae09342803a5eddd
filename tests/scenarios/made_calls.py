"""Tests -a on generated programs of calls (tests/generate/calls.py), built by several compilers at all levels of
optimisation: each value in the trace must be the value that the caller logs, or be marked as unknown. Without
optimisation debug information is right at each function's entry, so each value is shown for which the ABI has a fixed
place."""

import re

import builds
import kinds
import made
from processes import FUNCTRACE

FUNCTIONS = 100  # functions of a program; tests/long/call_values.py has larger programs, other seeds and all builds
CALL = re.compile(r'\d+\. (?:@\w+ )?(?:\[[\d:.]+\] )?((?:box::|shape::)?[fm]\d+)(\.\w[.\w]*|.*\[clone )?[<(:.]')
# Suffixes that link time optimisation adds to names.
ADDED = re.compile(r'\.lto_priv\.\d+| \[clone \.lto_priv\.\d+\]|\.llvm\.\d+')
# Texts that may replace a value, or a part of one.
NOT_KNOWN = re.compile('<optimised out>|<unknown place>')

# name: (C compiler, C++ compiler, flags)
GCC, CLANG = (['gcc'], ['g++']), (['clang'], ['clang++'])
BUILDS_OF_CALLS = {
    'gcc -O0': (GCC, ['-O0']),
    'gcc -O1': (GCC, ['-O1']),
    'gcc -O2': (GCC, ['-O2']),
    'gcc -O3': (GCC, ['-O3']),
    'gcc -O3 -flto': (GCC, ['-O3', '-flto']),
    'gcc -O2 -gdwarf-3': (GCC, ['-O2', '-gdwarf-3']),
    'gcc -O0 -m32': (GCC, ['-O0'] + builds.THIRTY_TWO),
    'gcc -O2 -m32': (GCC, ['-O2'] + builds.THIRTY_TWO),
    'clang -O0': (CLANG, ['-O0']),
    'clang -O1': (CLANG, ['-O1']),
    'clang -O2': (CLANG, ['-O2']),
    'clang -O3': (CLANG, ['-O3']),
    'clang -O3 -flto': (CLANG, ['-O3', '-flto', '-fuse-ld=lld']),
    'clang -O2 -gdwarf-3': (CLANG, ['-O2', '-gdwarf-3']),
    'clang -O0 -m32': (CLANG, ['-O0'] + builds.THIRTY_TWO),
    'clang -O2 -m32': (CLANG, ['-O2'] + builds.THIRTY_TWO),
}
IN_CHECK = ('gcc -O0', 'gcc -O2', 'gcc -O3 -flto', 'gcc -O2 -m32', 'clang -O0', 'clang -O1', 'clang -O2', 'clang -O3 -flto')
LANGUAGES = ('c', 'cpp')


def program(name, language, seed, functions=FUNCTIONS):
    compilers, flags = BUILDS_OF_CALLS[name]
    command = compilers[LANGUAGES.index(language)]
    return builds.calls(language, seed, functions, command + (['-std=gnu++17'] if language == 'cpp' else []) + flags, name)


def said(path):
    """Returns {function: [{name: value} of a call]} from the callers' log."""
    functions = {}
    with open(path, errors='surrogateescape') as file:
        for line in file.read().split('\n')[:-1]:
            name, _, text = line.partition('\t')
            if text == 'call':
                functions.setdefault(name, []).append({})
            else:
                functions[name][-1].update([text.split('=', 1)])
    return functions


def shown(path):
    """Returns the same dictionary from a text trace."""
    functions, current = {}, None
    with open(path, errors='surrogateescape') as file:
        for line in file.read().split('\n'):
            call, argument = CALL.match(line), made.ARGUMENT.match(line)
            if call:
                current = {}
                # A function with the suffix .part is a part that the compiler has separated from another function. A
                # call of it is not counted as a call of that function.
                if '.part.' not in line:
                    functions.setdefault(call.group(1), []).append(current)
            elif argument and current is not None:
                current.update([argument.group(1).split('=', 1)] if '=' in argument.group(1) else [])
    return functions


class Count:
    """Counts how many values were compared."""

    def __init__(self):
        self.signatures = self.values = self.unknown = 0
        self.wrong = []

    def value(self, where, wanted, found):
        self.values += 1
        found = ADDED.sub('', found)
        if found == wanted:
            return
        self.unknown += 1
        # A struct may have some unknown members.
        pattern = '.*'.join(re.escape(part) for part in NOT_KNOWN.split(found))
        if not NOT_KNOWN.search(found) or not re.fullmatch(pattern, wanted, re.DOTALL):
            self.wrong.append('%s=%s is shown as %s' % (where, wanted, found))

    def function(self, name, wanted, found):
        self.signatures += 1
        if len(wanted) != len(found):
            self.wrong.append('%s: the trace has %d calls, expected %d' % (name, len(found), len(wanted)))
        for calls in zip(wanted, found):
            for key, value in calls[0].items():
                if key in calls[1]:
                    self.value('%s: %s' % (name, key), value, calls[1][key])
                else:
                    self.unknown += 1
            self.wrong += ['%s: %s=%s is shown, it has no such' % (name, key, calls[1][key]) for key in calls[1] if key not in calls[0]]

    def text(self):
        return '%d signatures, %d values, %d of these not known, %d wrong' % (
            self.signatures, self.values, self.unknown, len(self.wrong))


def compare(room, path, count, tag='', options=()):
    """Traces one program and counts the values that are shown. Returns problems other than wrong values."""
    trace, log = room.path('trace' + tag), room.path('said' + tag)
    traced = room.run([FUNCTRACE, '-a', '-x', 'f[0-9]*;box::m*;shape::m*', '-f', 'text', '-b', '0', '-o', trace, *options, path, log])
    if traced.status:
        return ['status %d: %r' % (traced.status, traced.err[-300:])]
    wanted, found = said(log), shown(trace)
    for name, calls in wanted.items():
        count.function(name, calls, found.get(name, []))
    return []


def scenario(name, seed):
    def run(room):
        count, problems = Count(), []
        for language in LANGUAGES:
            problems += compare(room, program(name, language, seed), count, language)
        if count.signatures < FUNCTIONS * len(LANGUAGES):
            problems.append('only %d signatures' % count.signatures)
        return (problems + count.wrong)[:20], count.text()
    return run


WIDE = '''
use std::hint::black_box;
use std::num::NonZeroU128;
#[inline(never)]
pub fn wide(a: &Option<u128>, b: Option<u128>, c: &Option<NonZeroU128>) -> i32 { black_box(a); black_box(b); black_box(c); 1 }
fn main() {
    black_box(wide(&None, None, &None));
    black_box(wide(&Some(3), Some(4), &NonZeroU128::new(1 << 64)));
}
'''


def wide_discriminants(room):
    """Rust's enums that are selected by a number of 16 bytes, which debug information has as a block."""
    rustc = kinds.need('rustc')
    with open(room.path('wide.rs'), 'w') as file:
        file.write(WIDE)
    room.run([rustc, '-g', '-o', room.path('wide'), room.path('wide.rs')], timeout=120)
    room.run([FUNCTRACE, '-q', '-a', '-b', '0', '-f', 'text', '-o', 'trace', '-x', 'wide::wide', room.path('wide')])
    with open(room.path('trace')) as file:
        found = re.findall(r'^\t\$\d = ([abc]=.*)$', file.read(), re.M)
    expected = ['a=None', 'b=None', 'c=None', 'a=Some(3)', 'b=Some(4)', 'c=Some']
    found[5:] = [text.split('(')[0] for text in found[5:]]
    return [] if found == expected else [str(found)], ''


CASES = [('-a: Rust enums with a number of 16 bytes', wide_discriminants)] + [('calls of %d functions [%s]' % (FUNCTIONS * len(LANGUAGES), name), scenario(name, seed))
         for seed, name in enumerate(IN_CHECK, 1)] if builds.processor() == 'x86_64' else []
