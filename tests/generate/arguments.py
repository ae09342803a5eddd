"""Generates a C, C++ or Rust program from a seed: functions with all kinds of parameters and results, each called once.
The program writes the arguments and the result of each of its functions, in the form of functrace's -a, to the file
that its first argument names: a line has the function's name, a tab, and `parameter=value`, or `static` for a function
that a compiler may change. The same seed gives the same program."""

import random

LONG_TEXT = 'the quick brown fox jumps over the lazy dog and goes on for more than the limit of bytes'
LIMIT = 64


def number_text(value):
    return '%.15g' % value


class Type:
    """A C type, whose random values are written in C and as -a shows them: value(rng) returns (initializer, text). In
    text, {p} is a placeholder: the program prints its parameter's address there."""

    def __init__(self, name, value, fields=True):
        self.name, self.value, self.is_field = name, value, fields

    def declare(self, variable):
        return '%s %s' % (self.name, variable)


def integers(low, high, suffix=''):
    def value(rng):
        n = rng.choice((low, high, rng.randint(low, high), rng.randint(max(low, -9), min(high, 9))))
        literal = '(%d%s - 1)' % (n + 1, suffix) if n < -2147483647 else '%d%s' % (n, suffix)
        return literal, str(n)
    return value


def floats(rng):
    n = rng.randint(-4000, 4000) / 8
    return '%.3f' % n, number_text(n)


def characters(rng):
    c = rng.choice('azAZ09 ?~')
    return "'%s'" % c, "'%s'" % c


C_SCALARS = [
    Type('_Bool', lambda rng: rng.choice((('1', 'true'), ('0', 'false')))),
    Type('char', characters),
    Type('signed char', integers(-128, 127)),
    Type('unsigned char', integers(0, 255)),
    Type('short', integers(-32768, 32767)),
    Type('unsigned short', integers(0, 65535)),
    Type('int', integers(-2**31, 2**31 - 1)),
    Type('unsigned', integers(0, 2**32 - 1, 'u')),
    Type('long long', integers(-2**63, 2**63 - 1, 'll')),
    Type('unsigned long long', integers(0, 2**64 - 1, 'ull')),
    Type('size_t', integers(0, 2**32 - 1, 'u')),
    Type('float', floats), Type('double', floats), Type('long double', floats),
    Type('enum color', lambda rng: (lambda c: (c, c))(rng.choice(('RED', 'GREEN', 'BLUE')))),
    Type('enum bits', lambda rng: rng.choice((('BIT_A', 'BIT_A'), ('(enum bits)(BIT_A | BIT_C)', 'BIT_A|BIT_C'),
                                              ('(enum bits)(BIT_B | 64)', 'BIT_B|0x40')))),
    Type('void *', lambda rng: rng.choice((('0', 'NULL'), ('(void *)0x1234', '0x1234')))),
]

C_HEAD = '''#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

enum color { RED, GREEN = 5, BLUE = -1 };
enum bits { BIT_A = 1, BIT_B = 2, BIT_C = 4, BIT_D = 8 };

static FILE *log_file;
/* A string that ends with its mapping, and no other way. */
static char *edge;

static void make_edge(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *const two = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(two + page, page);
	memcpy(two + page - 4, "edge", 4);
	edge = two + page - 4;
}

#define LOG(function, ...) (fprintf(log_file, function "\\t" __VA_ARGS__), fputc('\\n', log_file))
#define KEEP(value) __asm__ volatile("" : : "r"(&(value)) : "memory")
#define NOINLINE __attribute__((noinline))

static NOINLINE int called_back(int x)
{
	return x + 1;
}
'''


