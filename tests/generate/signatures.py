#!/usr/bin/env python3
"""Generates C or C++ functions from a seed, with parameters and results of all kinds of types: the places where
compilers pass them are compared with arch/abi.h (tests/unit/abi_real.h). The same seed gives the same functions.

usage: signatures.py SEED COUNT [--cxx] > FILE
"""

import random
import sys

ARGS = 12

# type's name: (its kind for made_field(), how the test writes a value)
SCALARS = {
    'char': ('INTEGER', 'bytes'), 'signed char': ('INTEGER', 'bytes'), 'short': ('INTEGER', 'bytes'),
    'unsigned short': ('INTEGER', 'bytes'), 'int': ('INTEGER', 'bytes'), 'unsigned': ('INTEGER', 'bytes'),
    'long': ('INTEGER', 'bytes'), 'long long': ('INTEGER', 'bytes'), 'void *': ('INTEGER', 'bytes'),
    'BOOL': ('INTEGER', 'bool'), 'enum some': ('INTEGER', 'enum'), 'wide': ('INTEGER', 'bytes'),
    'float': ('FLOAT', 'float'), 'double': ('FLOAT', 'float'), 'half': ('FLOAT', 'float'), 'quad': ('FLOAT', 'float'),
    'long double': ('LONG_DOUBLE', 'float'), 'vector8': ('VECTOR', 'bytes'), 'vector16': ('VECTOR', 'bytes'),
}
COMPLEX = ('_Complex float', '_Complex double', '_Complex long double')
WEIGHTS = {'float': 5, 'double': 5, 'int': 4, 'long': 3, 'void *': 3, 'char': 2, 'long long': 2}
BIT_TYPES = (('int', 31), ('unsigned', 32), ('long long', 63), ('unsigned char', 8), ('short', 15))


class Struct:
    """A struct or union: members are (name, type, count, bits); count 0 means no array, bits 0 no bit field."""

    def __init__(self, name, word, attributes):
        self.name, self.word, self.attributes = name, word, attributes
        self.members, self.base, self.is_object, self.chosen = [], None, False, 0

    @property
    def type(self):
        return '%s %s' % (self.word, self.name)


