"""-a for the functions that functrace's modules know: a target calls them, successfully and not, and says for each call
what is to be shown of it (tests/targets/args_calls.c). Once by -x, where each call is an event with all that is known of
it, once by -e, where calls that have failed are remarks."""

import re

import builds
from processes import FUNCTRACE

CALL = re.compile(r'^\d+\. (?:\[[\d:.]+\] )?(.+?)(?:<\w+>)?\((?:0x[0-9a-f]+|\d+)\)(?: = |$)')
ARGUMENT = re.compile(r'^\t\$\d+ = (.*)$')
# Of a call that failed: its arguments, its result, and errno.
REMARK = re.compile(r'^## (\w+|operator .*\))\((.*)\) = (.*)$')
# Apart: each has events of its own also where one jumps to another one.
MODULES = ('memory,file,thread,shmsysv,shmposix', 'memtransfer')
TRANSFERS = {'memcpy', 'memmove', 'memset', 'memccpy', 'mempcpy', 'strcpy', 'strcat', 'strncpy', 'strncat', 'stpcpy', 'stpncpy',
             'strdup', 'strndup', 'wcsdup', 'wcscpy', 'wcsncpy', 'wcslen', 'wcsnlen', 'wmemcpy', 'wmemset', 'wcpcpy', 'wcpncpy',
             'wcscat', 'wcsncat', 'wmemmove', 'wmempcpy', 'bcopy', 'bzero'}
# What is not among a module's events, or ends with an entry: no result is shown.
RELEASES = {'close', 'free', 'fclose', 'pclose', 'closedir', 'mq_close', 'close_range', 'closefrom', 'fcloseall'}
TARGETS = ('args_calls', 'args_more')


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
    name = re.sub('64$', '', name)
    return {'memmove': 'memcpy', 'wmemcpy': 'memcpy', 'wmemmove': 'memcpy', 'memalign': 'aligned_alloc'}.get(name, name)


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


def traced(room, variant, options, target='args_calls'):
    program = builds.target(target, variant)
    plain = room.run([program])
    done = room.run([FUNCTRACE, '-a', '-f', 'text', '-b', '0', '-o', room.path('trace')] + options + [program],
                    {'KIND_LOG': room.path('log')})
    problems = ['status %d, untraced %d: %s' % (done.status, plain.status, done.err[-500:])] \
        if done.status or plain.status else []
    return problems, said(room.path('log')) if not problems else [], shown(room.path('trace')) if not problems else ([], [])


def chosen(variant, target):
    """By -x: each call is an event."""
    def run(room):
        # What it calls is known when it has run once.
        room.run([builds.target(target, variant)], {'KIND_LOG': room.path('names')})
        names = sorted({name for name, _, _ in said(room.path('names'))})
        problems, wanted, (events, remarks) = traced(room, variant, ['-x', ';'.join(names)], target)
        if not problems:
            problems = missing([(name, arguments) for name, arguments, _ in wanted], events)
        return problems, '%d calls of %d functions' % (len(wanted), len(names))
    return run


def of_modules(variant, modules, target):
    """By -e: what has failed is a remark, releases are shown as they are entered."""
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
        problems = problems or missing(succeeded, as_in_modules(events)) + missing(failed, remarks)
        return problems, '%d events, %d remarks' % (len(succeeded), len(failed))
    return run


def of_cxx(variant):
    """operator new and delete: what has failed is marked by a #."""
    def run(room):
        problems, wanted, (events, remarks) = traced(room, variant, ['-e', 'memory'], 'args_cxx')
        failed = [(name[1:], arguments[0], 'NULL failed') for name, arguments, _ in wanted if name.startswith('#')]
        made = [(name, arguments) for name, arguments, _ in wanted if not name.startswith('#')]
        problems = problems or missing(made, events) + missing(failed, remarks)
        return problems, '%d events, %d remark' % (len(made), len(failed))
    return run


def of_objects(module, variant):
    """GObjects and QObjects: the id is among the arguments, or the result, of each call."""
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
    """The same functions in a user's words."""
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
    """What a format has no place for is said once, with -a alone."""
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
    """Of some no result is shown."""
    return [(name, [a for a in arguments if not a.startswith('return=')] if name in RELEASES else arguments)
            for name, arguments in events]


OBJECTS = (('gobject', 'O0'), ('gobject', 'O2'), ('qobject', 'O0'), ('qobject', 'O2'), ('qobject', 'static'))
CXX = ('O0', 'O2', 'static', 'm32', 'm32-O0', 'arm32')
VARIANTS = ('O0', 'O2', 'z-now', 'm32-z-now', 'no-pie', 'static', 'static-pie', 'clang', 'musl', 'musl-static', 'm32', 'm32-O0', 'm32-static',
            'thumb', 'arm-O0', 'arm32')
# For glibc, linked dynamically: which of several names of a function is called is known then.
ROWS = ('O0', 'O2', 'z-now', 'm32', 'm32-O0', 'm32-time64', 'arm32')


def has(variant):
    return builds.processor() in builds.PROCESSORS.get(variant, (builds.processor(),))


CASES = [('-x with all that is known%s [%s]' % (target[4:], variant), chosen(variant, target))
         for target in TARGETS for variant in VARIANTS if has(variant)] + [
    ('-e, and what has failed%s%s [%s]' % (target[4:], ': transfers' if modules else '', variant),
     of_modules(variant, modules, target))
    for target in TARGETS for variant in VARIANTS if has(variant) for modules in (0, 1)] + [
        ('-e, by names that few call%s [%s]' % (': transfers' if modules else '', variant),
         of_modules(variant, modules, 'args_rows')) for variant in ROWS if has(variant) for modules in (0, 1)] + [
        ('new and delete [%s]' % variant, of_cxx(variant)) for variant in CXX if has(variant)] + [
            ('objects: %s [%s]' % (module, variant), of_objects(module, variant)) for module, variant in OBJECTS] + [
                ('described by a user [%s]' % variant, described(variant)) for variant in ('O2', 'static', 'm32', 'arm32')
                if has(variant)]
CASES.append(('what a format has no place for', left_out))
BUILDS = tuple((target, variant) for target in TARGETS for variant in VARIANTS) + tuple(
    ('args_rows', variant) for variant in ROWS) + tuple(('args_cxx', variant) for variant in CXX) + tuple(
    ('kind_' + module, variant) for module, variant in OBJECTS)