class Struct(Type):
    def __init__(self, rng, name, earlier, scalars, bit_fields):
        fields, self.makers = [], []
        for i in range(rng.choice((1, 1, 2, 2, 3, 4, 5, 9))):
            field = 'm%d' % i
            what = rng.random()
            if what < 0.12:
                count = rng.randint(1, 3)
                element = rng.choice(scalars[2:10])
                fields.append('%s[%d];' % (element.declare(field), count))
                self.makers.append((field, self.array(element, count)))
            elif what < 0.2:
                fields.append('char %s[8];' % field)
                self.makers.append((field, lambda rng: rng.choice((('"abc"', '"abc"'), ('""', '""'), ('"seven77"', '"seven77"')))))
            elif what < 0.3 and earlier:
                inner = rng.choice(earlier)
                fields.append(inner.declare(field) + ';')
                self.makers.append((field, inner.value))
            elif what < 0.4 and bit_fields:
                bits = rng.randint(2, 20)
                fields.append('int %s : %d;' % (field, bits))
                self.makers.append((field, integers(-2**(bits - 1), 2**(bits - 1) - 1)))
            else:
                element = rng.choice(scalars)
                fields.append(element.declare(field) + ';')
                self.makers.append((field, element.value))
        self.depth = 1 + max([inner.depth for inner in earlier] or [0])
        self.definition = 'struct %s { %s };' % (name, ' '.join(fields))
        super().__init__('struct ' + name, self.whole)

    @staticmethod
    def array(element, count):
        def value(rng):
            made = [element.value(rng) for _ in range(count)]
            return '{%s}' % ', '.join(m[0] for m in made), '[%s]' % ', '.join(m[1] for m in made)
        return value

    def whole(self, rng):
        made = [(field, maker(rng)) for field, maker in self.makers]
        return ('{%s}' % ', '.join(m[0] for _, m in made), '{%s}' % ', '.join('%s=%s' % (f, m[1]) for f, m in made))


def quoted(text):
    """Returns the text as a part of a printf format, in a string literal of the program."""
    return text.replace('\\', '\\\\').replace('"', '\\"').replace('%', '%%').replace('{p}', '%p')


