"""Tests modules that users write: the examples, which are built and run as by a user, modules that are refused, and
names for -e."""

import os
import re

import builds
import trace_text
from errors import refused
from outputs import equal
from processes import FUNCTRACE, POSTPROC, Failure
from words import compiled, has_line, said

EXAMPLES = os.path.join(builds.TOP_SRCDIR, 'examples')


def example(name):
    path = os.path.join(builds.TOP_BUILDDIR, 'examples', name)
    if not os.path.exists(path):
        raise builds.Skip('examples/%s was not built' % name)
    return path


def compiler():
    if builds.PREBUILT:
        raise builds.Skip('there is no compiler')
    return builds.compiler()


def run(room, modules, program, name):
    """Runs a program untraced and traced; its status and output must not differ."""
    plain, traced = room.run([program]), room.run([FUNCTRACE, '-e', modules, '-o', room.path(name), program])
    return traced, equal('the run', (traced.status, traced.out), (plain.status, plain.out))


def leaks(room, name):
    """Returns [(count, bytes, function, file:line)] of the reported groups; function and line are those of the
    innermost frame."""
    done = room.run([POSTPROC, '-l', '-c', '-r', room.path(name)])
    return sorted((int(count), int(size or 0), function, os.path.basename(place)) for count, size, function, place in re.findall(
        r'^# allocation summary: (\d+) (?:parcel|block|shape)\(s\)(?: with total size (\d+))?\n\t0x[0-9a-f]+ in (\w+)\(\) at (\S+)$',
        done.out.decode(), re.M))


def line_of(source, text):
    """Returns FILE:LINE of the first line that contains the text."""
    with open(os.path.join(EXAMPLES, source)) as file:
        for number, line in enumerate(file, 1):
            if text in line:
                return '%s:%d' % (source, number)
    raise Failure('%s has no %r' % (source, text))


POOL = [(2, 96, 'weigh', 'pool.c', 'pool_copy(&pool, &copy'), (3, 192, 'send_letter', 'pool.c', 'pool_get(&pool, 64')]
PREFIXED = [(1, 100, 'read_settings', 'prefixed.c', 'acme_lib_malloc(100)')] * 2 + [
    (1, 700, 'load_plugin', 'prefixed.c', 'acme_plugin_realloc(table')]
SHAPES = [(1, 0, 'copy_square', 'shapes.cpp', 'new (place(sizeof(square)))'),
          (2, 0, 'forget_circles', 'shapes.cpp', 'new (place(sizeof(drawing::Circle)))')]


def with_example(name, events, live, expected):
    """An example, from its description to the source lines of its leaks, alone and together with the memory module."""
    def case(room):
        program, conf = example(name), os.path.join(EXAMPLES, name + '.conf')
        done, problems = run(room, conf, program, 'own')
        problems += has_line(done, r'functrace: process \d+ \(%s\): %d events; %s; trace: \S+' % (name, events, live))
        wanted = sorted(one[:3] + (line_of(one[3], one[4]),) for one in expected)
        problems += equal('the leaks', leaks(room, 'own'), wanted)
        done, more = run(room, 'memory,' + conf, program, 'both')
        problems += more + has_line(done, r'functrace: process \d+ \(%s\): .*%s; trace: \S+' % (name, live))
        return problems + equal('the leaks beside memory', [one for one in leaks(room, 'both') if one in wanted], wanted), ''
    return case


# ---- A shared object ----

def install_header(room):
    """Installs the header as `make install` does, in a folder of its own, and returns the include path."""
    done = room.run(['make', '-s', '-C', builds.TOP_BUILDDIR, 'install-moduleincludeHEADERS', 'DESTDIR=' + room.path('root')])
    for folder, _, names in os.walk(room.path('root')):
        if 'module.h' in names and os.path.basename(folder) == 'functrace':
            return os.path.dirname(folder)
    raise Failure('the header was not installed: ' + done.err.decode())


def build_module(room, include, name, source):
    path = room.path(name + '.so')
    with open(room.path(name + '.c'), 'w') as file:
        file.write(source)
    made = room.run(compiler() + ['-Wall', '-Wextra', '-Werror', '-g', '-shared', '-fPIC', '-I' + include, '-o', path,
                                  room.path(name + '.c')])
    if made.status:
        raise Failure(made.err.decode())
    return path


