"""Tests each rule of floors.py on a small tree that breaks it."""

from floors_pointers import Pointers
from floors_rooms import Map, call_edges, circles, upward
from floors_rules import (CALLBACKS, FILE_LINES, HEADER_LINES, RULES, WRAPPED, Exceptions, Listed, lengths,
                          private_calls, wrapped)
from floors_source import Tree

MAP = Map('''src/low arch
src/middle modules
src/middle: . < one two < three < registry.c   # one and two do not know each other
src/high'''.splitlines())


def expect(found, wanted):
    found, wanted = sorted(found), sorted(wanted)
    return [] if found == wanted else ['found %s, expected %s' % (found, wanted)]


def knows(edges):
    """Returns the edges, as "file other", that the map forbids."""
    return [edge for edge in edges if not MAP.may_know(*edge.split())]


def broken(rule, **texts):
    """Returns {thing: count} for a small tree. In the names of its files __ means /, and _h or _c at the end means .h or
    .c."""
    tree = Tree({path[:-2].replace('__', '/') + '.' + path[-1]: text for path, text in texts.items()})
    return {thing: len(places) for thing, places in RULES[rule](tree)}.items()


def rooms():
    down = ['src/high/a.c src/low/b.h', 'src/high/a.c src/middle/one/b.h', 'src/low/a.c src/low/b.h']
    up = ['src/low/a.c src/high/b.h', 'src/low/a.c arch/b.h', 'src/middle/one/a.c src/high/b.h']
    return expect(knows(down + up), up)


def sub_folders():
    down = ['src/middle/one/a.c src/middle/b.h', 'src/middle/three/a.c src/middle/one/b.h',
            'src/middle/registry.c src/middle/one/b.h', 'src/middle/one/a.c src/middle/registry.h',
            'src/middle/one/a.c src/middle/one/b.c']
    up = ['src/middle/a.c src/middle/one/b.h', 'src/middle/one/a.c src/middle/two/b.h',
          'src/middle/one/a.c src/middle/three/b.h', 'src/middle/one/a.c src/middle/registry.c',
          'src/middle/a.c src/middle/registry.c']
    return expect(knows(down + up), up)


def places():
    found = [MAP.unplaced(path) for path in ('src/low/a.c', 'src/middle/a.c', 'src/middle/one/a.c',
                                             'src/middle/registry.c', 'src/other/a.c', 'src/middle/four/a.c',
                                             'src/middle/one/deep/a.c')]
    return [] if found == [None] * 4 + ['src/other', 'src/middle/four', 'src/middle/one/deep'] else [str(found)]


def empty_places():
    return expect(MAP.missing(['src/low/a.c', 'src/middle/one/a.c', 'src/middle/registry.c', 'src/high/a.c',
                               'modules/a.c']), ['arch', 'src/middle/three', 'src/middle/two'])


def rings():
    return expect(circles([('a/1.c', 'a/2.c', 'f'), ('a/2.c', 'a/3.c', 'g'), ('a/3.c', 'a/1.c', 'h'),
                           ('a/3.c', 'a/4.c', 'i')]),
                  ['a circle: a/1.c -> a/2.c, a/2.c -> a/3.c, a/3.c -> a/1.c'])


def unbuilt():
    """A port that is not in this build calls a function of a higher layer and reads its table. Members, tags and
    comments are no calls."""
    tree = Tree({'src/low/high.h': 'int high_call(void) FT_PRINTF(1, 2);\nextern const int high_one[], high_table[];\n'
                                'int high_other(void);\n',
                 'src/high/h.c': '#include "low/high.h"\nint high_call(void)\n{\n\treturn 1;\n}\n'
                                 'const int high_table[] = {1};\nint high_other(void)\n{\n\treturn 2;\n}\n',
                 'arch/port.c': '#include "low/high.h"\nstatic int f(struct x *x)\n{\n'
                                '\treturn high_call() + *high_table + x->high_other; /* high_other */\n}\n'
                                'struct high_other;\n'})
    return expect(upward(MAP, call_edges(tree, '/nonexistent')),
                  ['arch/port.c goes up to src/high/h.c (high_call)',
                   'arch/port.c goes up to src/high/h.c (high_table)'])


