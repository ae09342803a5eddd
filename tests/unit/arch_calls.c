/* Tests call_slot(), which finds the slot of the global offset table through which a call reaches its target: on the
 * forms of procedure linkage that linkers make, on functions that end in a jump, and on code that only looks like
 * these. */
#include "config.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/util.h"
#include "tests/unit/arch_hex.h"

/* Two pages of code, with unreadable memory after them. */
#define CODE   0x400000u
#define MAPPED 0x2000u
#define CALL   (CODE + 0x10) /* where the call begins */
#define STUB   (CODE + 0x100)
#define OTHER  (CODE + 0x180)

static unsigned char memory[MAPPED];

static int code_read(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	if (address < CODE || address - CODE > MAPPED || size > MAPPED - (address - CODE))
		return -EIO;
	memcpy(data, memory + (address - CODE), size);
	return 0;
}

static const struct arch *arch;
static uint64_t got; /* address of the code's global offset table */

static size_t put(uint64_t address, const char *hex)
{
	return hex_bytes(hex, memory + (address - CODE), MAPPED - (address - CODE));
}

/* Returns the slot of the call before a return address, or 0 if there is none. */
static uint64_t slot_of(uint64_t return_address)
{
	const struct arch_memory code = {.read = code_read};
	uint64_t slot = 0;

	if (arch->code.call_slot(return_address, got, &code, &slot))
		return slot;
	assert_int_equal(slot, 0);
	return 0;
}

struct form {
	const char *call, *stub, *other; /* at CALL, STUB and OTHER */
	uint64_t slot;
};

static const struct form calls[] = {
	/* call STUB (at 0x400015 + 0xeb): an entry of the classic .plt, and of .plt.got */
	{"e8 eb 00 00 00", "ff 25 fa 1e 00 00 68 05 00 00 00 e9 90 ff ff ff", "", 0x402000},
	{"e8 eb 00 00 00", "ff 25 f2 1e 00 00 66 90", "", 0x401ff8},
	/* addr32 call, as a linker relaxes call *GOT */
	{"67 e8 ea 00 00 00", "ff 25 fa 1e 00 00", "", 0x402000},
	/* .plt.sec, with and without bnd */
	{"e8 eb 00 00 00", "f3 0f 1e fa ff 25 f6 1e 00 00 66 0f 1f 44 00 00", "", 0x402000},
	{"e8 eb 00 00 00", "f3 0f 1e fa f2 ff 25 f5 1e 00 00 0f 1f 44 00 00", "", 0x402000},
	{"f2 e8 ea 00 00 00", "f2 ff 25 f9 1e 00 00 90", "", 0x402000},
	/* mold's: endbr64; mov $index, %r11d; jmp */
	{"e8 eb 00 00 00", "f3 0f 1e fa 41 bb 07 00 00 00 ff 25 f0 1e 00 00", "", 0x402000},
	/* -fno-plt: call *GOT, with prefixes */
	{"ff 15 ea 1f 00 00", "", "", 0x402000},
	{"66 48 ff 15 e8 1f 00 00", "", "", 0x402000},
	{"ff 15 ea ff ff ff", "", "", 0x400000},
	/* a function that ends in a jump to linkage: mov $64, %edi; jmp OTHER; and by -fno-plt, rex.W jmp *GOT */
	{"e8 eb 00 00 00", "bf 40 00 00 00 e9 76 00 00 00", "ff 25 7a 1e 00 00", 0x402000},
	{"e8 eb 00 00 00", "48 89 fe bf 40 00 00 00 48 ff 25 f1 1e 00 00", "", 0x402000},
	{"e8 eb 00 00 00", "eb 7e", "f3 0f 1e fa ff 25 76 1e 00 00", 0x402000},
	/* code that does something else: a condition, a call, a return, a trap, a system call, another jump */
	{"e8 eb 00 00 00", "74 02 90 90 ff 25 fa 1e 00 00", "", 0},
	{"e8 eb 00 00 00", "e8 7b 00 00 00 ff 25 fa 1e 00 00", "c3", 0},
	{"e8 eb 00 00 00", "ff d0 ff 25 fa 1e 00 00", "", 0},
	{"e8 eb 00 00 00", "c3 ff 25 fa 1e 00 00", "", 0},
	{"e8 eb 00 00 00", "cc ff 25 fa 1e 00 00", "", 0},
	{"e8 eb 00 00 00", "0f 05 ff 25 fa 1e 00 00", "", 0},
	{"e8 eb 00 00 00", "e3 00 ff 25 fa 1e 00 00", "", 0},
	{"e8 eb 00 00 00", "e2 00 ff 25 fa 1e 00 00", "", 0},
	{"e8 eb 00 00 00", "ff e0", "", 0},
	{"e8 eb 00 00 00", "ff 24 c5 00 20 40 00", "", 0}, /* jmp *table(,%rax,8) */
	{"e8 eb 00 00 00", "ff 24 25 00 20 40 00", "", 0}, /* jmp *0x402000 */
	{"e8 eb 00 00 00", "ff 2d fa 1e 00 00", "", 0},    /* ljmp */
	{"e8 eb 00 00 00", "67 ff 25 f9 1e 00 00", "", 0}, /* jmp *x(%eip) */
	{"e8 eb 00 00 00", "06", "", 0},                   /* no instruction */
	/* a loop without end, and a target that is not mapped */
	{"e8 eb 00 00 00", "eb fe", "", 0},
	{"e8 eb ff ff 0f", "", "", 0},
	/* other calls */
	{"ff d0", "", "", 0},
	{"ff 10", "", "", 0},
	{"ff 90 01 02 03 04", "", "", 0},
	{"ff 14 c5 01 02 03 04", "", "", 0},
	{"ff 1d ea 1f 00 00", "", "", 0}, /* lcall */
	{"ff 25 ea 1f 00 00", "", "", 0}, /* no call */
	{"0f 15 ea 1f 00 00", "", "", 0},
	{"e9 eb 00 00 00", "ff 25 fa 1e 00 00", "", 0},
};

