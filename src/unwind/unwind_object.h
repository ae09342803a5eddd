/* The data of one ELF file, shared by all address spaces that map the file: its call frame information, and the rows
 * made from it. */
#ifndef FT_UNWIND_UNWIND_OBJECT_H
#define FT_UNWIND_UNWIND_OBJECT_H

#include "base/hash.h"
#include "unwind/cfi.h"
#include "unwind/cfi_rows.h"

#include <sys/stat.h>

/* The ways in which an address on a stack can be a return address. */
enum site_kind {
	SITE_NONE,     /* no code returns to the address */
	SITE_CALL,     /* the address follows a call */
	SITE_SYSTEM,   /* the address follows a system call that the code makes by a call (CALL_SYSTEM) */
	SITE_RESTORER, /* a signal handler returns to the address */
	SITE_START,    /* the first function of a thread or context returns to the address */
};

struct unwind_object {
	unsigned references;
	uint64_t key; /* key in the registry; 0: the object is not in the registry */
	/* The identity of the file; for memory without a file, only a build-id, which may be empty. */
	bool has_file;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec mtime;
	char *build_id;
	char *path; /* path by which the file was last found; NULL: no file */
	const struct arch *arch;

	enum { OBJECT_NEW, OBJECT_OPEN, OBJECT_FAILED } state;
	struct cfi cfi;
	struct row_table rows;
	struct hash sites;            /* return address -> enum site_kind; see frame.c */
	struct hash code_rows;        /* return address -> struct row, allocated; see code_rows.c */
	struct hash interrupted_rows; /* the same for interrupted code; the key includes sp's alignment */

	uint64_t used;              /* value of a counter at the last release, if the object has no references */
	struct unwind_object *next; /* next object with the same key */
};

/* Returns the object for the file at a path, with a new reference. path: NULL if the object is in memory only. */
struct unwind_object *object_get(const char *path, const char *build_id, const struct arch *arch);
/* Adds a reference, and returns the object. */
struct unwind_object *object_reference(struct unwind_object *object);
/* Drops a reference. If it was the last reference, the rows are kept for the next process that maps the same file, but
 * only for a limited number of files. */
void object_release(struct unwind_object *object);

/* Frees rows made by code_rows.c, and the table. */
void code_rows_free(struct hash *rows);

/* Opens the call frame information of the object's file now, if the object has a file and the file can be read in
 * time. */
void object_prepare(struct unwind_object *object);
/* Opens the call frame information on first use: from the file, else from the target's memory at `start`. Returns false
 * if neither can be read; then this is not tried again. */
bool object_open_slow(struct unwind_object *object, struct stack_memory *memory, uint64_t start);

static inline bool object_open(struct unwind_object *object, struct stack_memory *memory, uint64_t start)
{
	if (object->state == OBJECT_OPEN)
		return true;
	return object->state == OBJECT_NEW && object_open_slow(object, memory, start);
}

#endif
