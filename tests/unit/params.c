/* What is known of functions' parameters: each row has them, and the words are the system's constants. */
#include "config.h"
#include "arch/arch.h"
#include "modules/known.h"
#include "modules/load.h"
#include "modules/prototypes.h"
#include "modules/words.h"
#include "base/buf.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
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
#include <cmocka.h>

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names != NULL;
}

/* ---- Each row ---- */

static void test_rows(void **state)
{
	static const char *const without[] = {"inotify_init", "getpt", "tmpfile", "tmpfile64", "fcloseall", NULL};
	static const char *const nothing[] = {"closefrom", "bcopy", "bzero", "g_object_unref", NULL};
	const struct module *module;

	(void)state;
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

static void check_table(const struct function *table)
{
	static const struct resource calls[] = {{.type = "function", .noun = "call", .flags = KIND_CALL}};
	struct module module = {
		.api = MODULE_API, .name = "own", .resources = calls, .resource_count = 1, .functions = table};
	struct buf said = {0};

	while (table[module.function_count].symbol)
		module.function_count++;
	if (!module_check(&module, &said))
		fail_msg("%s", buf_str(&said));
	for (size_t i = 0; i < module.function_count; i++) {
		/* Each is the one that is found: none is there twice, or a module's as well. */
		if (module_known_function(table[i].symbol) != &table[i])
			fail_msg("%s is there twice", table[i].symbol);
		if (table[i].sets_errno && !table[i].returns.type)
			fail_msg("%s sets errno, but returns nothing", table[i].symbol);
	}
	buf_free(&said);
}

static void test_prototypes(void **state)
{
	const struct module *module;
	struct buf said = {0};

	(void)state;
	check_table(prototypes_file);
	check_table(prototypes_process);
	check_table(prototypes_text);
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

/* What the words make of a number on a processor, as struct param_word says. */
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
	const struct param_word *words;
	uint64_t number;
	unsigned processors;
	const char *text;
} flags[] = {
	{words_open, 0, 15, "O_RDONLY"},
	{words_open, 01101, 15, "O_WRONLY|O_CREAT|O_TRUNC"},
	{words_open, 02002002, 15, "O_RDWR|O_APPEND|O_CLOEXEC"},
	{words_open, 04010000, 15, "O_RDONLY|O_SYNC"},
	{words_open, 010000, 15, "O_RDONLY|O_DSYNC"},
	{words_open, 3, 15, "O_ACCMODE"},
	{words_open, 0x40000000, 15, "O_RDONLY|0x40000000"},
	/* opendir()'s */
	{words_open, 02204000, ON_X86_64 | ON_I386, "O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY"},
	{words_open, 02044000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY"},
	/* The same number, on either */
	{words_open, 040000, ON_X86_64 | ON_I386, "O_RDONLY|O_DIRECT"},
	{words_open, 040000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_DIRECTORY"},
	{words_open, 0100000, ON_X86_64 | ON_I386, "O_RDONLY|O_LARGEFILE"},
	{words_open, 0100000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_NOFOLLOW"},
	{words_open, 0200000, ON_X86_64 | ON_I386, "O_RDONLY|O_DIRECTORY"},
	{words_open, 0200000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_DIRECT"},
	{words_open, 0400000, ON_X86_64 | ON_I386, "O_RDONLY|O_NOFOLLOW"},
	{words_open, 0400000, ON_AARCH64 | ON_ARM, "O_RDONLY|O_LARGEFILE"},
	{words_open, 020200002, ON_X86_64 | ON_I386, "O_RDWR|O_TMPFILE"},
	{words_open, 020040002, ON_AARCH64 | ON_ARM, "O_RDWR|O_TMPFILE"},
	{words_pipe, 040000 | 04000, ON_X86_64 | ON_I386, "O_NONBLOCK|O_DIRECT"},
	{words_pipe, 0200000 | 02000000, ON_AARCH64 | ON_ARM, "O_DIRECT|O_CLOEXEC"},
	{words_prot, 0, 15, "PROT_NONE"},
	{words_prot, 7, 15, "PROT_READ|PROT_WRITE|PROT_EXEC"},
	{words_prot, 0x31, ON_AARCH64, "PROT_READ|PROT_BTI|PROT_MTE"},
	{words_prot, 0x31, ON_X86_64 | ON_I386 | ON_ARM, "PROT_READ|0x30"},
	{words_map, 0x22, 15, "MAP_PRIVATE|MAP_ANONYMOUS"},
	{words_map, 0x812, 15, "MAP_PRIVATE|MAP_FIXED|MAP_DENYWRITE"},
	{words_map, 0x62, ON_X86_64 | ON_I386, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_32BIT"},
	{words_map, 0x62, ON_AARCH64 | ON_ARM, "MAP_PRIVATE|MAP_ANONYMOUS|0x40"},
	{words_map, 0x20022, 15, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK"},
	{words_map, 0x80003, 15, "MAP_SHARED_VALIDATE|MAP_SYNC"},
	{words_map, 0x40022 | 21 << 26, 15, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT"},
	{words_socket, 1, 15, "SOCK_STREAM"},
	{words_socket, 02004002, 15, "SOCK_DGRAM|SOCK_CLOEXEC|SOCK_NONBLOCK"},
	{words_socket, 5, 15, "SOCK_SEQPACKET"},
	{words_access, 0, 15, "F_OK"},
	{words_access, 6, 15, "R_OK|W_OK"},
	{words_eventfd, 0, 15, "0"},
	{words_eventfd, 02004001, 15, "EFD_SEMAPHORE|EFD_CLOEXEC|EFD_NONBLOCK"},
	{words_fanotify, 3, 15, "FAN_CLASS_NOTIF|FAN_CLOEXEC|FAN_NONBLOCK"},
	{words_mremap, 3, 15, "MREMAP_MAYMOVE|MREMAP_FIXED"},
};

static void test_flags(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		for (unsigned processor = 1; processor <= ON_ARM; processor <<= 1) {
			if (!(flags[i].processors & processor))
				continue;
			const char *const text = decoded(flags[i].words, flags[i].number, processor);

			if (strcmp(text, flags[i].text))
				fail_msg("%#jx on %u is %s, not %s", (uintmax_t)flags[i].number, processor, text,
					 flags[i].text);
		}
}

/* The numbers as this system's headers have them. */
static const struct {
	const struct param_word *words;
	const char *name;
	uint64_t number;
} constants[] = {
#define IS(table, name)                                                                                                \
	{                                                                                                              \
		words_##table, #name, (uint64_t)(name)                                                                 \
	}
	IS(open, O_RDONLY),
	IS(open, O_WRONLY),
	IS(open, O_RDWR),
	IS(open, O_CREAT),
	IS(open, O_EXCL),
	IS(open, O_NOCTTY),
	IS(open, O_TRUNC),
	IS(open, O_APPEND),
	IS(open, O_NONBLOCK),
	IS(open, O_SYNC),
	IS(open, O_DSYNC),
	IS(open, O_DIRECT),
	IS(open, O_NOFOLLOW),
	IS(open, O_NOATIME),
	IS(open, O_CLOEXEC),
	IS(open, O_PATH),
	IS(open, O_TMPFILE),
	IS(open, O_DIRECTORY),
	IS(open, O_ASYNC),
	IS(at, AT_SYMLINK_NOFOLLOW),
	IS(at, AT_REMOVEDIR),
	IS(at, AT_SYMLINK_FOLLOW),
	IS(at, AT_NO_AUTOMOUNT),
	IS(at, AT_EMPTY_PATH),
	IS(fcntl, F_DUPFD),
	IS(fcntl, F_GETFD),
	IS(fcntl, F_SETFD),
	IS(fcntl, F_GETFL),
	IS(fcntl, F_SETFL),
	IS(fcntl, F_SETOWN),
	IS(fcntl, F_GETOWN),
	IS(fcntl, F_SETSIG),
	IS(fcntl, F_GETSIG),
	IS(fcntl, F_SETOWN_EX),
	IS(fcntl, F_GETOWN_EX),
	IS(fcntl, F_OFD_GETLK),
	IS(fcntl, F_OFD_SETLK),
	IS(fcntl, F_OFD_SETLKW),
	IS(fcntl, F_SETLEASE),
	IS(fcntl, F_GETLEASE),
	IS(fcntl, F_NOTIFY),
	IS(fcntl, F_DUPFD_CLOEXEC),
	IS(fcntl, F_SETPIPE_SZ),
	IS(fcntl, F_GETPIPE_SZ),
	IS(fcntl, F_ADD_SEALS),
	IS(fcntl, F_GET_SEALS),
	IS(memfd, MFD_CLOEXEC),
	IS(memfd, MFD_ALLOW_SEALING),
	IS(memfd, MFD_HUGETLB),
	IS(lock, LOCK_SH),
	IS(lock, LOCK_EX),
	IS(lock, LOCK_NB),
	IS(lock, LOCK_UN),
	IS(access, R_OK),
	IS(access, W_OK),
	IS(access, X_OK),
	IS(whence, SEEK_CUR),
	IS(whence, SEEK_END),
	IS(epoll, EPOLL_CLOEXEC),
	IS(epoll_op, EPOLL_CTL_ADD),
	IS(epoll_op, EPOLL_CTL_DEL),
	IS(epoll_op, EPOLL_CTL_MOD),
	IS(eventfd, EFD_SEMAPHORE),
	IS(eventfd, EFD_CLOEXEC),
	IS(eventfd, EFD_NONBLOCK),
	IS(signalfd, SFD_CLOEXEC),
	IS(signalfd, SFD_NONBLOCK),
	IS(timerfd, TFD_CLOEXEC),
	IS(timerfd, TFD_NONBLOCK),
	IS(inotify, IN_CLOEXEC),
	IS(inotify, IN_NONBLOCK),
	IS(clock, CLOCK_MONOTONIC),
	IS(clock, CLOCK_PROCESS_CPUTIME_ID),
	IS(clock, CLOCK_THREAD_CPUTIME_ID),
	IS(clock, CLOCK_MONOTONIC_RAW),
	IS(clock, CLOCK_BOOTTIME),
	IS(clock, CLOCK_TAI),
	IS(prot, PROT_READ),
	IS(prot, PROT_WRITE),
	IS(prot, PROT_EXEC),
	IS(prot, PROT_GROWSDOWN),
	IS(map, MAP_SHARED),
	IS(map, MAP_PRIVATE),
	IS(map, MAP_FIXED),
	IS(map, MAP_ANONYMOUS),
	IS(map, MAP_GROWSDOWN),
	IS(map, MAP_DENYWRITE),
	IS(map, MAP_EXECUTABLE),
	IS(map, MAP_LOCKED),
	IS(map, MAP_NORESERVE),
	IS(map, MAP_POPULATE),
	IS(map, MAP_NONBLOCK),
	IS(map, MAP_STACK),
	IS(map, MAP_HUGETLB),
	IS(mremap, MREMAP_MAYMOVE),
	IS(mremap, MREMAP_FIXED),
	IS(msync, MS_SYNC),
	IS(msync, MS_ASYNC),
	IS(msync, MS_INVALIDATE),
	IS(madvise, MADV_DONTNEED),
	IS(madvise, MADV_HUGEPAGE),
	IS(madvise, MADV_DONTDUMP),
	IS(shmget, IPC_CREAT),
	IS(shmget, IPC_EXCL),
	IS(shmget, SHM_HUGETLB),
	IS(shmget, SHM_NORESERVE),
	IS(shmat, SHM_RDONLY),
	IS(shmat, SHM_RND),
	IS(shmat, SHM_REMAP),
	IS(shmat, SHM_EXEC),
	IS(shmctl, IPC_RMID),
	IS(shmctl, IPC_SET),
	IS(shmctl, SHM_LOCK),
	IS(shmctl, SHM_UNLOCK),
	IS(family, AF_UNIX),
	IS(family, AF_INET),
	IS(family, AF_INET6),
	IS(family, AF_NETLINK),
	IS(family, AF_PACKET),
	IS(family, AF_BLUETOOTH),
	IS(family, AF_ALG),
	IS(family, AF_VSOCK),
	IS(socket, SOCK_STREAM),
	IS(socket, SOCK_DGRAM),
	IS(socket, SOCK_RAW),
	IS(socket, SOCK_SEQPACKET),
	IS(socket, SOCK_CLOEXEC),
	IS(socket, SOCK_NONBLOCK),
	IS(message, MSG_OOB),
	IS(message, MSG_PEEK),
	IS(message, MSG_DONTWAIT),
	IS(message, MSG_WAITALL),
	IS(message, MSG_NOSIGNAL),
	IS(message, MSG_MORE),
	IS(message, MSG_CMSG_CLOEXEC),
	IS(shutdown, SHUT_RDWR),
	IS(level, SOL_SOCKET),
	IS(signal, SIGHUP),
	IS(signal, SIGBUS),
	IS(signal, SIGUSR1),
	IS(signal, SIGUSR2),
	IS(signal, SIGCHLD),
	IS(signal, SIGCONT),
	IS(signal, SIGSTOP),
	IS(signal, SIGURG),
	IS(signal, SIGWINCH),
	IS(signal, SIGSYS),
	IS(mask, SIG_BLOCK),
	IS(mask, SIG_UNBLOCK),
	IS(mask, SIG_SETMASK),
	IS(wait, WNOHANG),
	IS(wait, WUNTRACED),
	IS(wait, WCONTINUED),
	IS(ioctl, TIOCGWINSZ),
	IS(ioctl, FIONREAD),
	IS(ioctl, FIONBIO),
	IS(ioctl, TCGETS),
	IS(ioctl, TIOCGPTN),
	IS(dirfd, AT_FDCWD),
	IS(name_error, EAI_NONAME),
	IS(name_error, EAI_AGAIN),
	IS(name_error, EAI_SYSTEM),
#undef IS
};

/* The bit that a processor's table has is that of its name. */
static void test_processors(void **state)
{
	const struct arch *arch;

	(void)state;
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

static void test_constants(void **state)
{
	const unsigned own = arch_native()->constants;

	(void)state;
	assert_int_not_equal(own, 0);
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++) {
		const struct param_word *word = constants[i].words;

		while (word->name && (strcmp(word->name, constants[i].name) || (word->on && !(word->on & own))))
			word++;
		if (!word->name)
			fail_msg("%s has no word", constants[i].name);
		if (word->value != constants[i].number)
			fail_msg("%s is %#jx here", constants[i].name, (uintmax_t)constants[i].number);
	}
}

/* What fcntl()'s third parameter is, by the command. */
static void test_cases(void **state)
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

	(void)state;
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
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),      cmocka_unit_test(test_prototypes),
						  cmocka_unit_test(test_flags),     cmocka_unit_test(test_processors),
						  cmocka_unit_test(test_constants), cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