def template_text():
    with open(os.path.join(EXAMPLES, 'module-template.c')) as file:
        return file.read()


def template(room):
    """The template of a module in C is built outside of the tree with the installed header, and traces data that a
    description in text cannot."""
    compiler()
    program = example('pool')
    module = build_module(room, install_header(room), 'mine', template_text())
    command = [FUNCTRACE, '-e', module, '-f', 'text', '-T', '-o', room.path('t'), program]
    done = room.run(command)
    problems = equal('status', done.status, 0)
    problems += has_line(done, r'functrace: process \d+ \(pool\): 11 events; 5 parcels with 480 bytes never put back; trace: .*')
    with open(room.path('t')) as file:
        text = file.read()
    problems += equal('the labels', re.findall(r'\. pool_get\((\d+)\) = \w+\n\t\$1 = label=(.*)\n', text),
                      [('64', 'anna'), ('128', '?'), ('64', 'berta'), ('128', '?'), ('64', 'carla'), ('128', '?')])
    problems += equal('the module', re.findall(r'^## tracing module: \[1\] (.*)$', text, re.M), ['pool (1.0)'])
    # A name without a slash is a file of the current folder, not a library.
    done = room.run([FUNCTRACE, '-e', 'mine.so', '-o', room.path('u'), program])
    return problems + equal('the status with a name without a slash', done.status, 0), ''


def bad_objects(room):
    """Shared objects that functrace cannot use: the reason, and status 2."""
    compiler()
    include = install_header(room)
    text = template_text()
    other = build_module(room, include, 'other', text.replace('.api = MODULE_API', '.api = MODULE_API + 41'))
    nothing = build_module(room, include, 'nothing', 'int nothing;\n')
    null = build_module(room, include, 'null', text.replace('functrace_module = &module', 'functrace_module = 0').replace(
        'static const struct module module', 'extern const struct module module;\nconst struct module module'))
    wrong = build_module(room, include, 'wrong', text.replace('.id = ARG(1)', '.id = ARG(6)'))
    nameless = build_module(room, include, 'nameless', text.replace('.name = "pool"', '.name = "a pool"'))
    with open(room.path('text.so'), 'w') as file:
        file.write('no ELF\n')

    def says(path, *words):
        return refused(room, [FUNCTRACE, '-e', path, 'true'], 2, 'functrace: -e %s: ' % path, *words)
    problems = says(other, 'it was built for version 43 of functrace/module.h, and this functrace has version 2: build it again '
                    'with the header of this functrace\n')
    problems += says(nothing, "this is no module of functrace: it has no symbol 'functrace_module' (const struct module *")
    problems += says(null, "this is no module of functrace: NULL is the value of its 'functrace_module'")
    problems += says(wrong, 'functions[2] (pool_put): .id names an argument after the last one that functrace reads (MODULE_ARGS)')
    problems += says(nameless, '.name is missing, or is not made of at most 64 letters, digits')
    problems += says(room.path('text.so'), 'cannot be loaded: ')
    problems += says(room.path('none.so'), 'cannot be loaded: ')
    return problems + says('none.so', 'cannot be loaded: '), ''


# ---- A description in text ----

def bad_texts(room):
    """All errors of a description are reported at once, each with its line, and no program runs."""
    path = room.path('bad.conf')
    with open(path, 'w') as file:
        file.write('module bad\n\nalloc void *get(size_t n): id=result\nfree put(void *p): id=p\n')
    begin = 'functrace: -e %s describes no module; \'man functrace-modules\' explains how to write such files\n' % path
    problems = refused(room, [FUNCTRACE, '-e', 'memory,' + path, 'touch', room.path('ran')], 2, begin,
                       "%s:3: 'result' is no value; known are: n, arg1 to arg6, return" % path,
                       "\n%s:4: the type of the result is missing: write it before 'put'" % path)
    problems += equal('the program ran', os.path.exists(room.path('ran')), False)
    # A file with content as bad as possible.
    with open(path, 'wb') as file:
        file.write(os.urandom(100000))
    problems += refused(room, [FUNCTRACE, '-e', path, 'true'], 2, 'functrace: -e %s describes no module' % path)
    os.unlink(path)
    problems += refused(room, [FUNCTRACE, '-e', path, 'true'], 2, '\n%s: No such file or directory\n' % path)
    os.mkfifo(path)
    problems += refused(room, [FUNCTRACE, '-e', path, 'true'], 2, '\n%s: is no regular file; write it into one\n' % path)
    return problems + refused(room, [FUNCTRACE, '-e', room.folder, 'true'], 2, '\n%s: is a folder; give a file\n' % room.folder), ''


