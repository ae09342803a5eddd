/* Objects: the ELF files that a process has mapped, and the functions that they define.
 *
 * Data that depends only on the file (segments, symbols, build-id) is in a struct elf_file. A file is read once; all
 * address spaces that map the same file (device, inode, size, mtime) share it, also after exec. */
#ifndef FT_SYMBOLS_OBJECTS_MAPPED_OBJECT_H
#define FT_SYMBOLS_OBJECTS_MAPPED_OBJECT_H

#include "symbols/elf/elf.h"
#include "symbols/objects/maps.h"

/* The mapped range of a segment of code, and its tail: the bytes after the segment in the last page of the mapping,
 * which no code uses. */
struct text_range {
	uint64_t start, end;           /* mapped addresses of the segment's code */
	uint64_t tail_start, tail_end; /* mapped addresses of the tail; equal if there is none */
	bool shared;                   /* MAP_SHARED: no breakpoints can be set in it */
};

struct object {
	char *path;          /* the path as the process sees it, or "[vdso]"; may end with " (deleted)" */
	uint64_t start, end; /* the lowest mapped address, and the end of the last mapping */
	/* The end of the object's range in traces, which is also the range in which addresses of stacks are looked up.
	 * It is the end of the object's code, or of its data if no other object is mapped in between. On AArch64 the
	 * kernel maps [vdso] into the gap between the dynamic linker's segments. */
	uint64_t lookup_end;
	uint64_t base; /* mapped address of file offset 0: the field `from` of a trace's MMAP record */
	uint64_t bias; /* load bias: difference between mapped addresses and those in the file */
	/* A path by which the tracer can open exactly this file at present: /proc/PID/map_files/A-B, or
	 * /proc/PID/root/..., or the path. NULL: no file can be opened, only memory is available. */
	char *open_path;
	struct elf_file *file; /* never NULL in a list, because only ELF files are objects */
	struct text_range *text;
	size_t text_count;
	unsigned generation; /* number of the last objects_update() that has found the object */
	bool probed;         /* the tracer has looked for functions to trace in it; false in a new object */
	bool slots_read;     /* probe_resolved() has read its GOT slots; false in a new object */
	bool lasting;        /* set by the tracer: the object is never unloaded */
};

struct object_list {
	struct object **items; /* the objects by ascending start */
	size_t count, capacity;
	/* Messages for the summary at the end of the run: path and reason of each mapped executable file that could not
	 * be read as ELF. */
	char **unread;
	size_t unread_count, unread_capacity;
};

/* Updates the list from /proc/PID/maps. Calls `removed` for each object that is no longer mapped, before the object is
 * freed, and `added` for each new one; both may be NULL. Returns 0, or -errno; on error the list is unchanged. */
int objects_update(struct object_list *list, pid_t pid, void (*removed)(void *context, struct object *object),
		   void (*added)(void *context, struct object *object), void *context);
void objects_free(struct object_list *list);
/* Returns a copy of an object, which has its own reference to the file, so that another thread may use it. The caller
 * frees it with object_free() (NULL is allowed). */
struct object *object_clone(const struct object *from);
void object_free(struct object *object);
/* Copies the objects of a process for its fork's child. */
void objects_clone(const struct object_list *from, struct object_list *to);

/* The contents of a core file: the image of a process. */
struct objects_image {
	/* Only the mappings of files. inode: any number that identifies the file. exec: also set if it is unknown
	 * whether the mapping was executable. */
	const struct maps *maps;
	struct elf_memory memory; /* memory of the process; may contain the first pages of files */
	uint16_t machine;
	int64_t time;        /* time of the image; a newer file without a build-id is treated as another file */
	const char *sysroot; /* prefix of each path; NULL: none */
};

/* Fills an empty list with the objects of an image. An object whose file is missing or has changed has no open_path; a
 * warning is printed. */
void objects_of_image(struct object_list *list, const struct objects_image *image);
/* Returns the object that contains a mapped address, or NULL. */
struct object *objects_find(const struct object_list *list, uint64_t address);

/* Calls `callback` for each function symbol of the object for which is_chosen() returns true. Searches the symbols of
 * the object's file and, if this file has no .symtab, of its separate debug file, which is found by build-id or
 * .gnu_debuglink as for names. The chosen symbols are kept with the file, so is_chosen() must return the same for a
 * symbol in all objects and in each call. */
void object_chosen_functions(const struct object *object,
			     bool (*is_chosen)(void *context, const struct elf_symbol *symbol),
			     void (*callback)(void *context, const struct elf_symbol *symbol), void *context);

/* Returns the object's text range that contains a mapped address, or NULL. */
const struct text_range *object_text_at(const struct object *object, uint64_t address);

/* Calls `callback` for each word (slot) of the object that the dynamic linker fills by a relocation. Either the
 * relocation has a symbol, whose name is `name`. Or it has type `irelative`, and the slot is filled with the result of
 * an IFUNC resolver: `name` is "", and `resolver` is the resolver's address. All addresses are mapped ones. Stops when
 * the callback returns false. Does nothing if the object's file cannot be read. */
typedef bool (*object_slot_callback)(void *context, const char *name, uint64_t resolver, uint64_t slot);
void object_slots(const struct object *object, unsigned irelative, object_slot_callback callback, void *context);
/* Like object_slots(), but for slots with relocation type `jump_slot` or `glob_dat`, which contain just a symbol's
 * address. Reads the file once. */
void object_call_slots(const struct object *object, unsigned jump_slot, unsigned glob_dat,
		       object_slot_callback callback, void *context);

#endif
