/* Tests the exact text of the data at pointers that are parameters in modules' tables, on each processor. */
#include "config.h"
#include "args_util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Data that a function fills in is shown at its return. */
static void test_out_parameters_are_shown_at_the_return(void **state)
{
	static const struct function row = {.params = {{"pair", PARAM_INTS, .is_result = true, .needs = 2},
						       {"memptr", PARAM_INDIRECT, .is_result = true},
						       {"name", PARAM_STRING, .is_result = true},
						       {"fd", PARAM_INT}},
					    .returns = {"return", PARAM_ERROR},
					    .result = TYPE_INT,
					    .success = OK_ZERO};
	static const int32_t pair[] = {3, -4};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const uint64_t pointer = 0x55aa0000;
		char bytes[8];

		memcpy(bytes, &pointer, 8);
		fake_begin(&task, arch);
		fake_memory(&task, 0x1000, pair, sizeof(pair));
		fake_memory(&task, 0x2000, bytes, 8);
		fake_memory(&task, 0x3000, "tmpAb", 6);
		assert_text(ENTRY(&row, 0x1000, 0x2000, 0x3000, 5), "fd=5");
		assert_text(fake_leave_row(&task, &row, 0, false),
			    "pair=[3, -4], memptr=0x2000 -> 0x55aa0000, name=\"tmpAb\", return=0");
		assert_int_equal(task.reads, 3);
		assert_text(fake_leave_row(&task, &row, ENOMEM, true),
			    "pair=0x1000, memptr=0x2000, name=0x3000, return=ENOMEM");
		assert_int_equal(task.reads, 0);
		ENTRY(&row, WILD, 0, WILD, 5);
		assert_text(fake_leave_row(&task, &row, 0, false),
			    "pair=0x66660000 (unreadable), memptr=NULL, name=0x66660000 (unreadable), return=0");
		ENTRY(&row, 0x1002, 0x2002, 0x3000, 5);
		assert_text(
			fake_leave_row(&task, &row, 0, false),
			arch->pointer_size == 8
				? "pair=[-262144, (unreadable)], memptr=0x2002 -> (unreadable), "
				  "name=\"tmpAb\", return=0"
				: "pair=[-262144, (unreadable)], memptr=0x2002 -> 0x55aa, name=\"tmpAb\", return=0");
		fake_end(&task);
	}
}

