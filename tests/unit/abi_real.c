/* Compares the places where the compiler passes arguments and results of generated functions with arch/abi.h. Prints
 * TAP. */
#include "config.h"
#include "abi_real.h"
#include "arch/abi_rules.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#if defined __x86_64__
#define ABI         abi_x86_64
#define LONG_DOUBLE ABI_X87
#elif defined __i386__
#define ABI         abi_i386
#define LONG_DOUBLE ABI_X87
#elif defined __aarch64__
#define ABI         abi_aarch64
#define LONG_DOUBLE ABI_FLOAT
#else
#define ABI         abi_arm
#define LONG_DOUBLE ABI_FLOAT
#endif

#define STACK_BYTES 8192
#define VALUE_MAX   4096

struct made_value {
	struct abi_value value;
	unsigned char bytes[VALUE_MAX], mask[VALUE_MAX];
};

/* The assembly below fills this struct, and contains the offsets of its fields. It stores the registers in the kernel's
 * form, the floating point registers, and the stack from sp on. */
struct dump {
	struct arch_regs regs;                               /* 0 */
	unsigned char pad[32];                               /* 288 */
	unsigned char floats[1024] __attribute__((aligned)); /* 320 */
	unsigned char stack[STACK_BYTES];                    /* 1344 */
};

_Static_assert(offsetof(struct dump, floats) == 320 && offsetof(struct dump, stack) == 1344, "the code knows it");

struct dump made_dump __attribute__((aligned(64)));

/* Calls a function, and dumps the registers after its return. The address of memory for a result, `room`, is where the
 * ABI expects it: in a register, or on i386 on the stack. */
void abi_call(void (*function)(void), void *room);

#if defined __x86_64__
__asm__(".text\n"
	".globl abi_entry\n.type abi_entry, @function\n"
	"abi_entry:\n"
	" mov %r8, made_dump+72(%rip)\n mov %r9, made_dump+64(%rip)\n"
	" mov %rcx, made_dump+88(%rip)\n mov %rdx, made_dump+96(%rip)\n"
	" mov %rsi, made_dump+104(%rip)\n mov %rdi, made_dump+112(%rip)\n"
	" fxsave64 made_dump+320(%rip)\n"
	" mov %rsp, %rsi\n lea made_dump+1344(%rip), %rdi\n mov $1024, %ecx\n"
	" rep movsq\n ret\n"
	".globl abi_call\n.type abi_call, @function\n"
	"abi_call:\n"
	" push %rbx\n mov %rdi, %rax\n mov %rsi, %rdi\n mov %rsi, made_dump+112(%rip)\n"
	" mov %rax, %r11\n xor %eax, %eax\n call *%r11\n"
	" mov %rax, made_dump+80(%rip)\n mov %rdx, made_dump+96(%rip)\n"
	" fxsave64 made_dump+320(%rip)\n fninit\n pop %rbx\n ret\n");
#elif defined __i386__
/* Loads the dump's address into eax, in position-independent code. */
#define DUMP " call 2f\n2: pop %eax\n lea made_dump-2b(%eax), %eax\n"
#define ENTRY                                                                                                          \
	" push %esi\n push %edi\n" DUMP " fxsave 320(%eax)\n lea 8(%esp), %esi\n"                                      \
	" lea 1344(%eax), %edi\n mov $2048, %ecx\n"                                                                    \
	" rep movsl\n pop %edi\n pop %esi\n"
__asm__(".text\n"
	".globl abi_entry\n.type abi_entry, @function\n"
	"abi_entry:\n" ENTRY " ret\n"
	".globl abi_entry_pop\n.type abi_entry_pop, @function\n"
	"abi_entry_pop:\n" ENTRY " ret $4\n"
	".globl abi_call\n.type abi_call, @function\n"
	"abi_call:\n"
	" push %ebp\n mov %esp, %ebp\n push %ebx\n sub $20, %esp\n mov 12(%ebp), %ecx\n" DUMP
	" mov %eax, %ebx\n mov %ecx, (%esp)\n mov %ecx, 1348(%ebx)\n call *8(%ebp)\n"
	" mov %eax, 24(%ebx)\n mov %edx, 8(%ebx)\n"
	" fxsave 320(%ebx)\n fninit\n mov -4(%ebp), %ebx\n leave\n ret\n");
#elif defined __aarch64__
#define SAVE(a, b)  " stp x" #a ", x" #b ", [x16, #8 * " #a "]\n"
#define FLOAT(a, b) " stp q" #a ", q" #b ", [x17, #16 * " #a "]\n"
__asm__(".text\n"
	"abi_dump:\n"
	" adrp x16, made_dump\n add x16, x16, :lo12:made_dump\n add x17, x16, #320\n" SAVE(0, 1) SAVE(2, 3) SAVE(
		4, 5) SAVE(6, 7) SAVE(8, 9) FLOAT(0, 1) FLOAT(2, 3) FLOAT(4, 5)
		FLOAT(6,
		      7) " ret\n"
			 ".globl abi_entry\n.type abi_entry, %function\n"
			 "abi_entry:\n"
			 " mov x15, x30\n bl abi_dump\n mov x30, x15\n add x17, x16, #1344\n"
			 " mov x9, #0\n"
			 "1: ldr x10, [sp, x9]\n str x10, [x17, x9]\n add x9, x9, #8\n cmp x9, #8192\n b.ne 1b\n ret\n"
			 ".globl abi_call\n.type abi_call, %function\n"
			 "abi_call:\n"
			 " stp x29, x30, [sp, #-16]!\n mov x8, x1\n blr x0\n bl abi_dump\n"
			 " ldp x29, x30, [sp], #16\n ret\n");
