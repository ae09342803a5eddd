/* Names of constants, for the parameters of functions that modules know (struct param).
 *
 * The numbers are Linux's, of all processors that functrace traces; what differs between these has the processors
 * beside it. None comes from a header of the system that functrace is built on. */
#ifndef FT_MODULES_WORDS_H
#define FT_MODULES_WORDS_H

#include "modules/module.h"

/* Of paths and descriptors. */
extern const struct param_word words_dirfd[], words_open[], words_open_mode_bits[], words_at[], words_access[];
extern const struct param_word words_dup[], words_pipe[], words_whence[], words_lock[], words_fcntl[], words_memfd[],
	words_close_range[];
extern const struct param_word words_fsopen[], words_fsmount[], words_mount_attr[], words_fspick[], words_open_tree[];
extern const struct param_word words_ioctl[];
extern const struct param_case cases_fcntl[];
/* Of descriptors that are events. */
extern const struct param_word words_epoll[], words_epoll_op[], words_eventfd[], words_signalfd[], words_timerfd[];
extern const struct param_word words_clock[], words_inotify[], words_fanotify[], words_pidfd[];
/* Of memory. */
extern const struct param_word words_prot[], words_map[], words_map_failed[], words_mremap[], words_msync[];
extern const struct param_word words_madvise[], words_key[], words_shmget[], words_shmat[], words_shmctl[];
/* Of sockets. */
extern const struct param_word words_family[], words_socket[], words_accept[], words_message[], words_level[];
extern const struct param_word words_shutdown[], words_name_error[];
extern const struct param_case cases_protocol[], cases_socket_option[];
/* Of processes. */
extern const struct param_word words_signal[], words_handler[], words_mask[], words_wait[], words_dlopen[];
extern const struct param_word words_library[];

/* A word's fields, of which those behind the value may be left out: zeros stand in for them. */
#define WORD_OF(called, is, bits, of, ...) .name = (called), .value = (is), .mask = (bits), .on = (of)

#define OPEN_MAKES (0100u | 020000000u) /* O_CREAT, O_TMPFILE's own bit: open() has a mode then */

/* Parameters, to be written in braces: {P_STRING("pathname")}. */
#define P_INT(called)             called, PARAM_INT
#define P_UINT(called)            called, PARAM_UINT
#define P_LONG(called)            called, PARAM_LONG
#define P_SIZE(called)            called, PARAM_SIZE
#define P_POINTER(called)         called, PARAM_POINTER
#define P_STRING(called)          called, PARAM_STRING
#define P_WIDE(called)            called, PARAM_WIDE
#define P_WORD(called, table)     called, PARAM_WORD, .words = (table)
#define P_FLAGS(called, table)    called, PARAM_FLAGS, .words = (table)
#define P_DIRFD(called)           called, PARAM_INT, .words = words_dirfd
#define P_MODE                    "mode", PARAM_OCTAL
#define P_MODE_IF(flags)          "mode", PARAM_OCTAL, .with = (flags), .needs = OPEN_MAKES
#define P_ADDRESS(length)         "addr", PARAM_SOCKADDR, .with = (length)
#define P_ADDRESS_OUT(length)     "addr", PARAM_SOCKADDR, .with = (length), .is_result = true
#define P_LENGTH_OUT              "addrlen", PARAM_INTS, .is_result = true, .needs = 1
#define P_INTS_OUT(called, n)     called, PARAM_INTS, .is_result = true, .needs = (n)
#define P_BYTES(called, size)     called, PARAM_BYTES, .with = (size)
#define P_BYTES_OUT(called, size) called, PARAM_BYTES, .with = (size), .is_result = true
#define P_POINTER_OUT(called)     called, PARAM_INDIRECT, .is_result = true
/* Results. */
#define R(type)       .returns = {"return", type}
#define R_ERRNO(type) R(type), .sets_errno = true

#endif
