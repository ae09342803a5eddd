/* Tests the rows of known functions: they describe the parameters, and the names of constants have the same values as
 * in the system's headers. */
#include "config.h"
#include "arch/arch.h"
#include "modules/known.h"
#include "modules/processors.h"
#include "modules/check.h"
#include "modules/builtin.h"
#include "modules/conf/conf.h"
#include "base/buf.h"
#include "unit_test.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names != NULL;
}

/* ---- Each row ---- */

static void test_rows_describe_parameters_and_results(void **state)
{
	static const char *const without[] = {"inotify_init", "getpt", "tmpfile", "tmpfile64", "fcloseall", NULL};
	static const char *const nothing[] = {"closefrom", "bcopy", "bzero", "g_object_unref", NULL};
	const struct module *module;

	for (size_t i = 0; (module = module_known(i)); i++)
		for (size_t n = 0; n < module->function_count; n++) {
			const struct function *const f = &module->functions[n];
			const char *const name = f->symbol;
			/* free, delete, constructors and destructors return nothing, in each of their forms. */
			const bool is_void = strstr(name, "free") || !strncmp(name, "_Zd", 3) ||
					     !strncmp(name, "_ZN7QObject", 11) || is_one_of(name, nothing);

			if (!f->params[0].type != is_one_of(name, without))
				fail_msg("%s: %s has parameters, or none", module->name, name);
			if (!f->returns.type != is_void)
				fail_msg("%s: %s returns something, or nothing", module->name, name);
			if (f->returns.type && strcmp(f->returns.name, "return"))
				fail_msg("%s: the result of %s is called %s", module->name, name, f->returns.name);
		}
}

static void check_prototypes(const struct module *module)
{
	struct buf said = {0};

	if (!module_check(module, &said))
		fail_msg("%s", buf_str(&said));
	for (size_t i = 0; i < module->function_count; i++) {
		const struct function *const f = &module->functions[i];

		/* A search by name must find this description, else the function is described twice, here or in another
		 * module. */
		if (module_known_function(f->symbol) != f)
			fail_msg("%s is there twice", f->symbol);
		if (f->sets_errno && !f->returns.type)
			fail_msg("%s sets errno, but returns nothing", f->symbol);
	}
	buf_free(&said);
}

static void test_prototypes_are_valid_and_unique(void **state)
{
	const struct module *module;
	struct buf said = {0};

	check_prototypes(builtin_module("prototypes"));
	for (size_t i = 0; (module = module_known(i)); i++)
		if (!module_check(module, &said))
			fail_msg("%s: %s", module->name, buf_str(&said));
	buf_free(&said);
	assert_string_equal(module_known_function("open")->params[0].name, "pathname");
	assert_string_equal(module_known_function("write")->params[2].name, "count");
	assert_ptr_equal(module_known_function("malloc"), &module_find("memory")->functions[0]);
	assert_null(module_known_function("no_such_function"));
	assert_null(module_known_function("*malloc" + 2));
}

/* ---- Words ---- */

static struct conf *of_type;

/* Returns the words of a type of modules/tables/constants.conf, which are valid until the next call. */
static const struct param_word *words_of(const char *type)
{
	struct buf text = {0}, said = {0};

	if (of_type)
		conf_free(of_type);
	buf_printf(&text, "include constants\ncall %s f(void)\n", type);
	of_type = conf_parse("words.conf", buf_str(&text), text.size, &said);
	if (!of_type)
		fail_msg("%s: %s", type, buf_str(&said));
	buf_free(&text);
	return conf_module(of_type)->functions[0].returns.words;
}

/* Returns the text of a number as these words (struct param_word) describe it on a processor. */
static const char *decoded(const struct param_word *words, uint64_t number, unsigned processor)
{
	static char text[400];
	uint64_t left = number;
	size_t used = 0;

	text[0] = '\0';
	for (; words->name; words++) {
		const uint64_t mask = words->mask ? words->mask : words->value;

		if ((words->on && !(words->on & processor)) || (left & mask) != words->value || (!mask && number))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? "|" : "", words->name);
		left &= ~mask;
	}
	if (left || !used)
		snprintf(text + used, sizeof(text) - used, "%s%#jx", used ? "|" : "", (uintmax_t)left);
	return text;
}