#else
__asm__(".text\n.arm\n.fpu vfpv3-d16\n"
	"abi_dump:\n"
	" ldr r12, 2f\n3: add r12, pc, r12\n stm r12, {r0-r3}\n add r12, r12, #320\n vstm r12, {d0-d15}\n bx lr\n"
	"2: .word made_dump - (3b + 8)\n"
	".globl abi_entry\n.type abi_entry, %function\n"
	"abi_entry:\n"
	" push {r4, lr}\n bl abi_dump\n add r12, r12, #1024\n add r1, sp, #8\n mov r2, #8192\n"
	"1: ldr r3, [r1], #4\n str r3, [r12], #4\n subs r2, r2, #4\n bne 1b\n pop {r4, pc}\n"
	".globl abi_call\n.type abi_call, %function\n"
	"abi_call:\n"
	" push {r4, lr}\n mov r4, r0\n mov r0, r1\n blx r4\n bl abi_dump\n pop {r4, pc}\n");
#endif

/* ---- Description of a function ---- */

void abi_entry(void);
void (*volatile made_entry)(void) = abi_entry;
#ifdef __i386__
void abi_entry_pop(void);
void (*volatile made_entry_pop)(void) = abi_entry_pop;
#endif

static struct {
	unsigned number, count;
	const char *words;
	bool is_variadic, has_result;
	struct made_value args[MADE_ARGS], result;
} made;

static unsigned compared, unknown, wrong;
static uint64_t state = 88172645463325252u;

uint64_t made_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 2685821657736338717u;
}

void made_fill(void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)bytes)[i] = (unsigned char)(made_random() >> 32);
}

void made_begin(unsigned number, const char *words, int is_variadic)
{
	made.number = number;
	made.words = words;
	made.is_variadic = is_variadic;
	made.has_result = false;
	made.count = 0;
	memset(&made_dump, 0xee, sizeof(made_dump));
}

static struct made_value *begin_value(struct made_value *made_value, size_t size, size_t align, int is_struct)
{
	*made_value = (struct made_value){.value = {.size = size, .align = (uint32_t)align, .is_struct = is_struct}};
	if (size > VALUE_MAX)
		abort();
	return made_value;
}

struct made_value *made_argument(size_t size, size_t align, int is_struct)
{
	return begin_value(&made.args[made.count++], size, align, is_struct);
}

struct made_value *made_result(size_t size, size_t align, int is_struct)
{
	made.has_result = true;
	return begin_value(&made.result, size, align, is_struct);
}

void made_by_address(struct made_value *value)
{
	value->value.by_address = true;
}

static void add_field(struct abi_value *value, size_t offset, size_t size, unsigned char kind)
{
	for (unsigned i = 0; i < value->field_count && i < ABI_FIELDS; i++)
		if (value->fields[i].offset == offset && value->fields[i].size == size && value->fields[i].kind == kind)
			return;
	if (value->field_count < ABI_FIELDS)
		value->fields[value->field_count] =
			(struct abi_field){.offset = (uint32_t)offset, .size = (uint16_t)size, .kind = kind};
	value->field_count++;
}

void made_field(struct made_value *made_value, size_t offset, size_t size, enum made_kind kind, int is_compared)
{
	static const unsigned char kinds[] = {ABI_INTEGER, ABI_FLOAT, LONG_DOUBLE, ABI_VECTOR};

	add_field(&made_value->value, offset, size, kinds[kind]);
	if (is_compared)
		memset(made_value->mask + offset, 0xff, kinds[kind] == ABI_X87 ? 10 : size);
}

void made_bits(struct made_value *made_value, size_t offset, size_t size, const void *set, int is_compared)
{
	const unsigned char *bits = set;
	size_t first = 0, last = size;

	while (first < size && !bits[first])
		first++;
	while (last > first && !bits[last - 1])
		last--;
	if (last == first)
		abort();
	add_field(&made_value->value, offset + first, last - first, ABI_BITS);
	for (size_t i = 0; is_compared && i < size; i++)
		made_value->mask[offset + i] |= bits[i];
}

void made_bytes(struct made_value *value, const void *bytes)
{
	memcpy(value->bytes, bytes, value->value.size);
}

/* ---- The values in the dump ---- */

static void report_difference(const char *what, unsigned which, const char *problem)
{
	wrong++;
	printf("# function %u, %s, %s %u: %s\n", made.number, made.words, what, which, problem);
}

