"""Generates a C or C++ program from a seed, with functions whose parameters are of all classes of the ABIs
(tests/generate/arguments.py has most of them). A function uses its arguments, a part of them, late, or not at all; it
is static or not, a method, variadic, and called once or twice, by its name or by a pointer. So compilers have reason to
leave parameters out, to pass constants, and to split structs. Before each call the caller writes the arguments, and the
expected result: a line has the function's name, a tab and `call`, and for each value a line has the name, a tab and
`parameter=value`, in the form of functrace's -a."""

import arguments
from arguments import Type, floats, integers, number_text

HEAD = '''
#include <complex.h>

typedef int four __attribute__((vector_size(16)));
typedef float floats4 __attribute__((vector_size(16)));
typedef short shorts4 __attribute__((vector_size(8)));
#ifdef __SIZEOF_INT128__
typedef __int128 wide;
#else
typedef long long wide;
#endif
union number { int i; unsigned u; };
union both { double d; long long unused[2]; };
struct __attribute__((packed)) packed { char c; int i; double d; };
struct __attribute__((packed)) tight { long long q; };
struct __attribute__((aligned(16))) aligned { int x, y; };
struct floats3 { float a, b, c; };
struct doubles2 { double a, b; };
struct mixed { double d; int i; };
struct parts { float _Complex z; int n; };
struct large { long long all[5]; };

volatile int sink;
static volatile int never;
'''

def pair(first, second, form):
    """Returns a maker of values that are composed of two others."""
    def value(rng):
        a, b = first(rng), second(rng)
        return '{%s, %s}' % (a[0], b[0]), form % (a[1], b[1])
    return value


def complex_number(rng):
    re, im = rng.randint(-80, 80) / 8, rng.randint(1, 80) / 8
    return '%.3ff + %.3ff * 1.0fi' % (re, im), '%s + %si' % (number_text(re), number_text(im))


def several(maker, count):
    def value(rng):
        made = [maker(rng) for _ in range(count)]
        return '{%s}' % ', '.join(m[0] for m in made), '[%s]' % ', '.join(m[1] for m in made)
    return value


def union_number(rng):
    n = rng.randint(0, 2**31 - 1)
    return '{%d}' % n, '{i=%d, u=%d}' % (n, n)


def tight(rng):
    n = rng.randint(-2**40, 2**40)
    return '{%dll}' % n, '{q=%d}' % n


def packed(rng):
    c, i, d = arguments.characters(rng), integers(-99, 99)(rng), floats(rng)
    return '{%s, %s, %s}' % (c[0], i[0], d[0]), '{c=%s, i=%s, d=%s}' % (c[1], i[1], d[1])


def floats3(rng):
    made = [floats(rng) for _ in range(3)]
    return '{%s}' % ', '.join(m[0] for m in made), '{a=%s, b=%s, c=%s}' % tuple(m[1] for m in made)


def parts(rng):
    z, n = complex_number(rng), integers(-99, 99)(rng)
    return '{%s, %s}' % (z[0], n[0]), '{z=%s, n=%s}' % (z[1], n[1])


def large(rng):
    made = several(integers(-2**62, 2**62, 'll'), 5)(rng)
    return '{%s}' % made[0], '{all=%s}' % made[1]


SMALL = integers(-99, 99)
MORE = [
    Type('float _Complex', complex_number), Type('double _Complex', complex_number), Type('wide', SMALL),
    Type('four', several(SMALL, 4)), Type('floats4', several(floats, 4)), Type('shorts4', several(SMALL, 4)),
]
MORE_STRUCTS = [
    Type('union number', union_number), Type('struct packed', packed), Type('struct tight', tight),
    Type('struct aligned', pair(SMALL, SMALL, '{x=%s, y=%s}')), Type('struct floats3', floats3),
    Type('struct doubles2', pair(floats, floats, '{a=%s, b=%s}')), Type('struct mixed', pair(floats, SMALL, '{d=%s, i=%s}')),
    Type('struct parts', parts), Type('struct large', large),
]


