/* Tests the journal and the repair by the guardian, on this process's own memory. */
#include "config.h"
#include "engine/rescue_code.h"
#include "engine/shared_state.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static struct engine engine;
static struct guard_spaces spaces;
static int visible; /* V's end of the socket */
static unsigned char text[64];

static const unsigned char int3[] = {0xcc}, brk4[] = {0x00, 0x00, 0x20, 0xd4};

static int set_up(void **state)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
		return 1;
	visible = sockets[0];
	memset(&engine, 0, sizeof(engine));
	engine.link = sockets[1];
	engine.shared = mmap(NULL, sizeof(*engine.shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)i;
	guard_init(&engine);
	return 0;
}

static int tear_down(void **state)
{
	close(visible);
	close(engine.link);
	munmap(engine.shared, sizeof(*engine.shared));
	guard_free(&engine);
	guard_spaces_free(&spaces);
	return 0;
}

static int open_memory(void)
{
	return open("/proc/self/mem", O_RDWR | O_CLOEXEC);
}

static int add_space(void)
{
	const int fd = open_memory();
	const int space = guard_add_space(&engine, fd);

	close(fd); /* V has its own descriptor */
	return space;
}

/* Handles the messages that have arrived, as V does. */
static void receive(void)
{
	struct message message;
	int fd;

	while (message_receive(visible, &message, &fd) == 1)
		guard_spaces_set(&spaces, message.space, message.type == MESSAGE_ADD_SPACE ? fd : -1);
}

static long plant(int space, size_t at, const unsigned char *breakpoint, unsigned size)
{
	const long journal_index = guard_note(&engine, space, (uintptr_t)&text[at], &text[at], breakpoint, size);

	memcpy(&text[at], breakpoint, size);
	return journal_index;
}

static size_t repair(size_t *failed)
{
	receive();
	return rescue_code(engine.shared, &spaces, failed);
}

static void test_repair_restores_the_text_under_breakpoints(void **state)
{
	size_t failed;
	const int space = add_space();

	assert_int_equal(space, 0);
	assert_int_equal(plant(space, 3, int3, 1), 0);
	assert_int_equal(plant(space, 8, brk4, 4), 1);
	assert_int_equal(plant(space, 20, int3, 1), 2);
	assert_int_equal(plant(space, 30, int3, 1), 3);
	text[20] = 0x90; /* by now another program has its text there */
	text[30] = 30;   /* the breakpoint is removed, but its note is not cleared yet */
	assert_int_equal(repair(&failed), 2);
	assert_int_equal(failed, 0);
	for (size_t i = 0; i < sizeof(text); i++)
		assert_int_equal(text[i], i == 20 ? 0x90 : (int)i);
}

static void test_cleared_notes_are_not_repaired(void **state)
{
	size_t failed;
	const int space = add_space();
	const long a = plant(space, 1, int3, 1), b = plant(space, 2, int3, 1), c = plant(space, 3, int3, 1);

	guard_clear(&engine, b);
	guard_clear(&engine, b); /* a second call does nothing */
	/* A free entry of notes[] is not reused at once, so that G still finds the places of recent breakpoints. */
	assert_int_equal(plant(space, 4, int3, 1), c + 1);
	assert_int_equal(engine.shared->notes[b].address, (uintptr_t)&text[2]);
	guard_clear(&engine, c);
	guard_clear(&engine, a);
	assert_int_equal(plant(space, 5, int3, 1), c + 2);
	assert_int_equal(repair(&failed), 2);
	assert_int_equal(text[1], 0xcc);
	assert_int_equal(text[2], 0xcc);
	assert_int_equal(text[3], 0xcc);
	assert_int_equal(text[4], 4);
	assert_int_equal(text[5], 5);
	guard_clear(&engine, -1);
	guard_clear(&engine, 1000);
	assert_int_equal(guard_note(&engine, 77, 0, int3, int3, 1), -1);
	assert_int_equal(guard_note(&engine, -1, 0, int3, int3, 1), -1);
	assert_int_equal(guard_note(&engine, space, 0, int3, int3, 5), -1);
}

static void test_notes_of_a_removed_space_are_not_repaired(void **state)
{
	size_t failed;
	const int first = add_space(), second = add_space();

	assert_int_equal(second, 1);
	plant(first, 1, int3, 1);
	plant(second, 2, int3, 1);
	plant(first, 3, int3, 1);
	guard_remove_space(&engine, first);
	guard_remove_space(&engine, first);
	assert_int_equal(repair(&failed), 1);
	assert_int_equal(text[1], 0xcc);
	assert_int_equal(text[2], 2);
	assert_int_equal(text[3], 0xcc);
	assert_int_equal(add_space(), first);
	plant(first, 4, int3, 1);
	plant(first, 5, int3, 1);
	assert_int_equal(repair(&failed), 2);
}

