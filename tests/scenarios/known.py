"""-a for the functions that functrace's modules know: a target calls them, successfully and not, and says for each call
what is to be shown of it (tests/targets/args_calls.c). Once by -x, where each call is an event with all that is known of
it, once by -e, where calls that have failed are remarks."""

import re

import builds
from processes import FUNCTRACE

CALL = re.compile(r'^\d+\. (?:\[[\d:.]+\] )?([\w.]+)[<(]')
ARGUMENT = re.compile(r'^\t\$\d+ = (.*)$')
# Of a call that failed: its arguments, its result, and errno.
REMARK = re.compile(r'^## ([\w.]+)\((.*)\) = (.*)$')
# Apart: each has events of its own also where one jumps to another one.
MODULES = ('memory,file,thread,shmsysv,shmposix', 'memtransfer')
TRANSFERS = {'memcpy', 'memmove', 'memset', 'memccpy', 'mempcpy', 'strcpy', 'strcat', 'strncpy', 'strncat', 'stpcpy', 'stpncpy',
             'strdup', 'strndup', 'wcsdup', 'wcscpy', 'wcsncpy', 'wcslen', 'wcsnlen', 'wmemcpy', 'wmemset'}
# What is not among a module's events, or ends with an entry: no result is shown.
RELEASES = {'close', 'free', 'fclose', 'pclose', 'closedir'}


def said(path):
    """[(name, [argument], whether -e has it)]"""
    with open(path) as file:
        lines = [line.split('\t') for line in file.read().split('\n')[:-1]]
    return [(line[0].lstrip('-'), line[1:], not line[0].startswith('-')) for line in lines]


def shown(path):
    """[(name, [argument])] of events, [(name, arguments as one text, result)] of remarks."""
    events, remarks = [], []
    with open(path) as file:
        for line in file.read().split('\n'):
            call, argument, remark = CALL.match(line), ARGUMENT.match(line), REMARK.match(line)
            if call:
                events.append((call.group(1), []))
            elif argument and events:
                events[-1][1].append(argument.group(1))
            elif remark:
                remarks.append(remark.groups())
    return events, remarks


def as_named(name):
    """Where several names are one address, a call may not tell by which of them it is made."""
    return {'memmove': 'memcpy', 'wmemcpy': 'memcpy'}.get(name, name)


def missing(wanted, found):
    """Those that are not among what was found, in this order; with what was found of that name from there on."""
    problems, at = [], 0
    wanted, found = ([(as_named(one[0]),) + one[1:] for one in some] for some in (wanted, found))
    for one in wanted:
        if one in found[at:]:
            at += found[at:].index(one) + 1
        else:
            others = [other for other in found[at:] if other[0] == one[0]]
            problems.append('%s is not in the trace; next are %s' % (one, others[:2]))
    return problems[:10]


def traced(room, variant, options):
    program = builds.target('args_calls', variant)
    plain = room.run([program])
    done = room.run([FUNCTRACE, '-a', '-f', 'text', '-b', '0', '-o', room.path('trace')] + options + [program],
                    {'KIND_LOG': room.path('log')})
    problems = ['status %d, untraced %d: %s' % (done.status, plain.status, done.err[-500:])] \
        if done.status or plain.status else []
    return problems, said(room.path('log')) if not problems else [], shown(room.path('trace')) if not problems else ([], [])


def chosen(variant):
    """By -x: each call is an event."""
    def run(room):
        # What it calls is known when it has run once.
        room.run([builds.target('args_calls', variant)], {'KIND_LOG': room.path('names')})
        names = sorted({name for name, _, _ in said(room.path('names'))})
        problems, wanted, (events, remarks) = traced(room, variant, ['-x', ';'.join(names)])
        if not problems:
            problems = missing([(name, arguments) for name, arguments, _ in wanted], events)
        return problems, '%d calls of %d functions' % (len(wanted), len(names))
    return run


def of_modules(variant, modules):
    """By -e: what has failed is a remark, releases are shown as they are entered."""
    def run(room):
        problems, wanted, (events, remarks) = traced(room, variant, ['-e', MODULES[modules]])
        succeeded, failed = [], []
        wanted = [one for one in wanted if (one[0] in TRANSFERS) == (modules == 1)]
        for name, arguments, has_event in wanted:
            result = [a.split('=', 1)[1] for a in arguments if a.startswith('return=')]
            error = [a.split('=', 1)[1] for a in arguments if a.startswith('errno=')]
            own = [a for a in arguments if not a.startswith(('return=', 'errno='))]
            is_error = re.match('E[A-Z]+$', result[0]) if result else None
            if not has_event:
                continue
            if (error or is_error) and name != 'connect':
                failed.append((name, ', '.join(own), ' '.join(result + (error or ['failed']))))
            else:
                succeeded.append((name, own if name in RELEASES else arguments))
        problems = problems or missing(succeeded, as_in_modules(events)) + missing(failed, remarks)
        return problems, '%d events, %d remarks' % (len(succeeded), len(failed))
    return run


def as_in_modules(events):
    """Of some no result is shown."""
    return [(name, [a for a in arguments if not a.startswith('return=')] if name in RELEASES else arguments)
            for name, arguments in events]


VARIANTS = ('O0', 'O2', 'no-pie', 'static', 'static-pie', 'clang', 'musl', 'musl-static', 'm32', 'm32-O0', 'm32-static',
            'thumb', 'arm-O0', 'arm32')


def has(variant):
    return builds.processor() in builds.PROCESSORS.get(variant, (builds.processor(),))


CASES = [('-x with all that is known [%s]' % variant, chosen(variant)) for variant in VARIANTS if has(variant)] + [
    ('-e, and what has failed%s [%s]' % (': transfers' if modules else '', variant), of_modules(variant, modules))
    for variant in VARIANTS if has(variant) for modules in (0, 1)]
BUILDS = tuple(('args_calls', variant) for variant in VARIANTS)
