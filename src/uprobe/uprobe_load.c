#include "config.h"
#include "uprobe/uprobe_load.h"
#include "base/util.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Numbers of include/uapi/linux/bpf.h that the C library's kernel headers may not have yet. */
#define LINK_CREATE  28
#define UPROBE_MULTI 48
#define MULTI_RETURN 1u

/* The object of hot_calls.bpf.c, as embed.sh makes it. */
static const unsigned char hot_calls_object[] __attribute__((aligned(8))) = {
#include "uprobe/hot_calls.inc"
};

struct uprobe_program {
	struct bpf_object *object;
	int fd;
};

#define TOO_OLD "Linux 6.6 or later has the probes that functrace needs"

/* From Linux 6.11 on the return of a probed function makes a system call, at which a seccomp filter kills the program;
 * later versions do not show this call to filters: kernel/seccomp.c, __secure_computing(). */
#define KILLS "Linux %s kills programs with seccomp filters at the return of a probed function; later versions do not"

static char load_error[252];

static bool kills_filtered(char *message, size_t size)
{
	unsigned major, minor, patch = 0;
	struct utsname name;

	if (uname(&name) < 0 || sscanf(name.release, "%u.%u.%u", &major, &minor, &patch) < 2 || major != 6)
		return false;
	/* The versions of the stable series are a few later than the first that have it. */
	if (minor != 11 && !(minor == 12 && patch < 20) && !(minor == 13 && patch < 10))
		return false;
	snprintf(message, size, KILLS, name.release);
	return true;
}

/* Keeps the first message of libbpf about an error. */
static int keep_message(enum libbpf_print_level level, const char *format, va_list list)
{
	if (level == LIBBPF_WARN && !load_error[0])
		vsnprintf(load_error, sizeof(load_error), format, list);
	return 0;
}

static bool is_first_namespace(struct uprobe_config *config)
{
	struct stat info;

	if (stat("/proc/self/ns/pid", &info) < 0)
		return false;
	/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
	if (info.st_ino == 0xeffffffcu)
		return true;
	config->ns_ino = info.st_ino;
	return true;
}

static int configure_program(struct bpf_object *object, const struct uprobes_options *options,
			     const struct uprobe_owner *owner)
{
	struct bpf_map *map;
	size_t size;

	bpf_object__for_each_map(map, object)
	{
		if (!strcmp(bpf_map__name(map), "ring"))
			bpf_map__set_max_entries(map, (uint32_t)options->ring_size);
		if (!strstr(bpf_map__name(map), ".rodata"))
			continue;
		struct uprobe_config *const config = (struct uprobe_config *)bpf_map__initial_value(map, &size);

		config->ring_size = options->ring_size;
		config->frames_wanted = options->frames;
		config->entry_stacks = options->entry_stacks;
		config->full_signal = (uint32_t)options->signal;
		if (owner) {
			config->tracer = (uint32_t)owner->tracer;
			config->tracer_start = owner->start;
			config->tracer_uid = owner->uid;
		}
		if (!is_first_namespace(config))
			return -ENOENT;
	}
	return 0;
}

static int load_object(struct uprobe_program *program, const struct uprobes_options *options,
		       const struct uprobe_owner *owner)
{
	const struct bpf_object_open_opts open = {.sz = sizeof(open), .object_name = "functrace"};

	program->object = bpf_object__open_mem(hot_calls_object, sizeof(hot_calls_object), &open);
	if (!program->object)
		return -errno;
	struct bpf_program *const on_call = bpf_object__find_program_by_name(program->object, "on_call");

	/* libbpf 1.1 does not know this kind of link. */
	bpf_program__set_expected_attach_type(on_call, UPROBE_MULTI);
	int error = configure_program(program->object, options, owner);

	if (!error)
		error = bpf_object__load(program->object);
	if (!error)
		program->fd = bpf_program__fd(on_call);
	return error;
}

/* Returns true if the kernel has this kind of link: it then refuses one for a file that is no regular one, and
 * otherwise it refuses the kind. */
static bool has_links(const struct uprobe_program *program)
{
	const struct uprobe_site site = {0};

	return uprobe_program_link(program, false, getpid(), program->fd, &site, 1) != -EINVAL;
}

struct uprobe_program *uprobe_program_load(const struct uprobes_options *options, const struct uprobe_owner *owner,
					   int *error, char *message, size_t size)
{
	struct uprobe_program *const program = xcalloc(1, sizeof(*program));

	load_error[0] = '\0';
	libbpf_set_print(keep_message);
	if (kills_filtered(load_error, sizeof(load_error)))
		*error = -EOPNOTSUPP;
	else
		*error = load_object(program, options, owner);
	if (!*error && !has_links(program)) {
		*error = -EOPNOTSUPP;
		snprintf(load_error, sizeof(load_error), TOO_OLD);
	}
	snprintf(message, size, "%.*s", (int)strcspn(load_error, "\n"), *error ? load_error : "");
	if (!*error)
		return program;
	uprobe_program_free(program);
	return NULL;
}

void uprobe_program_free(struct uprobe_program *program)
{
	if (!program)
		return;
	bpf_object__close(program->object);
	free(program);
}

int uprobe_program_map(const struct uprobe_program *program, enum uprobe_map map)
{
	static const char *const names[UPROBE_MAPS] = {
		[UPROBE_MAP_RING] = "ring",           [UPROBE_MAP_ROWS] = "rows",
		[UPROBE_MAP_SHARED] = "shared",       [UPROBE_MAP_OUTERS] = "outers",
		[UPROBE_MAP_SIGNALLED] = "signalled", [UPROBE_MAP_THREADS] = "threads",
		[UPROBE_MAP_FORGOTTEN] = "forgotten", [UPROBE_MAP_LOST] = "lost"};

	return bpf_object__find_map_fd_by_name(program->object, names[map]);
}

/* BPF_LINK_CREATE for uprobe_multi. libbpf 1.1 has no function for it. */
struct create {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, reference_counters, cookies;
	uint32_t count, multi_flags, pid;
	uint32_t unused;
};

int uprobe_program_link(const struct uprobe_program *program, bool at_return, pid_t pid, int file,
			const struct uprobe_site *sites, size_t count)
{
	uint64_t *const values = xreallocarray(NULL, count, 2 * sizeof(*values));
	char path[64];
	struct create create = {.program = (uint32_t)program->fd,
				.type = UPROBE_MULTI,
				.path = (uintptr_t)path,
				.offsets = (uintptr_t)values,
				.cookies = (uintptr_t)(values + count),
				.count = (uint32_t)count,
				.multi_flags = at_return ? MULTI_RETURN : 0,
				.pid = (uint32_t)pid};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	for (size_t i = 0; i < count; i++) {
		values[i] = sites[i].offset;
		values[count + i] = (sites[i].cookie & ~UPROBE_AT_RETURN) | (at_return ? UPROBE_AT_RETURN : 0);
	}
	const long fd = syscall(SYS_bpf, LINK_CREATE, &create, sizeof(create));
	const int error = errno;

	free(values);
	return fd < 0 ? -error : (int)fd;
}