static const struct {
	const char *type;
	uint64_t number;
	unsigned processors;
	const char *text;
} flags[] = {
	{"open_flags", 0, 15, "O_RDONLY"},
	{"open_flags", 01101, 15, "O_WRONLY|O_CREAT|O_TRUNC"},
	{"open_flags", 02002002, 15, "O_RDWR|O_APPEND|O_CLOEXEC"},
	{"open_flags", 04010000, 15, "O_RDONLY|O_SYNC"},
	{"open_flags", 010000, 15, "O_RDONLY|O_DSYNC"},
	{"open_flags", 3, 15, "O_ACCMODE"},
	{"open_flags", 0x40000000, 15, "O_RDONLY|0x40000000"},
	/* the flags that opendir() uses */
	{"open_flags", 02204000, ON_X86_64 | ON_I386, "O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY"},
	{"open_flags", 02044000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY"},
	/* the same number has another meaning on each processor */
	{"open_flags", 040000, ON_X86_64 | ON_I386, "O_RDONLY|O_DIRECT"},
	{"open_flags", 040000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_DIRECTORY"},
	{"open_flags", 0100000, ON_X86_64 | ON_I386, "O_RDONLY|O_LARGEFILE"},
	{"open_flags", 0100000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_NOFOLLOW"},
	{"open_flags", 0200000, ON_X86_64 | ON_I386, "O_RDONLY|O_DIRECTORY"},
	{"open_flags", 0200000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_DIRECT"},
	{"open_flags", 0400000, ON_X86_64 | ON_I386, "O_RDONLY|O_NOFOLLOW"},
	{"open_flags", 0400000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_LARGEFILE"},
	{"open_flags", 020200002, ON_X86_64 | ON_I386, "O_RDWR|O_TMPFILE"},
	{"open_flags", 020040002, ON_AARCH64 | ON_ARM, "O_RDWR|O_TMPFILE"},
	{"pipe_flags", 040000 | 04000, ON_X86_64 | ON_I386, "O_NONBLOCK|O_DIRECT"},
	{"pipe_flags", 0200000 | 02000000, ON_AARCH64 | ON_ARM, "O_DIRECT|O_CLOEXEC"},
	{"memory_protection", 0, 15, "PROT_NONE"},
	{"memory_protection", 7, 15, "PROT_READ|PROT_WRITE|PROT_EXEC"},
	{"memory_protection", 0x31, ON_AARCH64, "PROT_READ|PROT_BTI|PROT_MTE"},
	{"memory_protection", 0x31, ON_X86_64 | ON_I386 | ON_ARM, "PROT_READ|0x30"},
	{"map_flags", 0x22, 15, "MAP_PRIVATE|MAP_ANONYMOUS"},
	{"map_flags", 0x812, 15, "MAP_PRIVATE|MAP_FIXED|MAP_DENYWRITE"},
	{"map_flags", 0x62, ON_X86_64 | ON_I386, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_32BIT"},
	{"map_flags", 0x62, ON_AARCH64 | ON_ARM, "MAP_PRIVATE|MAP_ANONYMOUS|0x40"},
	{"map_flags", 0x20022, 15, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK"},
	{"map_flags", 0x80003, 15, "MAP_SHARED_VALIDATE|MAP_SYNC"},
	{"map_flags", 0x40022 | 21 << 26, 15, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT"},
	{"socket_type", 1, 15, "SOCK_STREAM"},
	{"socket_type", 02004002, 15, "SOCK_DGRAM|SOCK_CLOEXEC|SOCK_NONBLOCK"},
	{"socket_type", 5, 15, "SOCK_SEQPACKET"},
	{"access_flags", 0, 15, "F_OK"},
	{"access_flags", 6, 15, "R_OK|W_OK"},
	{"eventfd_flags", 0, 15, "0"},
	{"eventfd_flags", 02004001, 15, "EFD_SEMAPHORE|EFD_CLOEXEC|EFD_NONBLOCK"},
	{"fanotify_flags", 3, 15, "FAN_CLASS_NOTIF|FAN_CLOEXEC|FAN_NONBLOCK"},
	{"mremap_flags", 3, 15, "MREMAP_MAYMOVE|MREMAP_FIXED"},
};

static void test_flags_are_decoded_per_processor(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		for (unsigned processor = 1; processor <= ON_ARM; processor <<= 1) {
			if (!(flags[i].processors & processor))
				continue;
			const char *const text = decoded(words_of(flags[i].type), flags[i].number, processor);

			if (strcmp(text, flags[i].text))
				fail_msg("%#jx on %u is %s, not %s", (uintmax_t)flags[i].number, processor, text,
					 flags[i].text);
		}
}

/* The tables' constants must have the values of this system's headers. */
static const struct {
	const char *type, *name;
	uint64_t number;
} constants[] = {
#define IS(table, name)                                                                                                \
	{                                                                                                              \
#table, #name, (uint64_t)(name)                                                                        \
	}
	IS(open_flags, O_RDONLY),
	IS(open_flags, O_WRONLY),
	IS(open_flags, O_RDWR),
	IS(open_flags, O_CREAT),
	IS(open_flags, O_EXCL),
	IS(open_flags, O_NOCTTY),
	IS(open_flags, O_TRUNC),
	IS(open_flags, O_APPEND),
	IS(open_flags, O_NONBLOCK),
	IS(open_flags, O_SYNC),
	IS(open_flags, O_DSYNC),
	IS(open_flags, O_DIRECT),
	IS(open_flags, O_NOFOLLOW),
	IS(open_flags, O_NOATIME),
	IS(open_flags, O_CLOEXEC),
	IS(open_flags, O_PATH),
	IS(open_flags, O_TMPFILE),
	IS(open_flags, O_DIRECTORY),
	IS(open_flags, O_ASYNC),
	IS(at_flags, AT_SYMLINK_NOFOLLOW),
	IS(at_flags, AT_REMOVEDIR),
	IS(at_flags, AT_SYMLINK_FOLLOW),
	IS(at_flags, AT_NO_AUTOMOUNT),
	IS(at_flags, AT_EMPTY_PATH),
	IS(fcntl_command, F_DUPFD),
	IS(fcntl_command, F_GETFD),
	IS(fcntl_command, F_SETFD),
	IS(fcntl_command, F_GETFL),
	IS(fcntl_command, F_SETFL),
	IS(fcntl_command, F_SETOWN),
	IS(fcntl_command, F_GETOWN),
	IS(fcntl_command, F_SETSIG),
	IS(fcntl_command, F_GETSIG),
	IS(fcntl_command, F_SETOWN_EX),
	IS(fcntl_command, F_GETOWN_EX),
	IS(fcntl_command, F_OFD_GETLK),
	IS(fcntl_command, F_OFD_SETLK),
	IS(fcntl_command, F_OFD_SETLKW),
	IS(fcntl_command, F_SETLEASE),
	IS(fcntl_command, F_GETLEASE),
	IS(fcntl_command, F_NOTIFY),
	IS(fcntl_command, F_DUPFD_CLOEXEC),
	IS(fcntl_command, F_SETPIPE_SZ),
	IS(fcntl_command, F_GETPIPE_SZ),
	IS(fcntl_command, F_ADD_SEALS),
	IS(fcntl_command, F_GET_SEALS),
	IS(memfd_flags, MFD_CLOEXEC),
	IS(memfd_flags, MFD_ALLOW_SEALING),
	IS(memfd_flags, MFD_HUGETLB),
	IS(lock_flags, LOCK_SH),
	IS(lock_flags, LOCK_EX),
	IS(lock_flags, LOCK_NB),
	IS(lock_flags, LOCK_UN),
	IS(access_flags, R_OK),
	IS(access_flags, W_OK),
	IS(access_flags, X_OK),
	IS(seek_origin, SEEK_CUR),
	IS(seek_origin, SEEK_END),
	IS(epoll_flags, EPOLL_CLOEXEC),
	IS(epoll_operation, EPOLL_CTL_ADD),
	IS(epoll_operation, EPOLL_CTL_DEL),
	IS(epoll_operation, EPOLL_CTL_MOD),
	IS(eventfd_flags, EFD_SEMAPHORE),
	IS(eventfd_flags, EFD_CLOEXEC),
	IS(eventfd_flags, EFD_NONBLOCK),
	IS(signalfd_flags, SFD_CLOEXEC),
	IS(signalfd_flags, SFD_NONBLOCK),
	IS(timerfd_flags, TFD_CLOEXEC),
	IS(timerfd_flags, TFD_NONBLOCK),
	IS(inotify_flags, IN_CLOEXEC),
	IS(inotify_flags, IN_NONBLOCK),
	IS(clock_id, CLOCK_MONOTONIC),
	IS(clock_id, CLOCK_PROCESS_CPUTIME_ID),
	IS(clock_id, CLOCK_THREAD_CPUTIME_ID),
	IS(clock_id, CLOCK_MONOTONIC_RAW),
	IS(clock_id, CLOCK_BOOTTIME),
	IS(clock_id, CLOCK_TAI),
	IS(memory_protection, PROT_READ),
	IS(memory_protection, PROT_WRITE),
	IS(memory_protection, PROT_EXEC),
	IS(memory_protection, PROT_GROWSDOWN),
	IS(map_flags, MAP_SHARED),
	IS(map_flags, MAP_PRIVATE),
	IS(map_flags, MAP_FIXED),
	IS(map_flags, MAP_ANONYMOUS),
	IS(map_flags, MAP_GROWSDOWN),
	IS(map_flags, MAP_DENYWRITE),
	IS(map_flags, MAP_EXECUTABLE),
	IS(map_flags, MAP_LOCKED),
	IS(map_flags, MAP_NORESERVE),
	IS(map_flags, MAP_POPULATE),
	IS(map_flags, MAP_NONBLOCK),
	IS(map_flags, MAP_STACK),
	IS(map_flags, MAP_HUGETLB),
	IS(mremap_flags, MREMAP_MAYMOVE),
	IS(mremap_flags, MREMAP_FIXED),
	IS(msync_flags, MS_SYNC),
	IS(msync_flags, MS_ASYNC),
	IS(msync_flags, MS_INVALIDATE),
	IS(memory_advice, MADV_DONTNEED),
	IS(memory_advice, MADV_HUGEPAGE),
	IS(memory_advice, MADV_DONTDUMP),
	IS(ipc_flags, IPC_CREAT),
	IS(ipc_flags, IPC_EXCL),
	IS(ipc_flags, SHM_HUGETLB),
	IS(ipc_flags, SHM_NORESERVE),
	IS(shmat_flags, SHM_RDONLY),
	IS(shmat_flags, SHM_RND),
	IS(shmat_flags, SHM_REMAP),
	IS(shmat_flags, SHM_EXEC),
	IS(shmctl_command, IPC_RMID),
	IS(shmctl_command, IPC_SET),
	IS(shmctl_command, SHM_LOCK),
	IS(shmctl_command, SHM_UNLOCK),
	IS(address_family, AF_UNIX),
	IS(address_family, AF_INET),
	IS(address_family, AF_INET6),
	IS(address_family, AF_NETLINK),
	IS(address_family, AF_PACKET),
	IS(address_family, AF_BLUETOOTH),
	IS(address_family, AF_ALG),
	IS(address_family, AF_VSOCK),
	IS(socket_type, SOCK_STREAM),
	IS(socket_type, SOCK_DGRAM),
	IS(socket_type, SOCK_RAW),
	IS(socket_type, SOCK_SEQPACKET),
	IS(socket_type, SOCK_CLOEXEC),
	IS(socket_type, SOCK_NONBLOCK),
	IS(message_flags, MSG_OOB),
	IS(message_flags, MSG_PEEK),
	IS(message_flags, MSG_DONTWAIT),
	IS(message_flags, MSG_WAITALL),
	IS(message_flags, MSG_NOSIGNAL),
	IS(message_flags, MSG_MORE),
	IS(message_flags, MSG_CMSG_CLOEXEC),
	IS(shutdown_direction, SHUT_RDWR),
	IS(option_level, SOL_SOCKET),
	IS(signal_number, SIGHUP),
	IS(signal_number, SIGBUS),
	IS(signal_number, SIGUSR1),
	IS(signal_number, SIGUSR2),
	IS(signal_number, SIGCHLD),
	IS(signal_number, SIGCONT),
	IS(signal_number, SIGSTOP),
	IS(signal_number, SIGURG),
	IS(signal_number, SIGWINCH),
	IS(signal_number, SIGSYS),
	IS(signal_mask_change, SIG_BLOCK),
	IS(signal_mask_change, SIG_UNBLOCK),
	IS(signal_mask_change, SIG_SETMASK),
	IS(wait_flags, WNOHANG),
	IS(wait_flags, WUNTRACED),
	IS(wait_flags, WCONTINUED),
	IS(ioctl_request, TIOCGWINSZ),
	IS(ioctl_request, FIONREAD),
	IS(ioctl_request, FIONBIO),
	IS(ioctl_request, TCGETS),
	IS(ioctl_request, TIOCGPTN),
	IS(directory_fd, AT_FDCWD),
	IS(name_error, EAI_NONAME),
	IS(name_error, EAI_AGAIN),
	IS(name_error, EAI_SYSTEM),
#undef IS
};

/* arch->constants is 1 << N, where module_processor(N) is the name of the port. */
static void test_processor_bits_have_their_names(void **state)
{
	const struct arch *arch;

	for (size_t i = 0; (arch = arch_known(i)); i++) {
		unsigned bit = 0;

		while (module_processor(bit) && strcmp(module_processor(bit), arch->name) != 0)
			bit++;
		assert_non_null(module_processor(bit));
		assert_int_equal(arch->constants, 1u << bit);
	}
	assert_string_equal(module_processor(0), "x86_64");
	assert_int_equal(ON_X86_64, 1 << 0);
	assert_string_equal(module_processor(1), "i386");
	assert_int_equal(ON_I386, 1 << 1);
	assert_string_equal(module_processor(2), "aarch64");
	assert_int_equal(ON_AARCH64, 1 << 2);
	assert_string_equal(module_processor(3), "armv7l");
	assert_int_equal(ON_ARM, 1 << 3);
	assert_null(module_processor(4));
}

static void test_constants_agree_with_the_headers(void **state)
{
	const unsigned own = arch_native()->constants;

	assert_int_not_equal(own, 0);
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++) {
		const struct param_word *word = words_of(constants[i].type);

		while (word->name && (strcmp(word->name, constants[i].name) || (word->on && !(word->on & own))))
			word++;
		if (!word->name)
			fail_msg("%s has no word", constants[i].name);
		if (word->value != constants[i].number)
			fail_msg("%s is %#jx here", constants[i].name, (uintmax_t)constants[i].number);
	}
}

/* The type of fcntl()'s third parameter depends on the command. */
static void test_type_of_fcntls_argument_follows_the_command(void **state)
{
	static const struct {
		unsigned command, type;
	} expected[] = {{F_DUPFD, PARAM_INT},
			{F_DUPFD_CLOEXEC, PARAM_INT},
			{F_GETFD, PARAM_NONE},
			{F_SETFD, PARAM_FLAGS},
			{F_GETFL, PARAM_NONE},
			{F_SETFL, PARAM_FLAGS},
			{5, PARAM_POINTER},
			{6, PARAM_POINTER},
			{7, PARAM_POINTER},
			{F_SETOWN, PARAM_INT},
			{F_GETOWN, PARAM_NONE},
			{12, PARAM_POINTER},
			{14, PARAM_POINTER},
			{F_GETOWN_EX, PARAM_POINTER},
			{F_OFD_SETLKW, PARAM_POINTER},
			{F_SETLEASE, PARAM_INT},
			{F_NOTIFY, PARAM_FLAGS},
			{F_SETPIPE_SZ, PARAM_INT},
			{F_GET_SEALS, PARAM_NONE},
			{77, PARAM_END}};
	const struct param *const param = &module_known_function("fcntl")->params[2];

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct param_case *one = param->cases;

		while (one->type && (expected[i].command & (one->mask ? one->mask : UINT32_MAX)) != one->value)
			one++;
		if (one->type != expected[i].type)
			fail_msg("of command %u it is of type %u", expected[i].command, one->type);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_describe_parameters_and_results),
						  cmocka_unit_test(test_prototypes_are_valid_and_unique),
						  cmocka_unit_test(test_flags_are_decoded_per_processor),
						  cmocka_unit_test(test_processor_bits_have_their_names),
						  cmocka_unit_test(test_constants_agree_with_the_headers),
						  cmocka_unit_test(test_type_of_fcntls_argument_follows_the_command)};

	const int status = cmocka_run_group_tests(tests, NULL, NULL);

	conf_free(of_type);
	return status;
}