class Calls:
    """The methods that this module adds to the Program of arguments.py."""

    def make_structs(self, count):
        super().make_structs(count)
        self.scalars = self.scalars + MORE
        self.structs = self.structs + MORE_STRUCTS

    def by_value(self, name):
        kind = self.rng.choice(self.scalars if self.rng.random() < 0.6 else self.structs)
        initializer, text = kind.value(self.rng)
        is_constant = kind in arguments.C_SCALARS and self.rng.random() < 0.3
        argument = '(%s)%s' % (kind.name, initializer) if is_constant else self.variable(kind, initializer)
        return kind.declare(name), argument, text, None

    def variable(self, kind, initializer):
        name = super().variable(kind, initializer)
        # A compiler that sees the whole program may find out that the others are never changed.
        if self.rng.random() < 0.7:
            self.lines[-1] = '__attribute__((used)) ' + self.lines[-1]
        return name

    # ---- How a function uses its arguments ----

    def use(self, name, is_object, is_temporary, can_change):
        """Returns a line for a parameter. is_temporary: the caller creates an object for it, which compilers leave
        uninitialised if it is not read. can_change: the function may assign another value first: then the argument of a
        static function no longer exists, and the debug information has the place of the new value."""
        what = self.rng.random()
        if what < 0.35 and not is_temporary:
            return ''
        if what < 0.55:
            return '\tKEEP(%s);' % name
        if what < 0.65:
            return '\tfflush(log_file);\n\tKEEP(%s);' % name
        if what < 0.7 and not is_temporary:
            return '\tif (never)\n\t\tKEEP(%s);' % name
        if what < 0.8 and can_change and not is_object:
            return '\tmemset((void *)&%s, 0, sizeof(%s));\n\tKEEP(%s);' % (name, name, name)
        if is_object:
            return '\tKEEP(%s);' % name if is_temporary else '\tsink = sizeof(%s);' % name
        return '\t{\n\t\t__typeof__(%s) copy = %s;\n\t\tsink = *(volatile char *)&copy;\n\t}' % (name, name)

    @staticmethod
    def is_object(declaration):
        return '&' in declaration or 'std::' in declaration or 'whole ' in declaration or 'const ' in declaration

    def body_of(self, index, parameters, result, is_static):
        uses = [self.use('p%d' % i, self.is_object(p[0]), '&&' in p[0] or 'whole p' in p[0], not is_static) for i, p in enumerate(parameters)]
        self.rng.shuffle(uses)
        return ['{', '\tsink = %d;' % index] + [u for u in uses if u] + (['\treturn %s;' % result[1]] if result else []) + ['}']

    def call_of(self, shown, called, parameters, result, this=None, extra=''):
        lines = ['\tLOG("%s", "call");' % shown]
        if this:
            lines.append('\tLOG("%s", "this=%%p -> %s", (void *)&%s);' % (shown, this[1], this[0]))
        for i, (_, argument, text, pointer) in enumerate(parameters):
            lines.append(self.log(shown, 'p%d' % i, text, argument if pointer else None))
        if result:
            lines.append(self.log(shown, 'return', result[2], None))
        lines.append('\t%s(%s);' % (called, ', '.join([p[1] for p in parameters] + ([extra] if extra else []))))
        return '\n'.join(lines)

    def add_function(self, index):
        count = self.rng.choice((0, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12))
        parameters = [self.rng.choice(self.kinds())('p%d' % i) for i in range(count)]
        result = self.result()
        if not self.add_method(index, parameters, result):
            self.add_plain(index, parameters, result)

    def add_plain(self, index, parameters, result):
        name, is_static = 'f%d' % index, self.rng.random() < 0.5
        is_variadic = bool(parameters) and self.rng.random() < 0.1
        prototype = ', '.join([p[0] for p in parameters] + ['...'] * is_variadic) or 'void'
        self.lines.append('NOINLINE %s%s %s(%s)' % ('static ' if is_static else '', result[0] if result else 'void', name, prototype))
        self.lines += self.body_of(index, parameters, result, is_static)
        called = name
        if self.rng.random() < 0.2:
            self.lines.append('static __typeof__(%s) *volatile to_%s = %s;' % (name, name, name))
            called = 'to_' + name
        for _ in range(self.rng.choice((1, 1, 2))):
            self.calls.append(self.call_of(name, called, parameters, result, extra='7, 1.5' if is_variadic else ''))

    def add_method(self, index, parameters, result):
        return False


class CCalls(Calls, arguments.Program):
    def head(self):
        return super().head() + HEAD


class CppCalls(Calls, arguments.CppProgram):
    """Adds methods: of a class without virtual functions and of one with them; some static, some const."""

    OBJECTS = {'box': ('a_box', '{width=3, height=0.5}'), 'shape': ('a_shape', '{sides=4}')}
    CLASSES = '/* the classes */'

    def __init__(self, seed, count):
        super().__init__(seed, count)
        self.members = {'box': [], 'shape': []}
        self.lines.append(self.CLASSES)

    def add_method(self, index, parameters, result):
        if self.rng.random() >= 0.4:
            return False
        owner, form = self.rng.choice(('box', 'shape')), self.rng.choice(('', '', ' const', 'static '))
        name, type_ = 'm%d' % index, result[0] if result else 'void'
        prototype = ', '.join(p[0] for p in parameters)
        is_virtual = owner == 'shape' and form == '' and self.rng.random() < 0.5
        self.members[owner].append('\t%s%s %s(%s)%s;' % (
            'virtual ' if is_virtual else 'static ' if form == 'static ' else '', type_, name, prototype, form if form == ' const' else ''))
        self.lines.append('NOINLINE %s %s::%s(%s)%s' % (type_, owner, name, prototype, form if form == ' const' else ''))
        self.lines += self.body_of(index, parameters, result, False)
        called = {'static ': '%s::%s' % (owner, name)}.get(form, '%s->%s' % ('to_' + owner, name))
        this = None if form == 'static ' else self.OBJECTS[owner]
        self.calls.append(self.call_of('%s::%s' % (owner, name), called, parameters, result, this))
        return True

    def head(self):
        return arguments.CPP_HEAD.rsplit('struct box {', 1)[0] + HEAD.replace('#include <complex.h>\n', '')

    def source(self):
        text = super().source()
        return text.replace(self.CLASSES, 'struct box {\n\tint width = 3;\n\tdouble height = 0.5;\n%s\n};\n'
                            'struct shape {\n\tint sides = 4;\n\tvirtual ~shape() {}\n%s\n};\n'
                            'static box a_box, *volatile to_box = &a_box;\nstatic shape a_shape, *volatile to_shape = &a_shape;' % (
                                '\n'.join(self.members['box']), '\n'.join(self.members['shape'])))


PROGRAMS = {'c': CCalls, 'cpp': CppCalls}


def source(language, seed, count=250):
    return PROGRAMS[language](seed, count).source()


if __name__ == '__main__':
    import sys
    sys.stdout.write(source(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 250))