def same_names(room):
    """Two modules of one name or with one type are refused, in either order."""
    row = 'alloc void *get(size_t n): id=return, size=n\n'
    for name, text in (('memory.conf', row), ('one.conf', 'module one\n' + row), ('two.conf', 'module one\nresource two\n' + row),
                       ('three.conf', 'resource memory noun=block\n' + row)):
        with open(room.path(name), 'w') as file:
            file.write(text)
    same = "another module of -e is called '%s', too; give one of them another name (module NAME)\n"
    problems = refused(room, [FUNCTRACE, '-e', 'memory,./memory.conf', 'true'], 2, 'functrace: -e ./memory.conf: ' + same % 'memory')
    problems += refused(room, [FUNCTRACE, '-e', './memory.conf', '-e', 'memory', 'true'], 2, 'functrace: -e memory: ' + same % 'memory')
    problems += refused(room, [FUNCTRACE, '-e', 'one.conf,two.conf', 'true'], 2, 'functrace: -e two.conf: ' + same % 'one')
    problems += refused(room, [FUNCTRACE, '-e', 'memory,three.conf', 'true'], 2,
                        "functrace: -e three.conf: resources of the type 'memory' are in the module memory, too; ")
    return problems, ''


def not_found(room):
    """Functions that no object has are reported, and so is a module none of whose functions exists; a wrong release is
    reported in the module's own words."""
    with open(room.path('own.conf'), 'w') as file:
        file.write('alloc void *pool_get(struct pool *p, size_t n): id=return, size=n\nfree void pool_putt(void *p): id=p\n'
                   'call void send_letter(const char *to)\ncall "weigh"\ncall "weighs"\nfree "pool_copy": id=arg1\n')
    done = room.run([FUNCTRACE, '-e', './own.conf', '-f', 'text', '-o', 'trace', example('pool')])
    problems = equal('status', done.status, 0)
    problems += has_line(done, "functrace: warning: -e own: no object defines pool_putt, send_letter. 'nm -DC FILE' lists the functions "
                               'that a file exports; a function that is not exported is found by a pattern, in quotes: "NAME"')
    problems += has_line(done, r"functrace: warning: nothing matched 'weighs' of -e own: .*")
    problems += has_line(done, r'functrace: 1 release of an object that was not seen allocated; .*')
    problems += equal('a local function', [str(e).split('(')[0] for e in trace_text.read(room.path('trace')).events].count(
        'weigh<own-calls>'), 2)
    # This message is not printed for functrace's modules, which name functions that many programs lack.
    done = room.run([FUNCTRACE, '-e', 'all', '-o', 'other', example('pool')])
    return problems + equal('the message with -e all', 'no object defines' in said(done), False), ''


FAILING = """
#include <errno.h>
#include <stdlib.h>
#define OWN __attribute__((noipa))
static char places[8][32];
OWN void *box_get(int n) { return places[n]; }
OWN int box_put(void *box, int fails) { __asm__ volatile("" : : "r"(box) : "memory"); errno = EBUSY; return -fails; }
OWN int box_drop(void *box, int fails) { return box_put(box, fails); }
OWN int box_range(void *first, void *last, int fails) { __asm__ volatile("" : : "r"(first), "r"(last) : "memory"); return -fails; }
int main(void)
{
	void *box = box_get(0);
	box_drop(box, 1);
	box_drop(box, 0);
	box_get(1);
	box_get(2);
	box_get(3);
	box_range(places[1], places[2], 1);
	box_range(places[1], places[2], 0);
	return 0;
}
"""