class Program:
    CALLED_BACK = 'called_back'

    def __init__(self, seed, count, structs=24):
        self.rng = random.Random(seed)
        self.lines, self.calls, self.structs = [], [], []
        self.count, self.values = count, 0
        self.scalars = C_SCALARS
        self.make_structs(structs)

    def make_structs(self, count):
        for i in range(count):
            made = Struct(self.rng, 's%d' % i, [s for s in self.structs if s.depth < 3], self.scalars, self.has_bit_fields())
            self.structs.append(made)
            self.lines.append(made.definition)

    @staticmethod
    def has_bit_fields():
        return True

    def variable(self, kind, initializer):
        """Adds a variable whose value the compiler does not know; returns its name."""
        self.values += 1
        name = 'v%d' % self.values
        self.lines.append('%s = %s;' % (kind.declare(name), initializer))
        return name

    # ---- Parameters: (declaration, argument, text, value of {p}) ----

    def by_value(self, name):
        kind = self.rng.choice(self.scalars if self.rng.random() < 0.6 else self.structs)
        initializer, text = kind.value(self.rng)
        return kind.declare(name), self.variable(kind, initializer), text, None

    def pointer(self, name):
        kind = self.rng.choice([s for s in self.scalars if s.name not in ('signed char', 'unsigned char', 'char')] + self.structs)
        if self.rng.random() < 0.1:
            return '%s *%s' % (kind.name, name), '(%s *)%s' % (kind.name, '0x10'), '0x10 (unreadable)', None
        initializer, text = kind.value(self.rng)
        return '%s *%s' % (kind.name, name), '&' + self.variable(kind, initializer), '{p} -> ' + text, name

    def bytes(self, name):
        """Adds a parameter that points to a buffer."""
        kind = self.rng.choice(('void', 'unsigned char', 'signed char', 'const void'))
        return '%s *%s' % (kind, name), '(%s *)log_file' % kind, '{p}', name

    def pointer_to_pointer(self, name):
        kind = self.rng.choice(self.structs)
        inner = self.variable(Type(kind.name + ' *', None), '(%s *)0x77' % kind.name)
        return '%s **%s' % (kind.name, name), '&' + inner, '{p} -> 0x77', name

    def string(self, name):
        literal, text = self.rng.choice((
            ('"plain"', '"plain"'), ('""', '""'), ('NULL', 'NULL'), ('(char *)0x10', '0x10 (unreadable)'),
            ('"tab\\t, \\"quotes\\" and \\\\"', '"tab\\t, \\"quotes\\" and \\\\"'), ('"100 %"', '"100 %"'), ('edge', '"edge"... (unreadable)'),
            ('"%s"' % LONG_TEXT, '"%s"...' % LONG_TEXT[:LIMIT])))
        kind = self.rng.choice(('const char', 'char'))
        return '%s *%s' % (kind, name), '(char *)' + literal, text, None

    def wide(self, name):
        literal, text = self.rng.choice((('L"wide"', 'L"wide"'), ('L""', 'L""'), ('NULL', 'NULL')))
        return 'const wchar_t *' + name, literal, text, None

    def function(self, name):
        return 'int (*%s)(int)' % name, 'called_back', '{p} <%s>' % self.CALLED_BACK, name

    def array(self, name):
        first = self.rng.randint(-100, 100)
        variable = self.variable(Type('int', None), str(first))
        return 'int %s[3]' % name, '&' + variable, '{p} -> %d' % first, name

    def kinds(self):
        return [self.by_value] * 8 + [self.pointer] * 3 + [self.string] * 3 + [
            self.bytes, self.pointer_to_pointer, self.wide, self.function, self.array]

    # ---- Functions ----

    def result(self):
        """Returns (type, expression, text); NULL: void."""
        if self.rng.random() < 0.2:
            return None
        kind = self.rng.choice(self.scalars if self.rng.random() < 0.5 else self.structs)
        initializer, text = kind.value(self.rng)
        return kind.name, self.variable(kind, initializer), text

    def log(self, function, parameter, text, pointer):
        arguments = ', (void *)%s' % pointer if pointer else ''
        return '\tLOG("%s", "%s=%s"%s);' % (function, parameter, quoted(text), arguments)

    def add_function(self, index):
        name = 'f%d' % index
        parameters = [self.rng.choice(self.kinds())('p%d' % i) for i in range(self.rng.choice((0, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12)))]
        self.define(name, parameters, self.result(), 'static ' if self.rng.random() < 0.5 else '')

    def define(self, name, parameters, result, storage):
        before = 'NOINLINE ' + storage + (result[0] if result else 'void')
        self.lines.append('%s %s(%s);' % (before, name, ', '.join(p[0] for p in parameters) or 'void'))
        self.lines.append('%s %s(%s)\n{' % (before, name, ', '.join(p[0] for p in parameters) or 'void'))
        if storage:
            self.lines.append('\tLOG("%s", "static");' % name)
        self.body(name, parameters, result)
        for i, p in enumerate(parameters):
            self.lines += ['\tKEEP(p%d);' % i]
        if result:
            self.lines.append('\treturn %s;' % result[1])
        self.lines.append('}')
        self.calls.append('\t%s(%s);' % (name, ', '.join(p[1] for p in parameters)))

    def body(self, name, parameters, result):
        for i, (_, _, text, pointer) in enumerate(parameters):
            self.lines.append(self.log(name, 'p%d' % i, text, pointer))
        if not parameters:
            self.lines.append('\tLOG("%s", "");' % name)
        if result:
            self.lines.append(self.log(name, 'return', result[2], None))

    def head(self):
        return C_HEAD

    def source(self):
        for index in range(self.count):
            self.add_function(index)
        return '\n'.join([self.head()] + self.lines + [
            '', 'int main(int argc, char **argv)\n{\n\tif (argc < 2 || !(log_file = fopen(argv[1], "w")))\n\t\treturn 2;',
            '\tmake_edge();'] + self.calls + ['\treturn fclose(log_file) != 0;\n}', ''])


# ---- C++ ----

CPP_HEAD = C_HEAD.replace('#include <stddef.h>', '#include <string>\n#include <string_view>\n#include <stddef.h>') + '''
enum class mode : unsigned char { off, slow = 3, fast };

struct base {
	int in_base = 7;
};

/* Its address is what is passed. */
struct whole : base {
	int own;
	explicit whole(int n) : own(n) {}
	whole(const whole &from) : base(from), own(from.own) {}
	~whole() { own = 0; }
};

struct box {
	int width = 3;
	double height = 0.5;
'''


