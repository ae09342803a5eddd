"""Tests -a for the functions of functrace's modules. A target makes successful and failing calls, and prints for each
call what the trace must show of it (tests/targets/args_calls.c). With -x each call is an event with all that functrace
knows about it; with -e failing calls are remarks."""

import re

import builds
from processes import FUNCTRACE

CALL = re.compile(r'^\d+\. (?:\[[\d:.]+\] )?(.+?)(?:<\w+>)?\((?:0x[0-9a-f]+|\d+)\)(?: = |$)')
ARGUMENT = re.compile(r'^\t\$\d+ = (.*)$')
# The arguments, the result and errno of a failed call.
REMARK = re.compile(r'^## (\w+|operator .*\))\((.*)\) = (.*)$')
# The modules are traced separately, because a function of one module may jump to a function of another, and both would
# have events.
MODULES = ('memory,file,thread,shmsysv,shmposix', 'memtransfer')
TRANSFERS = {'memcpy', 'memmove', 'memset', 'memccpy', 'mempcpy', 'strcpy', 'strcat', 'strncpy', 'strncat', 'stpcpy', 'stpncpy',
             'strdup', 'strndup', 'wcsdup', 'wcscpy', 'wcsncpy', 'wcslen', 'wcsnlen', 'wmemcpy', 'wmemset', 'wcpcpy', 'wcpncpy',
             'wcscat', 'wcsncat', 'wmemmove', 'wmempcpy', 'bcopy', 'bzero'}
# Functions whose result is not shown: a module has no event for them, or their event is their entry.
RELEASES = {'close', 'free', 'fclose', 'pclose', 'closedir', 'mq_close', 'close_range', 'closefrom', 'fcloseall'}
TARGETS = ('args_calls', 'args_more')


def said(path):
    """Reads the target's lines; returns [(name, [argument], whether -e has it)]."""
    with open(path) as file:
        lines = [line.split('\t') for line in file.read().split('\n')[:-1]]
    return [(line[0].lstrip('-'), line[1:], not line[0].startswith('-')) for line in lines]


def shown(path):
    """Reads a trace; returns [(name, [argument])] of events, and [(name, arguments as one text, result)] of remarks."""
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
    """If several names have one address, the trace may show any of them."""
    name = re.sub('64$', '', name)
    return {'memmove': 'memcpy', 'wmemcpy': 'memcpy', 'wmemmove': 'memcpy', 'memalign': 'aligned_alloc'}.get(name, name)


def missing(wanted, found):
    """Looks for the wanted calls in their order. Returns those that are not found, with the calls of the same name that
    come later."""
    problems, at = [], 0
    wanted, found = ([(as_named(one[0]),) + one[1:] for one in some] for some in (wanted, found))
    for one in wanted:
        if one in found[at:]:
            at += found[at:].index(one) + 1
        else:
            others = [other for other in found[at:] if other[0] == one[0]]
            problems.append('%s is not in the trace; next are %s' % (one, others[:2]))
    return problems[:10]


def traced(room, variant, options, target='args_calls'):
    program = builds.target(target, variant)
    plain = room.run([program])
    done = room.run([FUNCTRACE, '-a', '-f', 'text', '-b', '0', '-o', room.path('trace')] + options + [program],
                    {'KIND_LOG': room.path('log')})
    problems = ['status %d, untraced %d: %s' % (done.status, plain.status, done.err[-500:])] \
        if done.status or plain.status else []
    return problems, said(room.path('log')) if not problems else [], shown(room.path('trace')) if not problems else ([], [])


def chosen(variant, target):
    """With -x: each call is an event."""
    def run(room):
        # The functions that the program calls are known only after it has run once.
        room.run([builds.target(target, variant)], {'KIND_LOG': room.path('names')})
        names = sorted({name for name, _, _ in said(room.path('names'))})
        problems, wanted, (events, remarks) = traced(room, variant, ['-x', ';'.join(names)], target)
        if not problems:
            problems = missing([(name, arguments) for name, arguments, _ in wanted], events)
        return problems, '%d calls of %d functions' % (len(wanted), len(names))
    return run