def contents():
    tree = Tree({'src/low/a.c': '\n' * (FILE_LINES + 1), 'src/low/b.h': '\n' * (HEADER_LINES + 1),
                 'arch/arch.h': '#ifdef __arm__\n', 'modules/module.h': '\n' * (HEADER_LINES + 1),
                 'src/low/c.c': '#if defined __i386__\n\tptrace(X);\n#endif\n', 'src/ptrace/d.c': '\tptrace(X);\n',
                 'src/low/e.c': '\tdispatch_stop(t, &stop);\n', 'src/low/f.h': 'void dispatch_stop(struct tracer *t);\n',
                 'src/tracer/stop_pump.c': '\tact(t, &stop);\n'})
    found = [*lengths(tree), *private_calls(tree)]
    return expect([problem.split()[0] for problem in found],
                  ['src/low/a.c', 'src/low/b.h', 'src/low/c.c', 'src/low/c.c', 'src/low/e.c', 'src/tracer/stop_pump.c'])


def file_names():
    return expect(broken('file-name', src__low__a_c='', src__low__a_h='', src__low__b_c='', arch__b_h='',
                         tests__a_c=''), [('b', 2)])


def tags():
    return expect(broken('tag', src__low__a_c='struct x {\n\tint a;\n};\nstruct y;\n/* struct z { */\n',
                         arch__b_h='enum x { X };\nstruct y {\n\tstruct z {\n\t} z;\n};\n'), [('x', 2)])


def local_names():
    body = '(void)\n{\n\tint count = 0;\n}\n'
    return expect(broken('local-name', src__low__a_c='static int put_it' + body + 'static int put' + body,
                         src__low__b_c='static void\nput_it' + body + 'static int demangle' + body,
                         src__low__c_c='static int count' + body + 'static int global_one' + body,
                         src__low__d_c='int global_one' + body),
                  [('put_it', 2), ('put', 1), ('count', 1), ('global_one', 2)])


def machine():
    return expect(broken('machine', src__low__a_c='EM_ARM EM_ARM x86_call orig_rax RED_ZONE army /* EM_386 */ "rip"',
                         src__symbols__elf_file_c='EM_386', arch__x86_c='EM_386', src__low__b_c='EM_NONE task->rip',
                         src__high__b_c='rip'),
                  [('a.c:EM_ARM', 2), ('a.c:x86_call', 1), ('a.c:orig_rax', 1), ('a.c:RED_ZONE', 1),
                   ('b.c:rip', 2)])


def target_writes():
    calls = 'pwrite(fd); process_vm_writev(); ptrace(PTRACE_POKETEXT); pread(); memory_write_stopped();'
    return expect(broken('target-write', src__low__a_c=calls, src__ptrace__b_c=calls, src__breakpoints__c_c=calls),
                  [('a.c:pwrite', 1), ('a.c:process_vm_writev', 1), ('a.c:PTRACE_POKETEXT', 1),
                   ('a.c:memory_write_stopped', 1)])


def exceptions():
    listed = Exceptions(['# why', 'tag same 2 # a', 'tag more 2', 'tag less 3 # because 3', 'tag mended 2 # b', 'other x 2 # c'])
    now = {'tag': {'same': 'ab', 'more': 'abc', 'less': 'ab', 'new': 'ab'}, 'other': {'x': 'ab'}}
    found = [problem.split(':')[0] for problem in listed.problems('tag', now['tag'].items())]
    return expect(found, ['tag ' + thing for thing in ('more', 'less', 'mended', 'new')]) + \
        expect(listed.shrunk(now), ['# why', 'tag same 2 # a', 'tag more 2', 'tag less 2 # because 3', 'other x 2 # c']) + \
        expect(listed.unknown(['tag']), ['exceptions.txt: there is no rule other',
                                         'exceptions.txt: the reason is missing: tag more 2'])


