/* Names the variables, vtables and functions at addresses of a process. */
#ifndef FT_SYMBOLS_NAMES_DATA_NAMES_H
#define FT_SYMBOLS_NAMES_DATA_NAMES_H

#include "base/util.h"

#include <sys/types.h>

struct data_names;
struct objects_image;

struct data_name {
	const char *object; /* path of the object that contains the address, as the process sees it */
	const char *symbol; /* demangled name; NULL: unknown */
	uint64_t offset;    /* offset in the symbol; without a symbol, the address in the object's file */
	bool is_function;
	bool can_be_written; /* the address is in a writable segment */
};

/* Reads the list of objects that a process has mapped; the list is empty if the process cannot be read. The symbols of
 * an object and of its separate debug file are read when the first address in the object is looked up. The caller frees
 * the result with data_names_free(). */
struct data_names *data_names_new(pid_t pid);
/* Like data_names_new(), but for the objects of an image (symbols/objects/mapped_object.h). The image's sysroot must
 * outlive the result. */
struct data_names *data_names_of_image(const struct objects_image *image);
void data_names_free(struct data_names *names);
/* Returns true if one of the objects is a Go program. */
bool data_names_have_go(const struct data_names *names);
/* Returns how many bytes of thread-local variables each thread has, as the sum over the objects' files. */
uint64_t data_names_thread_bytes(const struct data_names *names);
/* Finds the name of an address. The strings in *name are valid as long as the struct data_names. Returns false if no
 * object contains the address. */
bool data_names_find(struct data_names *names, uint64_t address, struct data_name *name);

#endif