def failing(room):
    """If a function of a described module fails to release, the trace has a remark and no release. The test calls a
    function that sets errno, and one that releases a range."""
    with open(room.path('box.conf'), 'w') as file:
        file.write('alloc void *box_get(int n): id=return\nfree int box_drop(void *box, int fails): id=box, errno\n'
                   'free int box_range(void *first, void *last, int fails): id=first, last=last, succeeds=zero\n')
    program = compiled(room, 'box', FAILING)
    done = room.run([FUNCTRACE, '-e', './box.conf', '-a', '-b', '0', '-f', 'text', '-o', 'trace', program])
    with open(room.path('trace')) as file:
        lines = re.findall(r'^\d+\. \[.*?\] (\w+)|^## (box_\w+)\(.*fails=1\) (= -1 \w+)$', file.read(), re.M)
    problems = equal('the trace', [call or remark + ' ' + how for call, remark, how in lines],
                     ['box_get', 'box_drop = -1 EBUSY', 'box_drop'] + ['box_get'] * 3 +
                     ['box_range = -1 failed', 'box_range', 'box_range'])
    return problems + has_line(done, r'functrace: process \d+ \(box\): 7 events; 1 object is live; trace: trace'), ''


# ---- help and all ----

def known_modules(room):
    return re.search(r'known are: (.*)\n', said(room.run([FUNCTRACE, '-e', 'nonsense', 'true']))).group(1).split(', ')


def words(room):
    """-e help has a line for each module; -e all is all modules that know live resources."""
    done = room.run([FUNCTRACE, '-e', 'help'])
    lines = done.out.decode().split('\n\n')[1].split('\n')
    names = [line.split()[0] for line in lines if line[0] != ' ']
    left_out = [line.split()[-1] for line in lines if line[0] == ' ']
    problems = equal('status', done.status, 0) + equal('stderr', said(done), '')
    problems += equal('the last ones', names[-3:], ['all', 'FILE.conf', 'FILE.so'])
    problems += ['no line says anything of %s' % line for line in lines if len(line.split()) < 2]
    known = known_modules(room)
    problems += equal('the modules', names[:-3], known)
    done = room.run([FUNCTRACE, '-e', 'all', '-f', 'text', '-o', room.path('t'), 'true'])
    problems += equal('status', done.status, 0)
    trace = trace_text.read(room.path('t'))
    with open(room.path('t')) as file:
        traced = re.findall(r'^## tracing module: \[[1-9]\d*\] (\S+)', file.read(), re.M)
    problems += equal('all', traced, [name for name in known if name not in left_out])
    return problems + trace.problems, '%d modules' % len(known)


def own_words(room):
    """-e help=NAME prints a description of the module: tracing with these descriptions gives the same events."""
    names, problems = known_modules(room), []
    for name in names:
        text = room.run([FUNCTRACE, '-e', 'help=' + name])
        problems += equal('status', text.status, 0) + equal('stderr', said(text), '')
        with open(room.path(name + '.conf'), 'wb') as file:
            file.write(text.out)

    def events(modules, name):
        done = room.run([FUNCTRACE, '-e', modules, '-a', '-f', 'text', '-o', name, example('leak')])
        trace = trace_text.read(room.path(name))
        return [(e.kind, e.function, e.size, e.freed_size, len(e.frames)) for e in trace.events], re.findall(
            'events; (.*); trace', said(done))
    own, described = events(','.join(names), 'own'), events(','.join('./%s.conf' % name for name in names), 'described')
    problems += equal('the events', own, described) + equal('there are events', bool(own[0]), True)
    for name, line in ('constants', '\nflags open_flags {\n'), ('prototypes', '\ncall int fsync(int fd): '):
        text = room.run([FUNCTRACE, '-e', 'help=' + name])
        problems += equal('help=' + name, (text.status, line in text.out.decode()), (0, True))
    return problems + refused(room, [FUNCTRACE, '-e', 'help=nothing', 'true'], 2,
                              'functrace: -e help=nothing: there is no such module; known are: memory, '), ''


CASES = [
    ('the example of a pool', with_example('pool', 11, '5 parcels with 288 bytes never put back', POOL)),
    ('the example of a prefix', with_example('prefixed', 7, '3 blocks with 900 bytes are live', PREFIXED)),
    ('the example of classes', with_example('shapes', 7, '3 shapes never destroyed', SHAPES)),
    ('the template of a shared object', template),
    ('shared objects that are refused', bad_objects),
    ('descriptions in text that are refused', bad_texts),
    ('two modules with the same name are refused', same_names),
    ('functions that no object has are reported', not_found),
    ('failed releases of a described module release nothing', failing),
    ('-e help and -e all', words),
    ('-e help=NAME prints a description that traces the same', own_words),
]