def pointers():
    """Pointers are filled by name, by place in an initialiser, by assignment, and as a parameter. A pointer that its
    own folder fills, or that only a higher layer calls, does not go upward."""
    body = '(int a)\n{\n\treturn a;\n}\n'
    tree = Tree({
        'src/low/ops.h': 'typedef int (*low_visit)(int);\nstruct ops {\n\tint a, b;\n\tint (*named)(int);\n'
                         '\tint (*placed)(int);\n\tlow_visit set;\n\tint (*unused)(int);\n'
                         '\tint (*own)(int);\n\tint (*passed)(int);\n};\n'
                         'int low_each(int a, int (*each)(int));\n',
        'src/low/ops.c': '#include "low/ops.h"\nstatic int low_own' + body +
                         'int low_each(int a, int (*each)(int))\n{\n\tstruct ops o = {.own = low_own};\n'
                         '\treturn o->named(1) + o->placed(1) + o->set(1) + o->own(1) + each(a) +\n'
                         '\t       low_each(a, o->passed);\n}\n',
        'src/high/h.c': '#include "low/ops.h"\n' + ''.join('static int %s' % name + body for name in 'fghij') +
                        'static const struct ops table[] = {{1, 2, NULL, f}, {.named = g, .passed = g, .unused = j}};\n'
                        'static int high_all(struct ops *o)\n{\n\to->set = o ? h : NULL;\n\to->unused(1);\n'
                        '\treturn low_each(h(1), i);\n}\n'})
    found = Pointers(MAP, tree).found
    problems = Listed(['ops.named ops.placed # known', 'ops.set', 'ops.unused # not any more']).problems(found, *CALLBACKS)
    return expect(found, ['ops.named', 'ops.placed', 'ops.set', 'ops.passed', 'low_each(each)']) + \
        expect([problem.split()[0] for problem in problems], ['low_each(each)', 'ops.passed', 'ops.set', 'ops.unused'])


def replaced():
    """Only functions that the tree defines count. A line of a list without a reason does not count as listed."""
    body = '(void)\n{\n\treturn 1;\n}\n'
    tree = Tree({'src/low/a.c': ''.join('int low_%s' % name + body for name in ('one', 'two', 'three', 'four'))})
    found = wrapped(tree, {'tests/unit/a.mk': 'tests_unit_a_LDFLAGS = -Wl,--wrap=low_one,--wrap=ptrace \\\n'
                                              '\t-Wl,--wrap,low_two -Wl,--wrap=low_three\n'
                                              'MANY = -Wl,--wrap=low_one\n\t$(CC) -Wl,--wrap=low_four\n'})
    listed = Listed(['a.low_one a.low_three # known', 'a.low_two #', 'b.low_one # another program'])
    return expect(found, ['a.low_one', 'a.low_two', 'a.low_three', 'MANY.low_one', 'tests/unit/a.mk.low_four']) + \
        expect([problem.split()[0] for problem in listed.problems(found, *WRAPPED)],
               ['MANY.low_one', 'a.low_two', 'b.low_one', 'tests/unit/a.mk.low_four'])


SELF_TESTS = {
    'a dependency that goes upward or sideways is found': rooms,
    'sub-folders that include each other are found': sub_folders,
    'a folder without a place is found': places,
    'a folder or file that only the map names is found': empty_places,
    'a circular dependency is found': rings,
    'a call upward in a source that was not built is found': unbuilt,
    'long files, calls of ptrace, conditions on processors are found': contents,
    'two files of one name are found': file_names,
    'two structs of one tag are found': tags,
    'static functions with one name, and with plain words as names, are found': local_names,
    'machine constants are found': machine,
    'writes to a target are found': target_writes,
    'exceptions that are missing, too small, too large or unused are found': exceptions,
    'a call upward by a pointer is found': pointers,
    'a function of the program that a test replaces is found': replaced,
}