class CppProgram(Program):
    """Adds C++ features: references, strings, classes, methods."""

    CALLED_BACK = 'called_back(int)'

    def __init__(self, seed, count):
        super().__init__(seed, count)
        self.methods = []

    @staticmethod
    def has_bit_fields():
        return False

    def make_structs(self, count):
        self.scalars = [Type('bool', s.value) if s.name == '_Bool' else s for s in self.scalars] + [
            Type('mode', lambda rng: (lambda m: ('mode::' + m, m))(rng.choice(('off', 'slow', 'fast'))))]
        super().make_structs(count)

    def head(self):
        return CPP_HEAD + '\n'.join(self.methods) + '\n};\nstatic box a_box;\n'

    def reference(self, name):
        kind = self.rng.choice(self.scalars + self.structs)
        initializer, text = kind.value(self.rng)
        return '%s&%s' % (kind.declare(''), name), self.variable(kind, initializer), text, None

    def rvalue(self, name):
        n = self.rng.randint(-100, 100)
        return 'int &&' + name, '(int)' + self.variable(Type('int', None), str(n)), str(n), None

    def text(self, name):
        text = self.rng.choice(('', 'short', 'fifteen bytes..', 'more than is in the object itself', LONG_TEXT))
        shown = '"%s"' % text if len(text) <= LIMIT else '"%s"...' % text[:LIMIT]
        form = self.rng.choice(('std::string %s', 'const std::string &%s', 'std::string_view %s', 'std::string &&%s'))
        return form % name, '%s("%s")' % ('std::string_view' if 'view' in form else 'std::string', text), shown, None

    def text_pointer(self, name):
        variable = self.variable(Type('std::string', None), '"in a string"')
        return 'std::string *' + name, '&' + variable, '{p} -> "in a string"', name

    def object(self, name):
        n = self.rng.randint(0, 1000)
        form, before = self.rng.choice((('whole %s', ''), ('const whole &%s', ''), ('whole *%s', '{p} -> ')))
        variable = self.variable(Type('whole', None), 'whole(%d)' % n)
        return form % name, ('&' if before else '') + variable, before + '{in_base=7, own=%d}' % n, name if before else None

    def kinds(self):
        return super().kinds() + [self.reference] * 2 + [self.rvalue, self.text, self.text, self.text_pointer, self.object]

    def add_function(self, index):
        super().add_function(index)
        if index % 10:
            return
        name, n = 'm%d' % index, self.rng.randint(0, 99)
        self.methods.append(
            '\tNOINLINE int %s(int p0)\n\t{\n\t\tLOG("box::%s", "static");\n\t\tLOG("box::%s", "this=%%p -> {width=3, height=0.5}", (void *)this);\n'
            '\t\tLOG("box::%s", "p0=%d");\n\t\tLOG("box::%s", "return=%d");\n\t\tKEEP(p0);\n\t\treturn p0 + width;\n\t}' % (
                name, name, name, name, n, name, n + 3))
        self.calls.append('\ta_box.%s(%s);' % (name, self.variable(Type('int', None), str(n))))


# ---- Rust ----

RUST_HEAD = '''#![allow(dead_code, unused_variables, non_camel_case_types, static_mut_refs)]
use std::hint::black_box;
use std::io::Write;
static mut LOG: Option<std::fs::File> = None;
fn log(line: String) { unsafe { writeln!(LOG.as_mut().unwrap(), "{}", line).unwrap(); } }
#[derive(Clone, Copy)] enum Color { Red, Green = 5, Blue = 9 }
#[derive(Clone, Copy)] struct Pair { x: i32, y: i32 }
#[derive(Clone, Copy)] struct Wide { a: u64, b: f64, c: i16 }
#[derive(Clone, Copy)] struct Floats { a: f32, b: f32 }
#[derive(Clone, Copy)] struct One { only: u64 }
struct Counter { count: u32 }
'''

