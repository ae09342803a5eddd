"""Tests -a on generated programs (tests/generate/arguments.py), which have 200 functions with all kinds of parameters
and results. The text that functrace shows for each call is the text that the program logs itself."""

import collections
import re

import builds
from processes import FUNCTRACE

CALL = re.compile(r'\d+\. (?:@\w+ )?(?:\[[\d:.]+\] )?(?:made::)?((?:box::)?[fm]\d+)(\.\w[.\w]*|.*\[clone )?[<(:.]')
ARGUMENT = re.compile(r'\t\$\d+ = (.*)')
LEFT_OUT, UNKNOWN = '<optimised out>', '<unknown place>'


def said(path):
    """Reads the program's log; returns {function: its lines}, and the functions that only the program itself calls."""
    functions, local = {}, set()
    with open(path, errors='surrogateescape') as file:
        for line in file.read().split('\n')[:-1]:
            name, _, text = line.partition('\t')
            functions.setdefault(name, []).extend([text] if '=' in text else [])
            local |= {name} if text == 'static' else set()
    return functions, local


def shown(path):
    """Reads a text trace; returns {function: its arguments}, and the number of clones that the compiler has made."""
    functions, clones, current = collections.defaultdict(list), 0, None
    with open(path, errors='surrogateescape') as file:
        for line in file.read().split('\n'):
            call, argument = CALL.match(line), ARGUMENT.match(line)
            if call:
                current = functions[call.group(1)]
                clones += bool(call.group(2))
            elif argument and current is not None:
                current.append(argument.group(1))
    return functions, clones


def differences(wanted, found, is_changed):
    """An optimising compiler may change the arguments of a static function; then the trace shows the changed arguments.
    Its result is not compared: if the result is unused, compilers make the function void, and the debug information
    does not say so."""
    if not is_changed:
        return [] if wanted == found else ['%s is shown as %s' % pair for pair in zip(
            [w for w in wanted if w not in found] or ['nothing'], [f for f in found if f not in wanted] or ['nothing'])]
    values = dict(line.split('=', 1) for line in found)
    wrong = []
    for line in wanted:
        name, value = line.split('=', 1)
        if name != 'return' and values.get(name, 'nothing') not in (value, LEFT_OUT, UNKNOWN):
            wrong.append('%s is shown as %s' % (line, values.get(name, 'nothing')))
    return wrong


def without_unknown(wanted, found):
    """ARM passes a struct with 8-byte members in other registers if it is packed, and debug information does not always
    exclude this. Returns the wanted lines with functrace's mark instead of such values, and the number of marks."""
    marks = {line.split('=', 1)[0]: line for line in found if line.endswith('=' + UNKNOWN)}
    lines = [marks.get(line.split('=', 1)[0], line) for line in wanted]
    return lines, sum(line not in wanted for line in lines)


def compared(room, program, is_optimised, patterns='f[0-9]*;box::m*', is_clang=False):
    """is_clang: callers pass only the arguments that a function uses, and debug information need not say which these
    are."""
    plain, trace = room.run([program, room.path('plain')]), room.path('trace')
    traced = room.run([FUNCTRACE, '-a', '-x', patterns, '-f', 'text', '-b', '0', '-o', trace, program, room.path('said')])
    problems = ['status %d, untraced %d' % (traced.status, plain.status)] if traced.status or plain.status else []
    (wanted, local), (found, clones) = said(room.path('said')), shown(trace)
    left_out = sum(LEFT_OUT in line for lines in found.values() for line in lines)
    unknown, values = 0, sum(map(len, wanted.values()))
    for name, lines in wanted.items():
        if builds.processor() == 'arm':
            lines, marks = without_unknown(lines, found.get(name, []))
            unknown += marks
        if name not in found:
            problems.append('%s: no call is in the trace' % name)
        else:
            problems += ['%s: %s' % (name, difference) for difference in differences(lines, found[name], is_optimised and (name in local or is_clang))]
    if len(wanted) < 200:
        problems.append('the program\'s log has %d functions only' % len(wanted))
    if unknown * 100 > values:
        problems.append('%d of %d values are in an unknown place' % (unknown, values))
    return problems[:20], '%d functions, %d values, %d clones, %d values left out, %d unknown' % (
        len(wanted), values, clones, left_out, unknown)


def c(variant):
    return lambda room: compared(room, builds.target('arguments_c', variant), 'O0' not in variant, is_clang=variant == 'clang')


def cpp(variant):
    return lambda room: compared(room, builds.target('arguments_cpp', variant), 'O0' not in variant)


def rust_debug(room):
    return compared(room, builds.rust(1), False, 'made::f*')


def rust_optimised(room):
    return compared(room, builds.rust(1, '-O'), True, 'made::f*')


C = ('O0', 'O2', 'static', 'clang', 'musl', 'm32', 'm32-O0', 'branch-protection', 'thumb', 'arm-O0', 'arm32')
CPP = ('O0', 'O2', 'm32', 'm32-O0', 'thumb', 'arm-O0', 'arm32')


def has(variant):
    return builds.processor() in builds.PROCESSORS.get(variant, (builds.processor(),))


CASES = [('arguments of 200 functions of C [%s]' % variant, c(variant)) for variant in C if has(variant)] + [
    ('arguments of 200 functions of C++ [%s]' % variant, cpp(variant)) for variant in CPP if has(variant)] + [
        ('arguments of 200 functions of Rust, debug', rust_debug), ('arguments of 200 functions of Rust, -O', rust_optimised)]
BUILDS = tuple(('arguments_c', variant) for variant in C) + tuple(('arguments_cpp', variant) for variant in CPP)
