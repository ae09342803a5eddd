#include "config.h"
#include "uprobe/probes_rights.h"
#include "base/util.h"
#include "proc/proc.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* include/linux/proc_ns.h: PROC_PID_INIT_INO, PROC_TIME_INIT_INO, PROC_USER_INIT_INO */
#define FIRST_PID_NAMESPACE  0xeffffffcu
#define FIRST_TIME_NAMESPACE 0xeffffffau
#define FIRST_USER_NAMESPACE 0xeffffffdu

/* Returns true if the namespace is the first one, or the kernel has no such namespaces. */
static bool is_namespace_first(const char *path, ino_t first)
{
	struct stat info;

	return stat(path, &info) == 0 ? info.st_ino == first : errno == ENOENT;
}

/* The program in the kernel compares numbers of processes of the first pid namespace, and times of the first time
 * namespace. */
static bool is_outside_containers(void)
{
	struct statfs mount;

	return statfs("/proc/self", &mount) == 0 && mount.f_type == PROC_SUPER_MAGIC &&
	       is_namespace_first("/proc/self/ns/pid", FIRST_PID_NAMESPACE) &&
	       is_namespace_first("/proc/self/ns/time", FIRST_TIME_NAMESPACE) &&
	       is_namespace_first("/proc/self/ns/user", FIRST_USER_NAMESPACE);
}

int probes_find_owner(int socket, struct uprobe_owner *owner)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	struct proc_stat stat;
	uid_t real, effective, saved;

	if (!is_outside_containers())
		return -EXDEV;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	const pid_t parent = getppid();

	getresuid(&real, &effective, &saved);
	if (parent <= 1 || peer.pid != parent || peer.uid != real || effective != real || saved != real ||
	    !proc_stat(parent, &stat))
		return -EACCES;
	*owner = (struct uprobe_owner){.tracer = parent, .start = stat.start, .uid = real};
	return probes_owner_lives(owner) ? 0 : -EACCES;
}

bool probes_owner_lives(const struct uprobe_owner *owner)
{
	struct proc_stat stat;

	/* Asked last, so that the start time was not that of a later process with this number. */
	return proc_stat(owner->tracer, &stat) && stat.start == owner->start && getppid() == owner->tracer;
}

bool probes_may_probe(const struct uprobe_owner *owner, pid_t pid)
{
	char *const status = pid > 0 ? proc_read(pid, "status", NULL) : NULL;
	uint64_t group, tracer, uid;
	bool may = proc_status_number(status, "Tgid", 0, 10, &group) && group == (uint64_t)pid &&
		   proc_status_number(status, "TracerPid", 0, 10, &tracer) && tracer;

	/* real, effective, saved, file system */
	for (unsigned i = 0; i < 4 && may; i++)
		may = proc_status_number(status, "Uid", i, 10, &uid) && uid == owner->uid;
	free(status);
	/* The kernel tells the thread that traces. */
	return may && proc_tgid((pid_t)tracer) == owner->tracer && probes_owner_lives(owner);
}

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF     39
#endif

int probes_reduce_rights(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2], wanted[2] = {{0}};
	const struct rlimit none = {0};

	wanted[1].effective = wanted[1].permitted = CAP_TO_MASK(CAP_PERFMON) | CAP_TO_MASK(CAP_BPF);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    setrlimit(RLIMIT_CORE, &none) || syscall(SYS_capget, &header, data))
		return -errno;
	if ((data[1].permitted & wanted[1].permitted) != wanted[1].permitted)
		return -EPERM;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, wanted) ? -errno : 0;
}
