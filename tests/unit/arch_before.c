/* Tests which bytes before a return address arch_call_before() reads, at the edges of readable memory. */
#include "config.h"
#include "unit_test.h"

#include <errno.h>

#include "arch/arch.h"

#define MAPPED 0x7000u /* where the code begins: the memory before it cannot be read */
#define STATE  1u

static unsigned reads;

/* Reads code in which each byte is the low byte of its address. Fails before *start. */
static int code_read(void *context, uint64_t address, void *data, size_t size)
{
	const uint64_t *start = context;

	reads++;
	if (address < *start || address + size < address)
		return -EIO;
	for (size_t i = 0; i < size; i++)
		((unsigned char *)data)[i] = (unsigned char)(address + i);
	return 0;
}

static uint64_t asked_address;
static size_t asked_size;

static enum arch_call follows_call(uint64_t address, const unsigned char *code, size_t size)
{
	asked_address = address;
	asked_size = size;
	for (size_t i = 0; i < size; i++)
		assert_int_equal(code[i], (unsigned char)((address & ~(uint64_t)STATE) - size + i));
	return CALL_COMPUTED;
}

static const struct {
	uint64_t start, address; /* where readable memory begins; the return address */
	size_t size;             /* number of bytes that are read; 0: none can be read */
	unsigned reads;
} cases[] = {
	{0, MAPPED + 0x100, ARCH_CALL_BYTES, 1},
	{0, MAPPED + 0x100 + STATE, ARCH_CALL_BYTES, 1},
	{0, MAPPED + 2, ARCH_CALL_BYTES, 1}, /* on two pages */
	{MAPPED, MAPPED + ARCH_CALL_BYTES, ARCH_CALL_BYTES, 1},
	{MAPPED, MAPPED + ARCH_CALL_BYTES - 2, ARCH_CALL_BYTES - 2, 2},
	{MAPPED, MAPPED + 6, 6, 2},
	{MAPPED, MAPPED + 6 + STATE, 6, 2},
	{MAPPED, MAPPED, 0, 1}, /* the call would be in the page before */
	{MAPPED, MAPPED - 2, 0, 1},
	{MAPPED, MAPPED - 0x1000 + 2, 0, 2},
	{0, ARCH_CALL_BYTES, ARCH_CALL_BYTES, 1},
	{0, ARCH_CALL_BYTES - 2, 0, 0}, /* an address below 0 does not wrap around */
	{0, 0, 0, 0},
};

static void test_search_for_calls_stops_at_unreadable_memory(void **state)
{
	const struct arch arch = {.code_state.bits = STATE, .code.follows_call = follows_call};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t start = cases[i].start;
		const struct arch_memory code = {.read = code_read, .context = &start};
		enum arch_call call = CALL_FIXED;

		print_message("0x%llx\n", (unsigned long long)cases[i].address);
		reads = 0;
		asked_size = 0;
		const int error = arch_call_before(&arch, cases[i].address, &code, &call);

		assert_int_equal(reads, cases[i].reads);
		assert_int_equal(asked_size, cases[i].size);
		if (cases[i].size) {
			assert_int_equal(error, 0);
			assert_int_equal(call, CALL_COMPUTED);
			assert_int_equal(asked_address, cases[i].address);
		} else {
			assert_int_equal(error, cases[i].reads ? -EIO : -EFAULT);
			assert_int_equal(call, CALL_FIXED);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_search_for_calls_stops_at_unreadable_memory)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
