/* The data of one ELF file that all address spaces mapping it share: its call frame information, and the rows made
 * from it. */
#ifndef FT_UNWIND_UNWIND_OBJECT_H
#define FT_UNWIND_UNWIND_OBJECT_H

#include "base/hash.h"
#include "unwind/cfi.h"
#include "unwind/rows.h"

#include <sys/stat.h>

/* The kind of an address that is found on a stack in place of a return address. */
enum site_kind {
	SITE_NONE,     /* nothing returns there */
	SITE_CALL,     /* the code after a call */
	SITE_SYSTEM,   /* the code after a system call that is made by a call (CALL_SYSTEM) */
	SITE_RESTORER, /* a signal handler returns there */
	SITE_START,    /* the first function of a thread or context returns there */
};

struct unwind_object {
	unsigned references;
	uint64_t key; /* in the registry; 0: not in the registry */
	/* The identity of the file; for memory without a file, only a build-id, which may be empty. */
	bool has_file;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec mtime;
	char *build_id;
	char *path; /* the path by which the file could be opened last */
	const struct arch *arch;

	enum { OBJECT_NEW, OBJECT_OPEN, OBJECT_FAILED } state;
	struct cfi cfi;
	struct row_table rows;
	struct hash sites;            /* return address -> enum site_kind; see frame.c */
	struct hash code_rows;        /* return address -> struct row, allocated; see code_rows.c */
	struct hash interrupted_rows; /* the same for interrupted code; the key includes sp's alignment */

	uint64_t used;              /* time of the last release, for objects without references */
	struct unwind_object *next; /* next object with the same key */
};

/* Returns the object for a path (NULL: memory only), with a reference. */
struct unwind_object *object_get(const char *path, const char *build_id, const struct arch *arch);
/* Adds a reference, and returns the object. */
struct unwind_object *object_reference(struct unwind_object *object);
/* Drops a reference. The rows of a limited number of files stay after the last reference, for the next exec of the
 * same file. */
void object_release(struct unwind_object *object);

/* Frees the rows of code_rows.c. */
void code_rows_free(struct hash *rows);

/* Opens the call frame information of the object's file now, if it has a file that answers in time. */
void object_prepare(struct unwind_object *object);
/* Opens the call frame information on first use: from the file, else from the tracee's memory at `start`. Returns
 * false if neither could be read; that is not tried again. */
bool object_open_slow(struct unwind_object *object, struct stack_memory *memory, uint64_t start);

static inline bool object_open(struct unwind_object *object, struct stack_memory *memory, uint64_t start)
{
	if (object->state == OBJECT_OPEN)
		return true;
	return object->state == OBJECT_NEW && object_open_slow(object, memory, start);
}

#endif
