/* A file that answers late: slowfile SOURCE TARGET SECONDS mounts the content of SOURCE over the file TARGET, by FUSE
 * without a library. The first read by a thread of functrace is answered after SECONDS, all other reads at once. If
 * SECONDS is -1, all reads by functrace fail. Prints a line when it is mounted, and another line before the late
 * answer; it serves until it is killed. Needs CAP_SYS_ADMIN of its mount namespace. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REQUEST_MAX ((size_t)1 << 20)
#define READ_MAX    131072u

static struct {
	int device;
	const char *bytes;
	struct stat st;
	int delay;
} file;

static void reply(const struct fuse_in_header *request, int error, const void *data, size_t size)
{
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + size), .error = -error, .unique = request->unique};
	const struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)data, size}};

	/* ENOENT: the request was interrupted meanwhile. */
	if (writev(file.device, parts, size ? 2 : 1) < 0 && errno != ENOENT)
		exit(1);
}

static bool is_functrace(uint32_t tid)
{
	char path[48], name[8] = "";

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const bool is = fd >= 0 && read(fd, name, sizeof(name) - 1) > 2 && !strncmp(name, "ft-", 3);

	if (fd >= 0)
		close(fd);
	return is;
}

/* Answers FUSE_OPEN. functrace reads without the page cache, so that it gets no pages that other processes have
 * read. */
static void reply_open(const struct fuse_in_header *request)
{
	const struct fuse_open_out out = {.open_flags = is_functrace(request->pid) ? FOPEN_DIRECT_IO : 0};

	reply(request, 0, &out, sizeof(out));
}

static void reply_attributes(const struct fuse_in_header *request)
{
	const struct fuse_attr_out out = {.attr = {.ino = FUSE_ROOT_ID,
						   .size = (uint64_t)file.st.st_size,
						   .blocks = (uint64_t)file.st.st_blocks,
						   .mtime = (uint64_t)file.st.st_mtim.tv_sec,
						   .mode = S_IFREG | 0755,
						   .nlink = 1}};

	reply(request, 0, &out, sizeof(out));
}

static void reply_bytes(const struct fuse_in_header *request, const struct fuse_read_in *in)
{
	const uint64_t all = (uint64_t)file.st.st_size, left = in->offset < all ? all - in->offset : 0;
	const bool is_late = file.delay && is_functrace(request->pid);

	if (is_late && file.delay < 0) {
		reply(request, EIO, NULL, 0);
		return;
	}
	if (is_late) {
		const unsigned delay = (unsigned)file.delay;

		file.delay = 0;
		if (fork())
			return; /* a child answers */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleep(delay);
		puts("answered");
		fflush(stdout);
	}
	reply(request, 0, file.bytes + (all - left), in->size < left ? in->size : left);
	if (is_late)
		_exit(0);
}

static void answer(const struct fuse_in_header *request)
{
	const void *const data = request + 1;

	switch (request->opcode) {
	case FUSE_INIT: {
		const struct fuse_init_in *const in = data;
		const struct fuse_init_out out = {
			.major = FUSE_KERNEL_VERSION,
			.minor = in->minor < FUSE_KERNEL_MINOR_VERSION ? in->minor : FUSE_KERNEL_MINOR_VERSION,
			.max_readahead = READ_MAX,
			.max_write = READ_MAX};

		reply(request, 0, &out, sizeof(out));
		break;
	}
	case FUSE_GETATTR:
		reply_attributes(request);
		break;
	case FUSE_OPEN:
		reply_open(request);
		break;
	case FUSE_READ:
		reply_bytes(request, data);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(request, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(request, ENOSYS, NULL, 0);
		break;
	}
}

static void serve(void)
{
	char *const request = malloc(REQUEST_MAX);

	for (;;) {
		const ssize_t got = read(file.device, request, REQUEST_MAX);

		if (got >= (ssize_t)sizeof(struct fuse_in_header))
			answer((const struct fuse_in_header *)(const void *)request);
		else if (got >= 0 || (errno != EINTR && errno != ENOENT && errno != EAGAIN))
			exit(errno == ENODEV ? 0 : 1);
	}
}

int main(int argc, char **argv)
{
	char options[128];

	if (argc != 4)
		return 2;
	const int source = open(argv[1], O_RDONLY | O_CLOEXEC);

	file.delay = atoi(argv[3]);
	file.device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (source < 0 || fstat(source, &file.st) || file.device < 0) {
		perror("slowfile");
		return 1;
	}
	file.bytes = mmap(NULL, (size_t)file.st.st_size, PROT_READ, MAP_PRIVATE, source, 0);
	snprintf(options, sizeof(options), "fd=%d,rootmode=100644,user_id=%u,group_id=%u,allow_other", file.device,
		 (unsigned)getuid(), (unsigned)getgid());
	if (file.bytes == MAP_FAILED || mount("slowfile", argv[2], "fuse", MS_NODEV | MS_NOSUID | MS_RDONLY, options)) {
		perror("slowfile");
		return 1;
	}
	signal(SIGCHLD, SIG_IGN);
	puts("mounted");
	fflush(stdout);
	serve();
}
