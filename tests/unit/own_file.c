/* Tests files that functrace writes into a folder where another user has put other files in their place. */
#include "config.h"
#include "unit_test.h"

#include "base/own_file.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER 65534 /* another user */

static char *folder;

/* Makes an empty folder the current one, before each test. */
static int enter(void **state)
{
	const char *const parent = getenv("TMPDIR");

	folder = xasprintf("%s/own-file-XXXXXX", parent && *parent ? parent : "/tmp");
	return !mkdtemp(folder) || chdir(folder);
}

static int leave(void **state)
{
	static const char *const names[] = {"file", "other", "given", "next", "spare"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	const int error = chdir("/") || rmdir(folder);

	free(folder);
	return error;
}

static void put(const char *path, mode_t mode)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "kept\n", 5), 5);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static struct stat stat_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st;
}

static void need_root(void)
{
	if (geteuid()) {
		print_message("# skipped: a file can be given to another user by root only\n");
		skip();
	}
}

/* Checks that neither own_file_open() nor own_file_open_to_append() opens the path, and that the file `content` is
 * unchanged. */
static void assert_refused(const char *path, const char *content)
{
	const struct stat before = stat_of(content);

	assert_int_equal(own_file_open(path), -EEXIST);
	assert_int_equal(own_file_open_to_append(path), -EEXIST);
	const struct stat after = stat_of(content);

	assert_int_equal(after.st_size, 5);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_uid, before.st_uid);
}

static void assert_opened(int fd)
{
	assert_true(fd >= 0);
	close(fd);
}

static void files_of_another_user_are_refused(void **state)
{
	need_root();
	put("file", 0666);
	assert_int_equal(chown("file", OTHER, OTHER), 0);
	assert_refused("file", "file");
}

static void files_with_a_second_link_are_refused(void **state)
{
	put("other", 0644);
	assert_int_equal(link("other", "file"), 0);
	assert_refused("file", "other");
	assert_int_equal(unlink("other"), 0);
	assert_opened(own_file_open("file"));
}

static void symlinks_and_fifos_are_refused(void **state)
{
	put("other", 0644);
	assert_int_equal(symlink("other", "file"), 0);
	assert_refused("file", "other");
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(mkfifo("file", 0600), 0);
	assert_refused("file", "other");
}

/* own_file_open() empties an existing file, and lets at most its owner read and write it, as far as the umask
 * allows. */
static void modes_of_existing_files_are_restricted(void **state)
{
	const mode_t mask = umask(022);

	put("file", 0666);
	assert_opened(own_file_open_to_append("file"));
	assert_int_equal(stat_of("file").st_size, 5);
	assert_opened(own_file_open("file"));
	assert_int_equal(stat_of("file").st_mode & 07777, 0600);
	assert_int_equal(stat_of("file").st_size, 0);
	assert_int_equal(chmod("file", 0666), 0);
	umask(0200);
	assert_opened(own_file_open("file"));
	assert_int_equal(stat_of("file").st_mode & 07777, 0400);
	umask(mask);
}

static void assert_given_opens(const char *path, const char *file)
{
	const int fd = own_file_open_given(path, 0);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_int_equal(st.st_ino, stat_of(file).st_ino);
}

static void given_links_of_the_same_user_are_followed(void **state)
{
	assert_given_opens("file", "file");
	assert_int_equal(stat_of("file").st_mode & 0777, 0600);
	assert_int_equal(symlink("next", "given"), 0);
	char *const absolute = xasprintf("%s/other", folder);

	assert_int_equal(symlink(absolute, "next"), 0);
	free(absolute);
	assert_int_equal(own_file_open_given("missing/file", 0), -ENOENT);
	/* A missing file at the end of the links is created; an existing one keeps its content. */
	assert_given_opens("given", "other");
	put("spare", 0644);
	assert_int_equal(rename("spare", "other"), 0);
	assert_given_opens("given", "other");
	assert_int_equal(stat_of("other").st_size, 5);
	assert_int_equal(stat_of("other").st_mode & 0777, 0644);
	assert_int_equal(unlink("next"), 0);
	assert_int_equal(symlink("given", "next"), 0);
	assert_int_equal(own_file_open_given("given", 0), -ELOOP);
}

