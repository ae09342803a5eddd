/* Objects: the ELF files that an address space maps, and the functions they define.
 *
 * Data that depends only on the file (segments, symbols, build-id) is in a struct elf_file, which is read once and
 * shared by all address spaces and execs that map the same file (device, inode, size, mtime). */
#ifndef FT_SYMBOLS_OBJECTS_MAPPED_OBJECT_H
#define FT_SYMBOLS_OBJECTS_MAPPED_OBJECT_H

#include "symbols/elf/elf.h"
#include "symbols/objects/maps.h"

/* A segment of code as it is mapped, and its tail: the bytes after the segment in the last page of the mapping, which
 * no code uses. */
struct text_range {
	uint64_t start, end;           /* mapped addresses of the text segment's code */
	uint64_t tail_start, tail_end; /* empty if equal */
	bool shared;                   /* MAP_SHARED: cannot be probed */
};

struct object {
	char *path;          /* as the target sees it; "[vdso]", "/memfd:x (deleted)" */
	uint64_t start, end; /* the first mapped address, and the end of the last mapping */
	/* The end of the range that traces contain, and in which addresses of stacks are looked up: the end of the
	 * object's code, and of its data if no other object is in between. On AArch64 the kernel maps [vdso] into the
	 * hole between the dynamic linker's segments. */
	uint64_t lookup_end;
	uint64_t base; /* the address of file offset 0, which traces contain as MMAP's from */
	uint64_t bias; /* what to add to addresses in the file */
	/* A path by which the tracer can open exactly this file at present: /proc/PID/map_files/A-B, or
	 * /proc/PID/root/..., or the path. NULL: only the file's memory is there. */
	char *open_path;
	struct elf_file *file; /* never NULL in a list: only ELF files are objects */
	struct text_range *text;
	size_t text_count;
	unsigned generation; /* set by objects_update() to tell old objects from new ones */
	bool probed;         /* for the tracer; false when new */
	bool lasting;        /* for the tracer: it is never unloaded */
};

struct object_list {
	struct object **items; /* by ascending start */
	size_t count, capacity;
	/* Mapped executable files that could not be read as ELF, with the reason: for the end report. */
	char **unread;
	size_t unread_count, unread_capacity;
};

/* Brings the list up to date with /proc/PID/maps. Calls `removed` for each object that is gone, before it is freed (its
 * memory is no longer mapped), and `added` for each new one; both may be NULL. Returns 0, or -errno; on error the list
 * is unchanged. */
int objects_update(struct object_list *list, pid_t pid, void (*removed)(void *context, struct object *object),
		   void (*added)(void *context, struct object *object), void *context);
void objects_free(struct object_list *list);
/* Returns a copy of an object, with a reference to its file; another thread may use it. object_free() frees it (NULL is
 * allowed). */
struct object *object_clone(const struct object *from);
void object_free(struct object *object);
/* Makes the list of a fork's child, which has the same objects. */
void objects_clone(const struct object_list *from, struct object_list *to);

/* The image of a process in a core file. */
struct objects_image {
	/* Mappings of files only. inode: a number that identifies the file. exec: also set if it is unknown. */
	const struct maps *maps;
	struct elf_memory memory; /* it may contain the first pages of files */
	uint16_t machine;
	int64_t time;        /* when the image was made: a newer file without a build-id counts as another one */
	const char *sysroot; /* put before each path; NULL none */
};

/* Fills an empty list with an image's objects. If an object's file is not here, or not as it was, it has no open_path,
 * and a warning is printed. */
void objects_of_image(struct object_list *list, const struct objects_image *image);
/* Returns the object that contains an address, or NULL. */
struct object *objects_find(const struct object_list *list, uint64_t address);

/* Calls back for the function symbols of the object for which is_chosen() returns true: those of its file and, if that
 * has no .symtab, of its separate debug file, found by build-id or .gnu_debuglink as for names. The choice is kept with
 * the file: is_chosen() must return the same for a symbol in all objects and in each call. */
void object_chosen_functions(const struct object *object,
			     bool (*is_chosen)(void *context, const struct elf_symbol *symbol),
			     void (*callback)(void *context, const struct elf_symbol *symbol), void *context);

/* Returns the object's range of code that contains a mapped address, or NULL. */
const struct text_range *object_text_at(const struct object *object, uint64_t address);

/* Calls back for each place in the object that the dynamic linker fills with a symbol's address (`name`), or with the
 * result of the IFUNC resolver at `resolver` (`name` is "" then; relocations of type `irelative`). All addresses are
 * mapped ones. Stops when the callback returns false. Does nothing for an object without a readable file. */
typedef bool (*object_slot_callback)(void *context, const char *name, uint64_t resolver, uint64_t slot);
void object_slots(const struct object *object, unsigned irelative, object_slot_callback callback, void *context);
/* The same for the slots of types `jump_slot` and `glob_dat`, which contain a symbol's address and nothing else. Reads
 * the file once. */
void object_call_slots(const struct object *object, unsigned jump_slot, unsigned glob_dat,
		       object_slot_callback callback, void *context);

#endif