/* 32-bit code; the global offset table is at 0x403000. */
static const struct form calls_32[] = {
	/* call STUB, which jumps through a fixed address, or by ebx; .plt, .plt.got, .plt.sec; lld's and mold's */
	{"e8 eb 00 00 00", "ff 25 00 20 40 00 68 08 00 00 00 e9 d0 ff ff ff", "", 0x402000},
	{"e8 eb 00 00 00", "ff a3 10 00 00 00 68 08 00 00 00 e9 d0 ff ff ff", "", 0x403010},
	{"e8 eb 00 00 00", "f3 0f 1e fb ff a3 10 00 00 00 66 0f 1f 44 00 00", "", 0x403010},
	{"e8 eb 00 00 00", "ff a3 f8 ff ff ff 66 90", "", 0x402ff8},
	{"e8 eb 00 00 00", "ff 63 f8", "", 0x402ff8},
	{"e8 eb 00 00 00", "b9 08 00 00 00 ff a3 10 00 00 00", "", 0x403010},
	/* a jump 2 GiB backward, around address 0, to 0x80400180 */
	{"e8 eb 00 00 00", "e9 7b 00 00 80", "", 0},
	/* -fno-plt: by a fixed address, or by a register; with a positive offset, registers other than ebx may point to
	 * another table */
	{"ff 15 00 20 40 00", "", "", 0x402000},
	{"ff 93 f0 ff ff ff", "", "", 0x402ff0},
	{"ff 93 10 00 00 00", "", "", 0x403010},
	{"ff 53 b0", "", "", 0x402fb0},
	{"ff 50 b0", "", "", 0x402fb0},
	{"ff 97 f0 fe ff ff", "", "", 0x402ef0},
	{"ff 55 fc", "", "", 0x402ffc},
	{"ff 50 10", "", "", 0},
	{"ff 90 10 00 00 00", "", "", 0},
	{"ff 54 24 f0", "", "", 0}, /* call *-16(%esp) */
	/* a function that ends in a jump to linkage */
	{"e8 eb 00 00 00", "b8 40 00 00 00 e9 76 00 00 00", "ff a3 10 00 00 00", 0x403010},
	/* functions that do something else */
	{"e8 eb 00 00 00", "8b 1c 24 c3", "", 0},
	{"e8 eb 00 00 00", "65 ff 25 10 00 00 00", "", 0}, /* jmp *%gs:16 */
	{"e8 eb 00 00 00", "67 ff 26 00 20", "", 0},       /* jmp *0x2000, 16 bits */
	{"65 ff 15 10 00 00 00", "", "", 0x10},            /* the program has no slot at this address */
	{"ff d0", "", "", 0},
	{"ff 10", "", "", 0},
	{"ff 14 85 00 20 40 00", "", "", 0},
	{"9a 00 01 40 00 73 00", "", "", 0}, /* lcall */
};

