/* The data that all address spaces share that map one ELF file: its call frame information, and the rows made of it. */
#ifndef FT_UNWIND_OBJECT_H
#define FT_UNWIND_OBJECT_H

#include "base/hash.h"
#include "unwind/cfi.h"
#include "unwind/rows.h"

#include <sys/stat.h>

/* What an address is that is found on a stack where a return address should be. */
enum site_kind {
	SITE_NONE,     /* nothing returns there */
	SITE_CALL,     /* a call is before it */
	SITE_SYSTEM,   /* a system call by a call is (CALL_SYSTEM) */
	SITE_RESTORER, /* a signal handler returns there */
	SITE_START,    /* the first function of a thread or context does */
};

struct unwind_object {
	unsigned references;
	uint64_t key; /* in the registry; 0: not in it */
	/* The file, or only a build id for what has none; a build id may be empty. */
	bool has_file;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec mtime;
	char *build_id;
	char *path; /* by which it could be opened most recently */
	const struct arch *arch;

	enum { OBJECT_NEW, OBJECT_OPEN, OBJECT_FAILED } state;
	struct cfi cfi;
	struct row_table rows;
	struct hash sites;            /* return address -> enum site_kind: frame.c */
	struct hash code_rows;        /* return address -> struct row, allocated: code_rows.c */
	struct hash interrupted_rows; /* the same of interrupted code, with the alignment of sp */

	uint64_t used;              /* when it was last released, for those without references */
	struct unwind_object *next; /* of those with the same key */
};

/* The object for a path (NULL: memory only), with a reference. */
struct unwind_object *object_get(const char *path, const char *build_id, const struct arch *arch);
/* One reference more of the same object. */
struct unwind_object *object_reference(struct unwind_object *object);
/* A file's rows outlive the last reference: the next exec of the same file finds them. A bounded
 * number is kept. */
void object_release(struct unwind_object *object);

/* code_rows.c */
void code_rows_free(struct hash *rows);

/* Opens the call frame information of the object's file, if it has one that answers in time. */
void object_prepare(struct unwind_object *object);
/* Opens the call frame information, on first use: from the file, else from the tracee's memory at
 * `start`. False: neither could be read, which is not tried again. */
bool object_open_slow(struct unwind_object *object, struct stack_memory *memory, uint64_t start);

static inline bool object_open(struct unwind_object *object, struct stack_memory *memory, uint64_t start)
{
	if (object->state == OBJECT_OPEN)
		return true;
	return object->state == OBJECT_NEW && object_open_slow(object, memory, start);
}

#endif