static void test_buffers_are_shown_up_to_their_length(void **state)
{
	static const struct function write_row = {
		.params = {{"fd", PARAM_INT}, {"buf", PARAM_BYTES, .with = 2}, {"count", PARAM_SIZE}}};
	static const struct function read_row = {.params = {{"fd", PARAM_INT},
							    {"buf", PARAM_BYTES, .with = 2, .is_result = true},
							    {"count", PARAM_SIZE}},
						 .returns = {"return", PARAM_LONG},
						 .success = OK_ALWAYS,
						 .sets_errno = true};
	static const struct function items_row = {
		.params = {{"ptr", PARAM_BYTES, .with = 2, .times = 2, .is_result = true},
			   {"size", PARAM_SIZE},
			   {"nmemb", PARAM_SIZE}},
		.returns = {"return", PARAM_SIZE}};
	static const struct function string_row = {
		.params = {{"s", PARAM_STRING_N, .with = 1}, {"n", PARAM_INT}, {"w", PARAM_WIDE_N, .with = 1}}};
	static const uint32_t wide[] = {'w', 'i', 'd', 'e', 0};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		fake_memory(&task, TEXT_AT, "abc\0def-0123456789", 18);
		fake_memory(&task, 0x3000, wide, sizeof(wide));
		task.error = EIO;
		task.has_error = true;
		assert_text(ENTRY(&write_row, 1, TEXT_AT, 5), "fd=1, buf=\"abc\\0d\", count=5");
		assert_text(ENTRY(&write_row, 1, TEXT_AT, 18), "fd=1, buf=\"abc\\0def-01234567\"..., count=18");
		assert_text(ENTRY(&write_row, 1, TEXT_AT + 10, 12), "fd=1, buf=\"23456789\"... (unreadable), count=12");
		assert_text(ENTRY(&write_row, 1, 0, 5), "fd=1, buf=NULL, count=5");
		assert_text(ENTRY(&write_row, 1, WILD, 0), "fd=1, buf=\"\", count=0");
		assert_text(ENTRY(&write_row, 1, WILD, 1), "fd=1, buf=0x66660000 (unreadable), count=1");
		assert_text(ENTRY(&read_row, 1, TEXT_AT, 5), "fd=1, count=5");
		assert_text(fake_leave_row(&task, &read_row, 2, false), "buf=\"ab\", return=2");
		assert_text(fake_leave_row(&task, &read_row, 100, false), "buf=\"abc\\0d\", return=100");
		assert_text(fake_leave_row(&task, &read_row, UINT64_MAX, false), "buf=0x10000, return=-1, errno=EIO");
		assert_text(ENTRY(&items_row, TEXT_AT, 2, 8), "size=2, nmemb=8");
		assert_text(fake_leave_row(&task, &items_row, 3, false), "ptr=\"abc\\0de\", return=3");
		assert_text(ENTRY(&items_row, TEXT_AT, UINT64_MAX, UINT64_MAX),
			    arch->pointer_size == 8 ? "size=18446744073709551615, nmemb=18446744073709551615"
						    : "size=4294967295, nmemb=4294967295");
		fake_leave_row(&task, &items_row, 3, false);
		assert_text(ENTRY(&string_row, TEXT_AT + 4, 2, 0x3000), "s=\"de\", n=2, w=L\"wi\"");
		assert_text(ENTRY(&string_row, TEXT_AT, 9, 0x3000), "s=\"abc\", n=9, w=L\"wide\"");
		assert_text(ENTRY(&string_row, TEXT_AT + 15, 9, 0x3000), "s=\"789\"... (unreadable), n=9, w=L\"wide\"");
		assert_text(ENTRY(&string_row, WILD, 0, 0), "s=\"\", n=0, w=NULL");
		assert_text(ENTRY(&string_row, TEXT_AT, JUNK | 0xffffffff, 0x3000), "s=\"\", n=-1, w=L\"\"");
		fake_end(&task);
	}
}

static void test_string_lists_end_at_null(void **state)
{
	static const struct function row = {.params = {{"argv", PARAM_STRINGS}}};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		unsigned char pointers[10 * 8] = {0};
		const unsigned word = arch->pointer_size;

		for (unsigned i = 0; i < 10; i++) {
			const uint64_t at = i == 1 ? WILD : TEXT_AT + i % 2 * 3;

			memcpy(pointers + (size_t)i * word, &at, word);
		}
		fake_begin(&task, arch);
		fake_memory(&task, TEXT_AT, "ls\0-l", 6);
		fake_memory(&task, 0x1000, pointers, (size_t)10 * word);
		assert_text(ENTRY(&row, 0x1000),
			    "argv=[\"ls\", 0x66660000 (unreadable), \"ls\", \"-l\", \"ls\", \"-l\", "
			    "\"ls\", \"-l\", ...]");
		assert_text(ENTRY(&row, 0x1000 + 8 * word), "argv=[\"ls\", \"-l\", (unreadable)]");
		memset(pointers + 3 * (size_t)word, 0, word);
		assert_text(ENTRY(&row, 0x1000), "argv=[\"ls\", 0x66660000 (unreadable), \"ls\"]");
		assert_text(ENTRY(&row, 0x1000 + 3 * word), "argv=[]");
		assert_text(ENTRY(&row, 0), "argv=NULL");
		assert_text(ENTRY(&row, WILD), "argv=0x66660000 (unreadable)");
		fake_end(&task);
	}
}

static const char *address_text(struct fake_task *task, const void *address, size_t length)
{
	static const struct function row = {.params = {{"addr", PARAM_SOCKADDR, .with = 1}, {"addrlen", PARAM_UINT}}};

	task->place_count = 1;
	fake_memory(task, 0x1000, address, length);
	fake_enter_row(task, &row, (const uint64_t[]){0x1000, JUNK | length}, 2);
	return task->list->items[0].value;
}