/* Collects the bytes at a place: those of the value, or of its address if the place contains an address. */
static void gather(const struct abi_place *place, bool at_return, unsigned char *bytes)
{
	for (unsigned i = 0; i < place->piece_count; i++) {
		const struct abi_piece *piece = &place->pieces[i];
		const uint64_t word = at_return && !place->is_address
					      ? ABI.result_register(&made_dump.regs, piece->index)
					      : ABI.argument_register(&made_dump.regs, piece->index);

		if (piece->offset + piece->size > VALUE_MAX || piece->at > STACK_BYTES - 64)
			abort();
		if (piece->kind == PIECE_INTEGER)
			memcpy(bytes + piece->offset, &word, piece->size);
		else if (piece->kind == PIECE_FLOAT)
			memcpy(bytes + piece->offset, made_dump.floats + piece->at, piece->size);
		else if (piece->kind == PIECE_X87)
			abi_x87_value(made_dump.floats + piece->at, bytes + piece->offset, piece->size);
		else
			memcpy(bytes + piece->offset, made_dump.stack + piece->at, piece->size);
	}
}

static void compare(const struct made_value *value, const unsigned char *bytes, const char *what, unsigned which)
{
	compared++;
	for (size_t i = 0; i < value->value.size; i++)
		if ((bytes[i] ^ value->bytes[i]) & value->mask[i]) {
			report_difference(what, which, "its bytes are not at its place");
			return;
		}
}

static uintptr_t pointer_in(const unsigned char *bytes)
{
	uintptr_t pointer;

	memcpy(&pointer, bytes, sizeof(pointer));
	return pointer;
}

/* An argument that is passed by address is copied to the caller's stack, which ends at stack_end. */
static uintptr_t stack_end;

static bool is_on_stack(uintptr_t pointer)
{
	return pointer < stack_end && stack_end - pointer < ((uintptr_t)1 << 20);
}

#ifdef __clang__
#define IS_GCC false
#else
#define IS_GCC true
#endif

static struct abi_function as_function(struct abi_value *values)
{
	for (unsigned i = 0; i < made.count; i++)
		values[i] = made.args[i].value;
	return (struct abi_function){.values = values,
				     .count = made.count,
				     .result = made.has_result ? &made.result.value : NULL,
				     .is_variadic = made.is_variadic,
				     .is_gcc = IS_GCC};
}

void made_check_arguments(void)
{
	static struct abi_place places[MADE_ARGS];
	struct abi_value values[MADE_ARGS];
	const struct abi_function function = as_function(values);
	static unsigned char bytes[VALUE_MAX];

	memset(places, 0x99, sizeof(places));
	ABI.arguments(&function, places);
	for (unsigned i = 0; i < made.count; i++) {
		memset(bytes, 0x55, sizeof(bytes));
		if (!places[i].is_known) {
			unknown++;
			continue;
		}
		gather(&places[i], false, bytes);
		if (places[i].is_address && !is_on_stack(pointer_in(bytes))) {
			report_difference("argument", i, "its address is not at its place");
			continue;
		}
		if (places[i].is_address)
			memcpy(bytes, (const void *)pointer_in(bytes), values[i].size);
		compare(&made.args[i], bytes, "argument", i);
	}
}

void made_check_result(void (*code)(void))
{
	static unsigned char bytes[VALUE_MAX], room[VALUE_MAX] __attribute__((aligned(64)));
	struct abi_value values[MADE_ARGS];
	const struct abi_function function = as_function(values);
	struct abi_place place;

	memset(&place, 0x99, sizeof(place));
	memset(bytes, 0x55, sizeof(bytes));
	memset(room, 0x77, sizeof(room));
	ABI.result(&function, &place);
	memset(&made_dump, 0xee, sizeof(made_dump));
	abi_call(code, room);
#if defined __aarch64__
	made_dump.regs.words[8] = (uintptr_t)room; /* as at the entry */
#elif defined __arm__
	made_dump.regs.narrow[0] = place.is_address ? (uintptr_t)room : made_dump.regs.narrow[0];
#endif
	if (!place.is_known) {
		unknown++;
		return;
	}
	gather(&place, true, bytes);
	if (!place.is_address) {
		compare(&made.result, bytes, "result", 0);
		return;
	}
	if (pointer_in(bytes) != (uintptr_t)room)
		report_difference("result", 0, "its address is not where it should be");
	else
		compare(&made.result, room, "result", 0);
}

int main(void)
{
	char room_above[2 * STACK_BYTES]; /* for abi_entry() to read */

	__asm__ volatile("" : : "r"(room_above) : "memory");
	stack_end = (uintptr_t)room_above + sizeof(room_above);
	for (unsigned i = 0; i < made_count; i++)
		made_functions[i]();
	printf("%s 1 - %u functions: %u values are at their places, %u are not, of %u it is unknown\n1..1\n",
	       wrong || compared < 5 * unknown ? "not ok" : "ok", made_count, compared - wrong, wrong, unknown);
	return wrong != 0;
}