class Maker:
    def __init__(self, seed, cxx):
        self.random, self.cxx = random.Random('%s %d' % (seed, cxx)), cxx
        self.structs, self.out, self.serial = [], [], 0

    def line(self, text=''):
        self.out.append(text)

    def chance(self, part):
        return self.random.random() < part

    # ---- Types ----

    def scalar(self):
        names = list(SCALARS)
        return self.random.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]

    def any_type(self, depth=0):
        if self.chance(0.4 if depth == 0 else 0.2) and depth < 2:
            return self.struct(depth)
        return self.random.choice(COMPLEX) if self.chance(0.04) else self.scalar()

    def member(self, depth, number, like, is_packed):
        name = 'm%d' % number
        if not like and not is_packed and self.chance(0.12):
            # Each bit field has a name, because debug information does not contain members without a name.
            kind, most = self.random.choice(BIT_TYPES)
            return name, kind, 0, self.random.randint(1, most)
        type_ = like or self.any_type(depth)
        return name, type_, self.random.randint(1, 3) if self.chance(0.2) else 0, 0

    def struct(self, depth):
        if self.structs and self.chance(0.3):
            return self.random.choice([s for s in self.structs if depth == 0 or not s.is_object] or self.structs[:1])
        attributes = []
        # without bit fields, because debug information does not contain the alignment of their types
        if self.chance(0.05):
            attributes.append('packed')
        if self.chance(0.05):
            attributes.append('aligned(%d)' % self.random.choice((8, 16, 16, 32)))
        is_union = self.chance(0.12)
        made = Struct('t%d' % self.serial, 'union' if is_union else 'struct',
                      ' __attribute__((%s))' % ', '.join(attributes) if attributes else '')
        self.serial += 1
        like = self.random.choice(('float', 'double', 'long double', 'half', 'vector8', 'vector16')) if self.chance(0.35) else None
        count = self.random.choice((1, 1, 2, 2, 2, 3, 3, 4, 5, 7)) if not self.chance(0.01) else 0
        made.members = [self.member(depth + 1, i, like, 'packed' in attributes) for i in range(count)]
        if is_union and not made.members:
            made.members = [('m0', 'int', 0, 0)]
        made.chosen = self.random.randrange(len(made.members) or 1)
        if self.cxx and depth == 0 and not is_union and not attributes:
            made.is_object = self.chance(0.2)
            bases = [s for s in self.structs if s.word == 'struct' and not s.is_object]
            if bases and self.chance(0.2):
                made.base = self.random.choice(bases)
        self.define(made)
        self.structs.append(made)
        return made

    def type_name(self, type_):
        return type_.type if isinstance(type_, Struct) else type_

    def define(self, made):
        self.line('%s%s %s%s {' % (made.word, made.attributes, made.name, ' : %s' % made.base.name if made.base else ''))
        for name, type_, count, bits in made.members:
            if bits:
                self.line('\t%s %s: %d;' % (type_, name, bits))
            else:
                self.line('\t%s %s%s;' % (self.type_name(type_), name, '[%d]' % count if count else ''))
        if made.is_object:
            self.line('\t%s() {}\n\t%s(const %s &other) { memcpy((void *)this, (const void *)&other, sizeof(other)); }' % ((made.name,) * 3))
            self.line('\t~%s() {}' % made.name)
        self.line('};')
        self.line('static void fill_%s(%s *p) {\n\t(void)p;' % (made.name, made.type))
        if made.base:
            self.line('\tfill_%s(p);' % made.base.name)
        for i, member in enumerate(made.members):
            if made.word == 'struct' or i == made.chosen:
                self.fill_member(member)
        self.line('}')
        self.line('static void describe_%s(struct made_value *v, size_t at, int compared) {' % made.name)
        self.line('\t(void)v, (void)at, (void)compared;')
        if made.base:
            self.line('\tdescribe_%s(v, at, compared);' % made.base.name)
        for i, member in enumerate(made.members):
            self.describe_member(made, member, 'compared' if made.word == 'struct' or i == made.chosen else '0')
        self.line('}')

    def fill_member(self, member):
        name, type_, count, bits = member
        for i in range(count or 1):
            at = 'p->%s%s' % (name, '[%d]' % i if count else '')
            if bits:
                self.line('\t%s = (%s)made_random();' % (at, type_))
            else:
                self.fill(type_, at)

    def fill(self, type_, at):
        if isinstance(type_, Struct):
            # The member is copied to a variable, because its place in the struct may be unaligned.
            self.line('\t{\n\t\t%s whole;' % type_.type)
            self.line('\t\tmemset((void *)&whole, 0xa5, sizeof(whole));\n\t\tfill_%s(&whole);' % type_.name)
            self.line('\t\tmemcpy((void *)&%s, (const void *)&whole, sizeof(whole));\n\t}' % at)
        elif type_ in COMPLEX:
            self.line('\t__real__ %s = made_float(), __imag__ %s = made_float();' % (at, at))
        else:
            self.line('\t' + {'bytes': 'made_fill((void *)&%s, sizeof(%s));' % (at, at), 'bool': '%s = made_random() & 1;' % at,
                              'float': '%s = (%s)made_float();' % (at, type_),
                              'enum': '%s = made_random() & 1 ? SOME_MORE : SOME_NONE;' % at}[SCALARS[type_][1]])

    def describe_member(self, made, member, compared):
        name, type_, count, bits = member
        if bits:
            self.line('\t{\n\t\tunion { %s set; char bytes[sizeof(%s)]; } u;' % ((made.type,) * 2) if not made.base and not made.is_object else
                      '\t{\n\t\tstruct u { union { %s set; char bytes[sizeof(%s)]; }; u() {} ~u() {} } u;' % ((made.type,) * 2))
            self.line('\t\tmemset((void *)&u, 0, sizeof(u));\n\t\tu.set.%s = (%s)-1;' % (name, type_))
            self.line('\t\tmade_bits(v, at, sizeof(%s), &u.set, %s);\n\t}' % (made.type, compared))
            return
        for i in range(count or 1):
            place = 'offsetof(%s, %s)%s' % (made.type, name, ' + %d * sizeof(((%s *)0)->%s[0])' % (i, made.type, name) if count else '')
            self.describe(type_, 'at + ' + place, compared)

    def describe(self, type_, at, compared):
        if isinstance(type_, Struct):
            self.line('\tdescribe_%s(v, %s, %s);' % (type_.name, at, compared))
        elif type_ in COMPLEX:
            element = type_.split(' ', 1)[1]
            kind = SCALARS[element][0]
            for i in range(2):
                self.line('\tmade_field(v, %s + %d * sizeof(%s), sizeof(%s), MADE_%s, %s);' % (at, i, element, element, kind, compared))
        else:
            self.line('\tmade_field(v, %s, sizeof(%s), MADE_%s, %s);' % (at, type_, self.kind(type_), compared))

    @staticmethod
    def kind(type_):
        return type_.upper() + '_KIND' if type_.startswith('vector') else SCALARS[type_][0]

    # ---- Functions ----

    def value(self, type_, what, maker):
        """Declares a variable of that name for a value, and describes it."""
        name = self.type_name(type_)
        is_struct = isinstance(type_, Struct)
        self.line('\t%s(sizeof(%s), __alignof__(%s), %d);' % ('v = ' + maker, name, name, is_struct))
        if is_struct and type_.is_object:
            self.line('\tmade_by_address(v);')
        self.describe(type_, '0', '1')
        self.line('\tmemset((void *)&%s, 0xa5, sizeof(%s));' % (what, what))
        self.fill(type_, what)
        self.line('\tmade_bytes(v, &%s);' % what)

    def function(self, number):
        types = [self.any_type() for _ in range(self.random.choice((0, 1, 1, 2, 3, 4, 5, 6, 8, 10, ARGS)))]
        if self.chance(0.15):  # more parameters of one kind than there are registers
            kind = self.random.choice((('float', 'double'), ('int', 'long', 'void *'), ('float', 'double', 'int', 'long long')))
            types = [self.random.choice(kind) if self.chance(0.8) else self.any_type() for _ in range(ARGS)]
        result = self.any_type() if self.chance(0.6) else None
        if isinstance(result, Struct) and not result.members:
            result = None
        variadic = self.chance(0.12) and bool(types)
        names = [self.type_name(t) for t in types]
        result_name = self.type_name(result) if result else 'void'
        prototype = '(' + (', '.join(names + ['...'] * variadic) or 'void') + ')'
        if result:
            self.line('static %s result_%d;' % (result_name, number))
            self.line('static __attribute__((noinline)) %s returns_%d(%s) {' % (result_name, number, 'int n, ...' if variadic else 'void'))
            self.line('\t%sreturn result_%d;\n}' % ('(void)n;\n\t' if variadic else '', number))
        self.line('static void function_%d(void) {\n\tstruct made_value *v;' % number)
        for i, name in enumerate(names):
            self.line('\t%s a%d;' % (name, i))
        self.line('\t(void)v;\n\tmade_begin(%d, "%s %s", %d);' % (number, result_name, prototype, variadic))
        for i, type_ in enumerate(types):
            self.value(type_, 'a%d' % i, 'made_argument')
        if result:
            self.value(result, 'result_%d' % number, 'made_result')
        extra = ', 1.5, 7' if variadic and self.chance(0.5) else ''
        in_memory = isinstance(result, Struct) or result in COMPLEX[1:]
        self.line('\t((%s (*)%s)%s)(%s%s);' % (result_name, prototype, 'MADE_ENTRY_FOR(%s)' % result_name if in_memory else 'made_entry', ', '.join('a%d' % i for i in range(len(types))), extra))
        self.line('\tmade_check_arguments();')
        if result:
            self.line('\tmade_check_result((void (*)(void))returns_%d);' % number)
        self.line('}')

    def program(self, count):
        self.line('/* Made by tests/generate/signatures.py. */\n#include "abi_real.h"\n')
        self.line('#ifdef HAS_VECTORS\n#define MADE_VECTOR8_KIND MADE_VECTOR\n#define MADE_VECTOR16_KIND MADE_VECTOR')
        self.line('#else\n#define MADE_VECTOR8_KIND MADE_FLOAT\n#define MADE_VECTOR16_KIND MADE_FLOAT\n#endif')
        for number in range(count):
            self.function(number)
        self.line('void (*const made_functions[])(void) = {%s};' % ', '.join('function_%d' % i for i in range(count)))
        self.line('const unsigned made_count = %d;' % count)
        return '\n'.join(self.out) + '\n'


def main():
    seed, count = sys.argv[1], int(sys.argv[2])
    sys.stdout.write(Maker(seed, '--cxx' in sys.argv[3:]).program(count))


if __name__ == '__main__':
    main()
