#include "config.h"
#include "modules/words.h"

/* The tables are in the order in which words are tried, and shown. */

#define WORD(name, ...)                                                                                                \
	{                                                                                                              \
		WORD_OF(#name, __VA_ARGS__, 0, 0, 0)                                                                   \
	}
#define END                                                                                                            \
	{                                                                                                              \
		.name = NULL                                                                                           \
	}
#define ON_X86   (ON_X86_64 | ON_I386)
#define ON_ARMS  (ON_AARCH64 | ON_ARM)
#define MINUS(n) (0 - (uint64_t)(n))

/* The size of pages, as a power of 2, that MAP_HUGETLB and its like have in their upper bits. */
#define HUGE(log, name)                                                                                                \
	{                                                                                                              \
		WORD_OF(#log "<<" name, log##u << 26, 63u << 26, 0, 0)                                                 \
	}
#define HUGE_SIZES(name)                                                                                               \
	HUGE(14, name), HUGE(16, name), HUGE(19, name), HUGE(20, name), HUGE(21, name), HUGE(23, name),                \
		HUGE(24, name), HUGE(25, name), HUGE(28, name), HUGE(29, name), HUGE(30, name), HUGE(31, name),        \
		HUGE(34, name)

/* ---- Paths and descriptors ---- */

const struct param_word words_dirfd[] = {WORD(AT_FDCWD, MINUS(100)), END};

#define CLOEXEC  02000000
#define NONBLOCK 04000

/* What processors of x86 call O_DIRECTORY, O_NOFOLLOW, O_DIRECT and O_LARGEFILE are other bits of ARM's. */
const struct param_word words_open[] = {WORD(O_RDONLY, 0, 3),
					WORD(O_WRONLY, 1, 3),
					WORD(O_RDWR, 2, 3),
					WORD(O_ACCMODE, 3, 3),
					WORD(O_CREAT, 0100),
					WORD(O_EXCL, 0200),
					WORD(O_NOCTTY, 0400),
					WORD(O_TRUNC, 01000),
					WORD(O_APPEND, 02000),
					WORD(O_NONBLOCK, NONBLOCK),
					WORD(O_SYNC, 04010000),
					WORD(O_DSYNC, 010000),
					WORD(O_DIRECT, 040000, 0, ON_X86),
					WORD(O_DIRECT, 0200000, 0, ON_ARMS),
					WORD(O_LARGEFILE, 0100000, 0, ON_X86),
					WORD(O_LARGEFILE, 0400000, 0, ON_ARMS),
					WORD(O_NOFOLLOW, 0400000, 0, ON_X86),
					WORD(O_NOFOLLOW, 0100000, 0, ON_ARMS),
					WORD(O_NOATIME, 01000000),
					WORD(O_CLOEXEC, CLOEXEC),
					WORD(O_PATH, 010000000),
					WORD(O_TMPFILE, 020200000, 0, ON_X86),
					WORD(O_TMPFILE, 020040000, 0, ON_ARMS),
					WORD(O_DIRECTORY, 0200000, 0, ON_X86),
					WORD(O_DIRECTORY, 040000, 0, ON_ARMS),
					WORD(O_ASYNC, 020000),
					END};

/* mkostemp()'s: without an access mode. */
const struct param_word words_open_mode_bits[] = {WORD(O_APPEND, 02000),
						  WORD(O_NONBLOCK, NONBLOCK),
						  WORD(O_SYNC, 04010000),
						  WORD(O_DSYNC, 010000),
						  WORD(O_NOATIME, 01000000),
						  WORD(O_CLOEXEC, CLOEXEC),
						  END};

const struct param_word words_dup[] = {WORD(O_CLOEXEC, CLOEXEC), END};
const struct param_word words_pipe[] = {WORD(O_NONBLOCK, NONBLOCK), WORD(O_DIRECT, 040000, 0, ON_X86),
					WORD(O_DIRECT, 0200000, 0, ON_ARMS), WORD(O_CLOEXEC, CLOEXEC), END};

const struct param_word words_at[] = {WORD(AT_SYMLINK_NOFOLLOW, 0x100),
				      WORD(AT_REMOVEDIR, 0x200),
				      WORD(AT_SYMLINK_FOLLOW, 0x400),
				      WORD(AT_NO_AUTOMOUNT, 0x800),
				      WORD(AT_EMPTY_PATH, 0x1000),
				      WORD(AT_RECURSIVE, 0x8000),
				      END};

const struct param_word words_access[] = {WORD(F_OK, 0), WORD(R_OK, 4), WORD(W_OK, 2), WORD(X_OK, 1), END};

const struct param_word words_whence[] = {WORD(SEEK_SET, 0),  WORD(SEEK_CUR, 1),  WORD(SEEK_END, 2),
					  WORD(SEEK_DATA, 3), WORD(SEEK_HOLE, 4), END};

const struct param_word words_lock[] = {WORD(LOCK_SH, 1), WORD(LOCK_EX, 2), WORD(LOCK_NB, 4), WORD(LOCK_UN, 8), END};

const struct param_word words_memfd[] = {WORD(MFD_CLOEXEC, 1),
					 WORD(MFD_ALLOW_SEALING, 2),
					 WORD(MFD_HUGETLB, 4),
					 WORD(MFD_NOEXEC_SEAL, 8),
					 WORD(MFD_EXEC, 16),
					 HUGE_SIZES("MFD_HUGE_SHIFT"),
					 END};

const struct param_word words_close_range[] = {WORD(CLOSE_RANGE_UNSHARE, 2), WORD(CLOSE_RANGE_CLOEXEC, 4), END};

const struct param_word words_fsopen[] = {WORD(FSOPEN_CLOEXEC, 1), END};
const struct param_word words_fsmount[] = {WORD(FSMOUNT_CLOEXEC, 1), END};
const struct param_word words_mount_attr[] = {WORD(MOUNT_ATTR_RDONLY, 1),
					      WORD(MOUNT_ATTR_NOSUID, 2),
					      WORD(MOUNT_ATTR_NODEV, 4),
					      WORD(MOUNT_ATTR_NOEXEC, 8),
					      WORD(MOUNT_ATTR_NOATIME, 0x10, 0x70),
					      WORD(MOUNT_ATTR_STRICTATIME, 0x20, 0x70),
					      WORD(MOUNT_ATTR_NODIRATIME, 0x80),
					      WORD(MOUNT_ATTR_IDMAP, 0x100000),
					      WORD(MOUNT_ATTR_NOSYMFOLLOW, 0x200000),
					      END};
const struct param_word words_fspick[] = {WORD(FSPICK_CLOEXEC, 1), WORD(FSPICK_SYMLINK_NOFOLLOW, 2),
					  WORD(FSPICK_NO_AUTOMOUNT, 4), WORD(FSPICK_EMPTY_PATH, 8), END};
const struct param_word words_open_tree[] = {WORD(OPEN_TREE_CLONE, 1),
					     WORD(OPEN_TREE_CLOEXEC, CLOEXEC),
					     WORD(AT_SYMLINK_NOFOLLOW, 0x100),
					     WORD(AT_NO_AUTOMOUNT, 0x800),
					     WORD(AT_EMPTY_PATH, 0x1000),
					     WORD(AT_RECURSIVE, 0x8000),
					     END};

/* ioctl_list: terminals, sockets, files; what the processors have in common. */
const struct param_word words_ioctl[] = {WORD(TCGETS, 0x5401),
					 WORD(TCSETS, 0x5402),
					 WORD(TCSETSW, 0x5403),
					 WORD(TCSETSF, 0x5404),
					 WORD(TCSBRK, 0x5409),
					 WORD(TCXONC, 0x540a),
					 WORD(TCFLSH, 0x540b),
					 WORD(TIOCEXCL, 0x540c),
					 WORD(TIOCSCTTY, 0x540e),
					 WORD(TIOCGPGRP, 0x540f),
					 WORD(TIOCSPGRP, 0x5410),
					 WORD(TIOCOUTQ, 0x5411),
					 WORD(TIOCSTI, 0x5412),
					 WORD(TIOCGWINSZ, 0x5413),
					 WORD(TIOCSWINSZ, 0x5414),
					 WORD(TIOCMGET, 0x5415),
					 WORD(FIONREAD, 0x541b),
					 WORD(TIOCPKT, 0x5420),
					 WORD(FIONBIO, 0x5421),
					 WORD(TIOCNOTTY, 0x5422),
					 WORD(TIOCGSID, 0x5429),
					 WORD(TIOCGPTN, 0x80045430),
					 WORD(TIOCSPTLCK, 0x40045431),
					 WORD(TIOCGPTPEER, 0x5441),
					 WORD(FIONCLEX, 0x5450),
					 WORD(FIOCLEX, 0x5451),
					 WORD(FIOASYNC, 0x5452),
					 WORD(SIOCGIFNAME, 0x8910),
					 WORD(SIOCGIFCONF, 0x8912),
					 WORD(SIOCGIFFLAGS, 0x8913),
					 WORD(SIOCSIFFLAGS, 0x8914),
					 WORD(SIOCGIFADDR, 0x8915),
					 WORD(SIOCGIFNETMASK, 0x891b),
					 WORD(SIOCGIFMTU, 0x8921),
					 WORD(SIOCGIFHWADDR, 0x8927),
					 WORD(SIOCGIFINDEX, 0x8933),
					 WORD(BLKGETSIZE64, 0x80081272, 0, ON_X86_64 | ON_AARCH64),
					 WORD(FICLONE, 0x40049409),
					 WORD(RNDGETENTCNT, 0x80045200),
					 END};

/* ---- fcntl() ---- */

const struct param_word words_fcntl[] = {WORD(F_DUPFD, 0),
					 WORD(F_GETFD, 1),
					 WORD(F_SETFD, 2),
					 WORD(F_GETFL, 3),
					 WORD(F_SETFL, 4),
					 WORD(F_GETLK, 5),
					 WORD(F_SETLK, 6),
					 WORD(F_SETLKW, 7),
					 WORD(F_SETOWN, 8),
					 WORD(F_GETOWN, 9),
					 WORD(F_SETSIG, 10),
					 WORD(F_GETSIG, 11),
					 WORD(F_GETLK64, 12, 0, ON_I386 | ON_ARM),
					 WORD(F_SETLK64, 13, 0, ON_I386 | ON_ARM),
					 WORD(F_SETLKW64, 14, 0, ON_I386 | ON_ARM),
					 WORD(F_SETOWN_EX, 15),
					 WORD(F_GETOWN_EX, 16),
					 WORD(F_OFD_GETLK, 36),
					 WORD(F_OFD_SETLK, 37),
					 WORD(F_OFD_SETLKW, 38),
					 WORD(F_SETLEASE, 1024),
					 WORD(F_GETLEASE, 1025),
					 WORD(F_NOTIFY, 1026),
					 WORD(F_DUPFD_CLOEXEC, 1030),
					 WORD(F_SETPIPE_SZ, 1031),
					 WORD(F_GETPIPE_SZ, 1032),
					 WORD(F_ADD_SEALS, 1033),
					 WORD(F_GET_SEALS, 1034),
					 WORD(F_GET_RW_HINT, 1035),
					 WORD(F_SET_RW_HINT, 1036),
					 WORD(F_GET_FILE_RW_HINT, 1037),
					 WORD(F_SET_FILE_RW_HINT, 1038),
					 END};

static const struct param_word words_fd[] = {WORD(FD_CLOEXEC, 1), END};
static const struct param_word words_lease[] = {WORD(F_RDLCK, 0), WORD(F_WRLCK, 1), WORD(F_UNLCK, 2), END};
static const struct param_word words_notify[] = {WORD(DN_ACCESS, 1),
						 WORD(DN_MODIFY, 2),
						 WORD(DN_CREATE, 4),
						 WORD(DN_DELETE, 8),
						 WORD(DN_RENAME, 16),
						 WORD(DN_ATTRIB, 32),
						 WORD(DN_MULTISHOT, 0x80000000),
						 END};
static const struct param_word words_seals[] = {WORD(F_SEAL_SEAL, 1),
						WORD(F_SEAL_SHRINK, 2),
						WORD(F_SEAL_GROW, 4),
						WORD(F_SEAL_WRITE, 8),
						WORD(F_SEAL_FUTURE_WRITE, 16),
						WORD(F_SEAL_EXEC, 32),
						END};

const struct param_case cases_fcntl[] = {{0, 0, PARAM_INT, NULL}, /* F_DUPFD */
					 {1030, 0, PARAM_INT, NULL},
					 {1, 0, PARAM_NONE, NULL}, /* F_GETFD and others that get something */
					 {3, 0, PARAM_NONE, NULL},
					 {9, 0, PARAM_NONE, NULL},
					 {11, 0, PARAM_NONE, NULL},
					 {1025, 0, PARAM_NONE, NULL},
					 {1032, 0, PARAM_NONE, NULL},
					 {1034, 0, PARAM_NONE, NULL},
					 {2, 0, PARAM_FLAGS, words_fd},
					 {4, 0, PARAM_FLAGS, words_open},
					 {8, 0, PARAM_INT, NULL}, /* F_SETOWN */
					 {10, 0, PARAM_INT, words_signal},
					 {1024, 0, PARAM_INT, words_lease},
					 {1026, 0, PARAM_FLAGS, words_notify},
					 {1031, 0, PARAM_INT, NULL},
					 {1033, 0, PARAM_FLAGS, words_seals},
					 /* F_GETLK... */
					 {4, ~3u, PARAM_POINTER, NULL},
					 {12, ~3u, PARAM_POINTER, NULL},
					 {16, 0, PARAM_POINTER, NULL},
					 {36, ~3u, PARAM_POINTER, NULL},
					 {1035, 0, PARAM_POINTER, NULL},
					 {1036, ~3u, PARAM_POINTER, NULL},
					 {0}};

/* ---- Descriptors that are events ---- */

const struct param_word words_epoll[] = {WORD(EPOLL_CLOEXEC, CLOEXEC), END};
const struct param_word words_epoll_op[] = {WORD(EPOLL_CTL_ADD, 1), WORD(EPOLL_CTL_DEL, 2), WORD(EPOLL_CTL_MOD, 3),
					    END};
const struct param_word words_eventfd[] = {WORD(EFD_SEMAPHORE, 1), WORD(EFD_CLOEXEC, CLOEXEC),
					   WORD(EFD_NONBLOCK, NONBLOCK), END};
const struct param_word words_signalfd[] = {WORD(SFD_CLOEXEC, CLOEXEC), WORD(SFD_NONBLOCK, NONBLOCK), END};
const struct param_word words_timerfd[] = {WORD(TFD_CLOEXEC, CLOEXEC), WORD(TFD_NONBLOCK, NONBLOCK), END};
const struct param_word words_clock[] = {
	WORD(CLOCK_REALTIME, 0),          WORD(CLOCK_MONOTONIC, 1),     WORD(CLOCK_PROCESS_CPUTIME_ID, 2),
	WORD(CLOCK_THREAD_CPUTIME_ID, 3), WORD(CLOCK_MONOTONIC_RAW, 4), WORD(CLOCK_REALTIME_COARSE, 5),
	WORD(CLOCK_MONOTONIC_COARSE, 6),  WORD(CLOCK_BOOTTIME, 7),      WORD(CLOCK_REALTIME_ALARM, 8),
	WORD(CLOCK_BOOTTIME_ALARM, 9),    WORD(CLOCK_TAI, 11),          END};
const struct param_word words_inotify[] = {WORD(IN_NONBLOCK, NONBLOCK), WORD(IN_CLOEXEC, CLOEXEC), END};
const struct param_word words_fanotify[] = {WORD(FAN_CLASS_NOTIF, 0, 12),
					    WORD(FAN_CLASS_CONTENT, 4, 12),
					    WORD(FAN_CLASS_PRE_CONTENT, 8, 12),
					    WORD(FAN_CLOEXEC, 1),
					    WORD(FAN_NONBLOCK, 2),
					    WORD(FAN_UNLIMITED_QUEUE, 0x10),
					    WORD(FAN_UNLIMITED_MARKS, 0x20),
					    WORD(FAN_ENABLE_AUDIT, 0x40),
					    WORD(FAN_REPORT_PIDFD, 0x80),
					    WORD(FAN_REPORT_TID, 0x100),
					    WORD(FAN_REPORT_FID, 0x200),
					    WORD(FAN_REPORT_DIR_FID, 0x400),
					    WORD(FAN_REPORT_NAME, 0x800),
					    WORD(FAN_REPORT_TARGET_FID, 0x1000),
					    END};
const struct param_word words_pidfd[] = {WORD(PIDFD_NONBLOCK, NONBLOCK), END};

/* ---- Memory ---- */

const struct param_word words_prot[] = {WORD(PROT_NONE, 0),
					WORD(PROT_READ, 1),
					WORD(PROT_WRITE, 2),
					WORD(PROT_EXEC, 4),
					WORD(PROT_SEM, 8),
					WORD(PROT_BTI, 0x10, 0, ON_AARCH64),
					WORD(PROT_MTE, 0x20, 0, ON_AARCH64),
					WORD(PROT_GROWSDOWN, 0x1000000),
					WORD(PROT_GROWSUP, 0x2000000),
					END};
const struct param_word words_map[] = {WORD(MAP_FILE, 0, 15),
				       WORD(MAP_SHARED, 1, 15),
				       WORD(MAP_PRIVATE, 2, 15),
				       WORD(MAP_SHARED_VALIDATE, 3, 15),
				       WORD(MAP_FIXED, 0x10),
				       WORD(MAP_ANONYMOUS, 0x20),
				       WORD(MAP_32BIT, 0x40, 0, ON_X86),
				       WORD(MAP_NORESERVE, 0x4000),
				       WORD(MAP_POPULATE, 0x8000),
				       WORD(MAP_NONBLOCK, 0x10000),
				       WORD(MAP_GROWSDOWN, 0x100),
				       WORD(MAP_DENYWRITE, 0x800),
				       WORD(MAP_EXECUTABLE, 0x1000),
				       WORD(MAP_LOCKED, 0x2000),
				       WORD(MAP_STACK, 0x20000),
				       WORD(MAP_HUGETLB, 0x40000),
				       WORD(MAP_SYNC, 0x80000),
				       WORD(MAP_FIXED_NOREPLACE, 0x100000),
				       HUGE_SIZES("MAP_HUGE_SHIFT"),
				       END};
const struct param_word words_map_failed[] = {WORD(MAP_FAILED, MINUS(1)), END};
const struct param_word words_mremap[] = {WORD(MREMAP_MAYMOVE, 1), WORD(MREMAP_FIXED, 2), WORD(MREMAP_DONTUNMAP, 4),
					  END};
const struct param_word words_msync[] = {WORD(MS_SYNC, 4), WORD(MS_ASYNC, 1), WORD(MS_INVALIDATE, 2), END};
const struct param_word words_madvise[] = {WORD(MADV_NORMAL, 0),
					   WORD(MADV_RANDOM, 1),
					   WORD(MADV_SEQUENTIAL, 2),
					   WORD(MADV_WILLNEED, 3),
					   WORD(MADV_DONTNEED, 4),
					   WORD(MADV_FREE, 8),
					   WORD(MADV_REMOVE, 9),
					   WORD(MADV_DONTFORK, 10),
					   WORD(MADV_DOFORK, 11),
					   WORD(MADV_MERGEABLE, 12),
					   WORD(MADV_UNMERGEABLE, 13),
					   WORD(MADV_HUGEPAGE, 14),
					   WORD(MADV_NOHUGEPAGE, 15),
					   WORD(MADV_DONTDUMP, 16),
					   WORD(MADV_DODUMP, 17),
					   WORD(MADV_WIPEONFORK, 18),
					   WORD(MADV_KEEPONFORK, 19),
					   WORD(MADV_COLD, 20),
					   WORD(MADV_PAGEOUT, 21),
					   WORD(MADV_POPULATE_READ, 22),
					   WORD(MADV_POPULATE_WRITE, 23),
					   WORD(MADV_COLLAPSE, 25),
					   END};
const struct param_word words_key[] = {WORD(IPC_PRIVATE, 0), END};
const struct param_word words_shmget[] = {WORD(IPC_CREAT, 01000),       WORD(IPC_EXCL, 02000),
					  WORD(SHM_HUGETLB, 04000),     WORD(SHM_NORESERVE, 010000),
					  HUGE_SIZES("SHM_HUGE_SHIFT"), END};
const struct param_word words_shmat[] = {WORD(SHM_RDONLY, 010000), WORD(SHM_RND, 020000), WORD(SHM_REMAP, 040000),
					 WORD(SHM_EXEC, 0100000), END};
/* musl adds 0x100 on 32 bits, where the structure has times of 64. */
const struct param_word words_shmctl[] = {WORD(IPC_RMID, 0),
					  WORD(IPC_SET, 1),
					  WORD(IPC_STAT, 2),
					  WORD(IPC_INFO, 3),
					  WORD(SHM_LOCK, 11),
					  WORD(SHM_UNLOCK, 12),
					  WORD(SHM_STAT, 13),
					  WORD(SHM_INFO, 14),
					  WORD(SHM_STAT_ANY, 15),
					  WORD(IPC_STAT, 0x102),
					  WORD(SHM_STAT, 0x10d),
					  WORD(SHM_STAT_ANY, 0x10f),
					  END};

/* ---- Processes ---- */

const struct param_word words_signal[] = {
	WORD(SIGHUP, 1),   WORD(SIGINT, 2),     WORD(SIGQUIT, 3),  WORD(SIGILL, 4),
	WORD(SIGTRAP, 5),  WORD(SIGABRT, 6),    WORD(SIGBUS, 7),   WORD(SIGFPE, 8),
	WORD(SIGKILL, 9),  WORD(SIGUSR1, 10),   WORD(SIGSEGV, 11), WORD(SIGUSR2, 12),
	WORD(SIGPIPE, 13), WORD(SIGALRM, 14),   WORD(SIGTERM, 15), WORD(SIGSTKFLT, 16),
	WORD(SIGCHLD, 17), WORD(SIGCONT, 18),   WORD(SIGSTOP, 19), WORD(SIGTSTP, 20),
	WORD(SIGTTIN, 21), WORD(SIGTTOU, 22),   WORD(SIGURG, 23),  WORD(SIGXCPU, 24),
	WORD(SIGXFSZ, 25), WORD(SIGVTALRM, 26), WORD(SIGPROF, 27), WORD(SIGWINCH, 28),
	WORD(SIGIO, 29),   WORD(SIGPWR, 30),    WORD(SIGSYS, 31),  END};
const struct param_word words_handler[] = {WORD(SIG_DFL, 0), WORD(SIG_IGN, 1), WORD(SIG_ERR, MINUS(1)), END};
const struct param_word words_mask[] = {WORD(SIG_BLOCK, 0), WORD(SIG_UNBLOCK, 1), WORD(SIG_SETMASK, 2), END};
const struct param_word words_wait[] = {WORD(WNOHANG, 1),
					WORD(WUNTRACED, 2),
					WORD(WEXITED, 4),
					WORD(WCONTINUED, 8),
					WORD(WNOWAIT, 0x1000000),
					WORD(__WCLONE, 0x80000000),
					WORD(__WALL, 0x40000000),
					WORD(__WNOTHREAD, 0x20000000),
					END};
const struct param_word words_dlopen[] = {WORD(RTLD_LAZY, 1),
					  WORD(RTLD_NOW, 2),
					  WORD(RTLD_NOLOAD, 4),
					  WORD(RTLD_DEEPBIND, 8),
					  WORD(RTLD_GLOBAL, 0x100),
					  WORD(RTLD_NODELETE, 0x1000),
					  END};
const struct param_word words_library[] = {WORD(RTLD_DEFAULT, 0), WORD(RTLD_NEXT, MINUS(1)), END};
