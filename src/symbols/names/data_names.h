/* Names what is at addresses of a process's objects: variables, vtables, functions. */
#ifndef FT_SYMBOLS_NAMES_DATA_NAMES_H
#define FT_SYMBOLS_NAMES_DATA_NAMES_H

#include "base/util.h"

#include <sys/types.h>

struct data_names;
struct objects_image;

struct data_name {
	const char *object;  /* path of the object that contains the address, as the process sees it */
	const char *symbol;  /* demangled; NULL: unknown */
	uint64_t offset;     /* in the symbol; without one, the address in the object's file */
	bool is_function;    /* the symbol is a function */
	bool can_be_written; /* the address is in a segment of variables */
};

/* Reads the objects that a process has mapped; none if the process cannot be read. The symbols of an object, also those
 * of its separate debug file, are read when the first address in it is looked up. Free it with data_names_free(). */
struct data_names *data_names_new(pid_t pid);
/* The same for the objects of an image (symbols/objects/mapped_object.h). The caller keeps its sysroot. */
struct data_names *data_names_of_image(const struct objects_image *image);
void data_names_free(struct data_names *names);
/* Whether one of the objects is a Go program. */
bool data_names_have_go(const struct data_names *names);
/* Returns how many bytes of thread-local variables each thread has, by what the objects say. */
uint64_t data_names_thread_bytes(const struct data_names *names);
/* Finds what is at the address; *name is valid as long as the struct data_names. False if no object contains it. */
bool data_names_find(struct data_names *names, uint64_t address, struct data_name *name);

#endif