def of_modules(variant, modules, target):
    """With -e: failed calls are remarks, and releases are shown with their arguments at entry."""
    def run(room):
        problems, wanted, (events, remarks) = traced(room, variant, ['-e', MODULES[modules]], target)
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
        # A function that is in several modules has one call for each, and one remark in all.
        again = sorted({one for one in failed if remarks.count(one) > failed.count(one)})
        problems = problems or missing(succeeded, as_in_modules(events)) + missing(failed, remarks) + [
            'the remark on %s is there %d times' % (one, remarks.count(one)) for one in again]
        return problems, '%d events, %d remarks' % (len(succeeded), len(failed))
    return run


def of_cxx(variant):
    """operator new and delete: failed calls are marked by a #."""
    def run(room):
        problems, wanted, (events, remarks) = traced(room, variant, ['-e', 'memory'], 'args_cxx')
        failed = [(name[1:], arguments[0], 'NULL failed') for name, arguments, _ in wanted if name.startswith('#')]
        made = [(name, arguments) for name, arguments, _ in wanted if not name.startswith('#')]
        problems = problems or missing(made, events) + missing(failed, remarks)
        return problems, '%d events, %d remark' % (len(made), len(failed))
    return run


def of_objects(module, variant):
    """GObjects and QObjects: the id of the object is among the arguments of each call, or its result."""
    def run(room):
        program = builds.target('kind_' + module, variant)
        plain = room.run([program])
        if plain.out.startswith(b'skip: '):
            raise builds.Skip(plain.out[6:].decode(errors='replace').strip())
        done = room.run([FUNCTRACE, '-a', '-e', module, '-f', 'text', '-b', '0', '-o', room.path('trace'), program])
        with open(room.path('trace')) as file:
            text = file.read()
        calls = re.findall(r'^\d+\. \[[\d:.]+\] (.*)\n((?:\t\$\d+ = .*\n)*)', text, re.M)
        problems = ['status %d, untraced %d' % (done.status, plain.status)] if done.status != plain.status else []
        for call, arguments in calls:
            found = dict(line.split(' = ', 1)[1].split('=', 1) for line in arguments.splitlines())
            ident = re.findall('0x[0-9a-f]+', call)[-1]
            names = [name for name in ('this', 'object', 'return') if name in found]
            if not names or any(found[name] != ident for name in names):
                problems.append('%s has %s' % (call, found))
            if 'g_object_new' in call and not re.match('0x[0-9a-f]+$', found.get('object_type', '')):
                problems.append('%s is of the type %s' % (call, found.get('object_type')))
        return problems[:10] + ([] if calls else ['no calls']), '%d calls' % len(calls)
    return run


DESCRIPTION = """flags opening { RDWR = 2 of 3, CLOSE = 02000000 }
enum domain { UNIX = 1, INET }
call int socketpair(enum domain d, hex int type, int protocol, out int ends[2]): errno, succeeds=zero
call int dup3(int from, int to, opening how): errno, succeeds=not-minus-1
call error_t posix_memalign(out void **p, size_t a, size_t n): succeeds=zero
"""


def described(variant):
    """The same functions, described by a user."""
    def run(room):
        with open(room.path('own.conf'), 'w') as file:
            file.write(DESCRIPTION)
        problems, wanted, (events, remarks) = traced(room, variant, ['-e', room.path('own.conf')])
        own, failed = [], []
        for name, arguments, _ in wanted:
            found = dict(argument.split('=', 1) for argument in arguments)
            if name == 'dup3' and 'errno' not in found:
                own.append((name, ['from=' + found['oldfd'], 'to=' + found['newfd'], 'how=CLOSE', 'return=' + found['return']]))
            elif name == 'socketpair' and 'errno' not in found:
                own.append((name, ['d=UNIX', 'type=0x80005', 'protocol=0', 'ends=' + found['sv'], 'return=0']))
            elif name == 'socketpair':
                failed.append((name, 'd=INET, type=0x1, protocol=6, ends=' + found['sv'], '-1 ' + found['errno']))
            elif name == 'posix_memalign' and found['return'] == '0':
                own.append((name, ['a=' + found['alignment'], 'n=' + found['size'], 'p=' + found['memptr'], 'return=0']))
            elif name == 'posix_memalign':
                failed.append((name, 'a=3, n=%s, p=%s' % (found['size'], found['memptr']), 'EINVAL failed'))
        problems = problems or missing(own, events) + missing(failed, remarks)
        return problems, '%d events, %d remarks' % (len(own), len(failed))
    return run