static void check_forms(const struct form *forms, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		print_message("%s | %s | %s\n", forms[i].call, forms[i].stub, forms[i].other);
		memset(memory, 0x90, sizeof(memory));
		const size_t size = put(CALL, forms[i].call);

		put(STUB, forms[i].stub);
		put(OTHER, forms[i].other);
		assert_int_equal(slot_of(CALL + size), forms[i].slot);
	}
}

static void test_slots_of_x86_64_calls_are_found(void **state)
{
	check_forms(calls, ARRAY_SIZE(calls));
}

static void test_slots_of_i386_calls_are_found(void **state)
{
	arch = arch_for_elf(EM_386, ELFCLASS32);
	got = 0x403000;
	check_forms(calls_32, ARRAY_SIZE(calls_32));
	/* The address of the table is unknown. */
	got = 0;
	memset(memory, 0x90, sizeof(memory));
	put(CALL, "ff 93 f0 ff ff ff");
	assert_int_equal(slot_of(CALL + 6), 0);
	arch = arch_for_elf(EM_X86_64, ELFCLASS64);
}

/* Tests a stub that ends with the last page, one that the end of this page cuts off, and a call at the start of the
 * first page. */
static void test_slots_are_found_at_the_edges_of_mapped_code(void **state)
{
	memset(memory, 0x90, sizeof(memory));
	put(CALL, "e8 e5 1f 00 00"); /* CODE + 0x1ffa */
	put(CODE + 0x1ffa, "ff 25 00 01 00 00");
	assert_int_equal(slot_of(CALL + 5), 0x402100);
	put(CALL, "e8 e6 1f 00 00");
	put(CODE + 0x1ffb, "ff 25 00 01 00");
	assert_int_equal(slot_of(CALL + 5), 0);
	put(STUB, "ff 25 fa 1e 00 00");
	put(CODE, "e8 fb 00 00 00");
	assert_int_equal(slot_of(CODE + 5), 0x402000);
	put(CODE, "15 00 00 00 00"); /* ff would be in the page before */
	assert_int_equal(slot_of(CODE + 5), 0);
	assert_int_equal(slot_of(CODE + 4), 0);
	assert_int_equal(slot_of(0), 0);
	assert_int_equal(slot_of(3), 0);
	assert_int_equal(slot_of(UINT64_MAX), 0);
}

/* The search ends, whatever the code is. */
static void test_search_ends_in_random_code(void **state)
{
	unsigned found = 0;

	srand(7);
	for (unsigned n = 0; n < 2000; n++) {
		for (size_t i = 0; i < sizeof(memory); i++)
			memory[i] = (unsigned char)(rand() >> 5);
		for (unsigned i = 0; i < 16; i++) {
			put(CALL + 16 * i, "e8 eb 00 00 00");
			found += slot_of(CALL + 16 * i + 5) != 0;
		}
	}
	assert_in_range(found, 1, 3200); /* random bytes are seldom such a jump */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_of_x86_64_calls_are_found),
		cmocka_unit_test(test_slots_of_i386_calls_are_found),
		cmocka_unit_test(test_slots_are_found_at_the_edges_of_mapped_code),
		cmocka_unit_test(test_search_ends_in_random_code),
	};

	arch = arch_for_elf(EM_X86_64, ELFCLASS64);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
