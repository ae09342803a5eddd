/* Names of what lies at addresses of a process's objects: variables, vtables, functions. */
#ifndef FT_SYMBOLS_NAMES_DATA_NAMES_H
#define FT_SYMBOLS_NAMES_DATA_NAMES_H

#include "base/util.h"

#include <sys/types.h>

struct data_names;
struct objects_image;

struct data_name {
	const char *object;  /* the path of the object that has the address, as the process sees it */
	const char *symbol;  /* as people read it (demangled); NULL: none is known */
	uint64_t offset;     /* in the symbol; without one, the address in the object's file */
	bool is_function;    /* the symbol is one */
	bool can_be_written; /* the address is in a segment of variables */
};

/* Of the objects that a process has mapped now; their symbols are read when the first address in them is asked for,
 * also those of separate debug files. Without any object if the process cannot be read. data_names_free() frees it. */
struct data_names *data_names_new(pid_t pid);
/* The same of the objects of an image (symbols/objects/mapped_object.h); its sysroot stays the caller's. */
struct data_names *data_names_of_image(const struct objects_image *image);
void data_names_free(struct data_names *names);
/* Whether one of the objects is a Go program. */
bool data_names_have_go(const struct data_names *names);
/* How many bytes of its own variables each thread has by what the objects say. */
uint64_t data_names_thread_bytes(const struct data_names *names);
/* What is at the address, as long as the struct data_names lives. False: no object has it. */
bool data_names_find(struct data_names *names, uint64_t address, struct data_name *name);

#endif