RUST_INTEGERS = [('i8', 8, True), ('u8', 8, False), ('i16', 16, True), ('u16', 16, False), ('i32', 32, True), ('u32', 32, False),
                 ('i64', 64, True), ('u64', 64, False), ('usize', 32, False), ('isize', 32, True)]


class RustProgram:
    def __init__(self, seed, count):
        self.rng, self.count = random.Random(seed), count
        self.lines, self.calls = [], []

    def integer(self):
        name, bits, is_signed = self.rng.choice(RUST_INTEGERS)
        low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if is_signed else (0, 2**bits - 1)
        n = self.rng.choice((low, high, self.rng.randint(low, high)))
        return name, '%d' % n, str(n)

    def struct(self):
        n, f = self.rng.randint(0, 1000), self.rng.randint(-800, 800) / 8
        return self.rng.choice((
            ('Pair', 'Pair { x: %d, y: -3 }' % n, '{x=%d, y=-3}' % n),
            ('Wide', 'Wide { a: %d, b: %.3f, c: -2 }' % (n, f), '{a=%d, b=%s, c=-2}' % (n, number_text(f))),
            ('Floats', 'Floats { a: %.3f, b: 0.5 }' % f, '{a=%s, b=0.5}' % number_text(f)),
            ('One', 'One { only: %d }' % n, '{only=%d}' % n)))

    def parameter(self):
        """Returns (type, argument, text)."""
        what = self.rng.randrange(9)
        if what < 2:
            return self.integer()
        if what == 2:
            f = self.rng.randint(-4000, 4000) / 8
            return self.rng.choice(('f32', 'f64')), '%.3f' % f, number_text(f)
        if what == 3:
            return self.rng.choice((('bool', 'true', 'true'), ('char', "'x'", "'x'"), ('Color', 'Color::Green', 'Green')))
        if what == 4:
            text = self.rng.choice(('', 'a str', LONG_TEXT))
            return '&str', '"%s"' % text, '"%s"' % text if len(text) <= LIMIT else '"%s"...' % text[:LIMIT]
        if what == 5:
            return 'String', 'String::from("owned")', '"owned"'
        if what == 6:
            return '&[u8]', 'b"bytes"', '"bytes"'
        kind, argument, text = self.struct()
        return ('&' + kind, '&' + argument, text) if what == 7 else (kind, argument, text)

    def add_function(self, index):
        name = 'f%d' % index
        parameters = [self.parameter() for _ in range(self.rng.choice((0, 1, 2, 2, 3, 4, 6, 8)))]
        result = self.rng.choice((None, self.integer(), self.struct()))
        self.lines.append('#[inline(never)] fn %s(%s)%s {' % (
            name, ', '.join('p%d: %s' % (i, p[0]) for i, p in enumerate(parameters)), ' -> ' + result[0] if result else ''))
        for i, (_, _, text) in enumerate(parameters):
            self.lines.append('    log(String::from("%s\\tp%d=%s")); black_box(&p%d);' % (name, i, self.literal(text), i))
        if not parameters:
            self.lines.append('    log(String::from("%s\\t"));' % name)
        if result:
            self.lines.append('    log(String::from("%s\\treturn=%s"));\n    black_box(%s)' % (name, result[2], result[1]))
        self.lines.append('}')
        self.calls.append('    black_box(%s(%s));' % (name, ', '.join('black_box(%s)' % p[1] for p in parameters)))

    @staticmethod
    def literal(text):
        return text.replace('\\', '\\\\').replace('"', '\\"')

    def source(self):
        for index in range(self.count):
            self.add_function(index)
        return '\n'.join([RUST_HEAD] + self.lines + [
            'fn main() {', '    let path = std::env::args().nth(1).unwrap();',
            '    unsafe { LOG = Some(std::fs::File::create(path).unwrap()); }'] + self.calls + ['}', ''])


PROGRAMS = {'c': Program, 'cpp': CppProgram, 'rs': RustProgram}


def source(language, seed, count=200):
    return PROGRAMS[language](seed, count).source()


if __name__ == '__main__':
    import sys
    sys.stdout.write(source(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 200))