/* Cleared notes are reused in the order in which they were cleared. */
static void test_cleared_notes_rest_before_their_reuse(void **state)
{
	const int space = add_space();

	for (long i = 0; i < GUARD_REST; i++) {
		assert_int_equal(plant(space, 1, int3, 1), i);
		guard_clear(&engine, i);
	}
	for (long i = 0; i < 100; i++) {
		assert_int_equal(plant(space, 1, int3, 1), i);
		guard_clear(&engine, i);
	}
	assert_int_equal(atomic_load(&engine.shared->note_high), GUARD_REST);
}

static void test_full_journal_refuses_notes(void **state)
{
	const int space = add_space();
	long last = 0;

	for (size_t i = 0; i < GUARD_NOTES; i++)
		last = guard_note(&engine, space, i, int3, int3, 1);
	assert_int_equal(last, GUARD_NOTES - 1);
	assert_int_equal(guard_note(&engine, space, 1, int3, int3, 1), -1);
	guard_clear(&engine, 5);
	assert_int_equal(guard_note(&engine, space, 1, int3, int3, 1), 5);
}

/* While V does not read, E must not block. E must not reuse the id of a space before V has received the message that
 * this id is free. */
static void test_engine_never_waits_for_the_visible_process(void **state)
{
	int first = add_space(), last = first, count = 1;

	assert_int_equal(first, 0);
	while ((last = add_space()) >= 0)
		count++;
	assert_true(count > 10);
	guard_remove_space(&engine, 0);
	receive();
	assert_int_equal(add_space(), count);
	receive();
	assert_true(spaces.fds[0] >= 0);
}

/* guard_lend() notes that a process has the breakpoints of a space. They are repaired even if V has received no
 * descriptor of the process's memory. */
static void test_lent_breakpoints_are_repaired(void **state)
{
	size_t failed;
	const int space = add_space(), other = add_space();
	const int loan = guard_lend(&engine, space, getpid());

	assert_int_equal(loan, 0);
	plant(space, 1, int3, 1);
	plant(other, 2, int3, 1);
	plant(space, 8, brk4, 4);
	assert_int_equal(rescue_code(engine.shared, &spaces, &failed), 2); /* V has received nothing */
	assert_int_equal(failed, 0);
	for (size_t i = 0; i < sizeof(text); i++)
		assert_int_equal(text[i], i == 2 ? 0xcc : (int)i);
	memcpy(&text[8], brk4, 4);
	guard_lend_end(&engine, loan);
	assert_int_equal(rescue_code(engine.shared, &spaces, &failed), 0);
	assert_int_equal(guard_lend(&engine, space, getpid()), loan);
	assert_int_equal(guard_lend(&engine, -1, getpid()), -1);
	for (int i = 1; i < GUARD_LOANS; i++)
		assert_int_equal(guard_lend(&engine, space, getpid()), i);
	assert_int_equal(guard_lend(&engine, space, getpid()), -1);
	guard_lend_end(&engine, 7);
	assert_int_equal(guard_lend(&engine, space, getpid()), 7);
	guard_lend_end(&engine, -1);
	guard_lend_end(&engine, GUARD_LOANS);
}

/* The journal of a dead engine may contain anything. */
static void test_invalid_journal_is_repaired_within_bounds(void **state)
{
	size_t failed;
	const int space = add_space();

	plant(space, 1, int3, 1);
	atomic_store(&engine.shared->note_high, UINT32_MAX);
	atomic_store(&engine.shared->notes[7].size, 200);
	engine.shared->notes[8].space = 1u << 31;
	atomic_store(&engine.shared->notes[8].size, 1);
	engine.shared->notes[9].address = UINT64_MAX;
	atomic_store(&engine.shared->notes[9].size, 4);
	assert_int_equal(repair(&failed), 1);
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_repair_restores_the_text_under_breakpoints, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cleared_notes_are_not_repaired, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_notes_of_a_removed_space_are_not_repaired, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cleared_notes_rest_before_their_reuse, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_journal_refuses_notes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_engine_never_waits_for_the_visible_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lent_breakpoints_are_repaired, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_invalid_journal_is_repaired_within_bounds, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