/* /proc's links point to open files, also to files without a name. */
static void given_descriptors_are_opened(void **state)
{
	int ends[2];
	char byte = 0, path[32];

	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	const int fd = own_file_open_given(path, 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	close(ends[0]);
	close(ends[1]);
	put("file", 0600);
	const int kept = open("file", O_WRONLY);

	assert_int_equal(unlink("file"), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", kept);
	const int again = own_file_open_given(path, 0);
	struct stat one, two;

	assert_true(again >= 0);
	assert_int_equal(fstat(kept, &one), 0);
	assert_int_equal(fstat(again, &two), 0);
	assert_int_equal(one.st_ino, two.st_ino);
	close(kept);
	close(again);
}

static void given_links_of_another_user_are_refused(void **state)
{
	need_root();
	put("other", 0644);
	assert_int_equal(symlink("other", "next"), 0);
	assert_int_equal(lchown("next", OTHER, OTHER), 0);
	assert_int_equal(own_file_open_given("next", 0), -ELOOP);
	/* A link of this user to the other user's link is refused, too. */
	assert_int_equal(symlink("next", "given"), 0);
	assert_int_equal(own_file_open_given("given", 0), -ELOOP);
	assert_int_equal(stat_of("other").st_size, 5);
}

static atomic_bool ended;

static void *exchange(void *unused)
{
	while (!ended)
		renameat2(AT_FDCWD, "given", AT_FDCWD, "spare", RENAME_EXCHANGE);
	return unused;
}

/* Lets a thread exchange "given", a file or a link of this user, for another user's link again and again, and back.
 * Checks that own_file_open_given() never follows the other user's link. */
static void check_exchange(const char *ours)
{
	enum { TRIES = 30000 };
	pthread_t thread;
	unsigned refused = 0, opened = 0;
	const ino_t victim = stat_of("other").st_ino;

	assert_int_equal(symlink("other", "spare"), 0);
	assert_int_equal(lchown("spare", OTHER, OTHER), 0);
	ended = false;
	assert_int_equal(pthread_create(&thread, NULL, exchange, NULL), 0);
	for (unsigned i = 0; i < TRIES; i++) {
		const int fd = own_file_open_given("given", 0);
		struct stat st = {0};

		if (fd >= 0)
			fstat(fd, &st);
		refused += fd == -ELOOP;
		opened += fd >= 0 && st.st_ino != victim;
		if (fd >= 0)
			close(fd);
	}
	ended = true;
	pthread_join(thread, NULL);
	print_message("# %s: %u opened, %u refused\n", ours, opened, refused);
	assert_int_equal(opened + refused, TRIES);
}

static void link_exchanged_for_a_file_is_never_followed(void **state)
{
	need_root();
	put("other", 0644);
	put("given", 0644);
	check_exchange("a file");
}

static void link_exchanged_for_a_link_is_never_followed(void **state)
{
	need_root();
	put("other", 0644);
	put("file", 0644);
	assert_int_equal(symlink("file", "given"), 0);
	check_exchange("a link");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_of_another_user_are_refused, enter, leave),
		cmocka_unit_test_setup_teardown(files_with_a_second_link_are_refused, enter, leave),
		cmocka_unit_test_setup_teardown(symlinks_and_fifos_are_refused, enter, leave),
		cmocka_unit_test_setup_teardown(modes_of_existing_files_are_restricted, enter, leave),
		cmocka_unit_test_setup_teardown(given_links_of_the_same_user_are_followed, enter, leave),
		cmocka_unit_test_setup_teardown(given_descriptors_are_opened, enter, leave),
		cmocka_unit_test_setup_teardown(given_links_of_another_user_are_refused, enter, leave),
		cmocka_unit_test_setup_teardown(link_exchanged_for_a_file_is_never_followed, enter, leave),
		cmocka_unit_test_setup_teardown(link_exchanged_for_a_link_is_never_followed, enter, leave),
	};

	return cmocka_run_group_tests_name("own_file", tests, NULL, NULL);
}