def left_out(room):
    """Data for which a format has no place is reported once, and only with -a."""
    problems, program = [], builds.target('args_cxx', 'O2')
    for options, said_of_it in ((['-f', 'mpatrol'], ''),
                                (['-a', '-f', 'mpatrol'], r'mpatrol has no place for \d+ arguments, \d+ notes?$'),
                                (['-a', '-f', 'text'], ''),
                                (['-a', '-f', 'text', '--compat=sp-rtrace'], r'text has no place for \d+ notes?$')):
        done = room.run([FUNCTRACE, '-o', room.path('trace')] + options + [program])
        said_last = done.err.decode(errors='replace')
        lines = [line for line in said_last.splitlines() if 'has no place for' in line]
        counted = '1 call failed' in said_last
        if len(lines) != bool(said_of_it) or not all(re.search(said_of_it, line) for line in lines):
            problems.append('%s: %s' % (options, lines))
        if counted != (options == ['-a', '-f', 'text']):
            problems.append('%s: %s' % (options, said_last[-300:]))
    return problems, 'mpatrol, sp-rtrace'


def as_in_modules(events):
    """Removes the result of functions for which no result is shown."""
    return [(name, [a for a in arguments if not a.startswith('return=')] if name in RELEASES else arguments)
            for name, arguments in events]


OBJECTS = (('gobject', 'O0'), ('gobject', 'O2'), ('qobject', 'O0'), ('qobject', 'O2'), ('qobject', 'static'))
CXX = ('O0', 'O2', 'static', 'm32', 'm32-O0', 'arm32')
VARIANTS = ('O0', 'O2', 'z-now', 'm32-z-now', 'no-pie', 'static', 'static-pie', 'clang', 'musl', 'musl-static', 'm32', 'm32-O0', 'm32-static',
            'thumb', 'arm-O0', 'arm32')
# With a dynamically linked glibc it is known which of several names of a function was called.
ROWS = ('O0', 'O2', 'z-now', 'm32', 'm32-O0', 'm32-time64', 'arm32')


def has(variant):
    return builds.processor() in builds.PROCESSORS.get(variant, (builds.processor(),))


CASES = [('-x shows the arguments of all calls of %s [%s]' % (target, variant), chosen(variant, target))
         for target in TARGETS for variant in VARIANTS if has(variant)] + [
    ('-e shows failed calls of %s%s [%s]' % (target, ': transfers' if modules else '', variant),
     of_modules(variant, modules, target))
    for target in TARGETS for variant in VARIANTS if has(variant) for modules in (0, 1)] + [
        ('-e shows failed calls of args_rows%s [%s]' % (': transfers' if modules else '', variant),
         of_modules(variant, modules, 'args_rows')) for variant in ROWS if has(variant) for modules in (0, 1)] + [
        ('arguments of operator new and delete [%s]' % variant, of_cxx(variant)) for variant in CXX if has(variant)] + [
            ('ids of objects: %s [%s]' % (module, variant),
             of_objects(module, variant)) for module, variant in OBJECTS] + [
                ('functions of args_calls in a user\'s description [%s]' % variant,
                 described(variant)) for variant in ('O2', 'static', 'm32', 'arm32')
                if has(variant)]
CASES.append(('data for which a format has no place', left_out))
BUILDS = tuple((target, variant) for target in TARGETS for variant in VARIANTS) + tuple(
    ('args_rows', variant) for variant in ROWS) + tuple(('args_cxx', variant) for variant in CXX) + tuple(
    ('kind_' + module, variant) for module, variant in OBJECTS)