static void test_socket_addresses_are_shown_as_text(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
	const struct sockaddr_un abstract = {.sun_family = AF_UNIX, .sun_path = "\0x\0y"};
	const unsigned char netlink[12] = {AF_NETLINK, 0, 0, 0, 0xab}, strange[4] = {0xff, 0xff, 1, 2},
			    long_one[60] = {0xee};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
		inet_pton(AF_INET6, "::1", &in6.sin6_addr);
		in6.sin6_scope_id = 0;
		memcpy(un.sun_path, "/run/x", 7);
		assert_text(address_text(&task, &in, sizeof(in)), "127.0.0.1:80");
		assert_text(address_text(&task, &in, 8), "AF_INET 0x00507f000001");
		assert_text(address_text(&task, &in6, sizeof(in6)), "[::1]:443");
		in6.sin6_scope_id = 2;
		assert_text(address_text(&task, &in6, sizeof(in6)), "[::1%2]:443");
		assert_text(address_text(&task, &un, sizeof(un)), "\"/run/x\"");
		assert_text(address_text(&task, &un, 2 + 4), "\"/run\"");
		assert_text(address_text(&task, &un, 2), "\"\"");
		memset(un.sun_path, 'p', sizeof(un.sun_path));
		assert_text(address_text(&task, &un, sizeof(un)), "\"pppppppppppppppp\"...");
		assert_text(address_text(&task, &abstract, 2 + 4), "@\"x\\0y\"");
		assert_text(address_text(&task, netlink, sizeof(netlink)), "AF_NETLINK 0x0000ab00000000000000");
		assert_text(address_text(&task, strange, 4), "family 65535 0x0102");
		assert_text(address_text(&task, long_one, sizeof(long_one)),
			    "family 238 0x0000000000000000000000000000000000000000000000000000000000000000...");
		assert_text(address_text(&task, &in, 1), "0x1000");
		fake_end(&task);
	}
}

/* accept(): the address and its length are set at the return. */
static void test_accept_shows_the_peer_address_at_its_return(void **state)
{
	static const struct function row = {.params = {{"sockfd", PARAM_INT},
						       {"addr", PARAM_SOCKADDR, .with = 2, .is_result = true},
						       {"addrlen", PARAM_INTS, .is_result = true, .needs = 1}},
					    .returns = {"return", PARAM_INT},
					    .success = OK_NOT_MINUS_1};
	const struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(0x0a000001)}};
	int32_t length = 0;
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		fake_memory(&task, 0x1000, &in, sizeof(in));
		fake_memory(&task, 0x2000, &length, sizeof(length));
		length = 128;
		assert_text(ENTRY(&row, 3, 0x1000, 0x2000), "sockfd=3");
		length = sizeof(in);
		assert_text(fake_leave_row(&task, &row, 4, false), "addr=10.0.0.1:9, addrlen=[16], return=4");
		assert_text(fake_leave_row(&task, &row, JUNK | 0xffffffff, true),
			    "addr=0x1000, addrlen=0x2000, return=-1");
		length = 0;
		assert_text(fake_leave_row(&task, &row, 4, false), "addr=0x1000, addrlen=[0], return=4");
		assert_text(ENTRY(&row, 3, 0, 0), "sockfd=3");
		assert_text(fake_leave_row(&task, &row, 4, false), "addr=NULL, addrlen=NULL, return=4");
		ENTRY(&row, 3, 0x1000, WILD);
		assert_text(fake_leave_row(&task, &row, 4, false),
			    "addr=0x1000, addrlen=0x66660000 (unreadable), return=4");
		fake_end(&task);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out_parameters_are_shown_at_the_return),
		cmocka_unit_test(test_buffers_are_shown_up_to_their_length),
		cmocka_unit_test(test_string_lists_end_at_null),
		cmocka_unit_test(test_socket_addresses_are_shown_as_text),
		cmocka_unit_test(test_accept_shows_the_peer_address_at_its_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
