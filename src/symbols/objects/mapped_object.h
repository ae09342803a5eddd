/* Objects: the ELF files that an address space maps, and the functions they define.
 *
 * What depends only on the file (segments, symbols, build-id) is in a struct elf_file, read once
 * and shared by every address space and exec that maps the same file (device, inode, size, mtime). */
#ifndef FT_SYMBOLS_OBJECTS_MAPPED_OBJECT_H
#define FT_SYMBOLS_OBJECTS_MAPPED_OBJECT_H

#include "symbols/elf/elf.h"
#include "symbols/objects/maps.h"

/* A segment of code as it is mapped, and its tail: the bytes of the mapping's last page behind the segment, which no
 * code uses. */
struct text_range {
	uint64_t start, end;           /* mapped addresses of the text segment's code */
	uint64_t tail_start, tail_end; /* empty if equal */
	bool shared;                   /* MAP_SHARED: cannot be probed */
};

struct object {
	char *path;          /* as the target sees it; "[vdso]", "/memfd:x (deleted)" */
	uint64_t start, end; /* first and last mapped address */
	/* The end of what traces carry, and stacks are looked up in: of its code, and of its data if no other object
	 * lies in between. AArch64's kernel maps [vdso] into the hole between the dynamic linker's segments. */
	uint64_t span_end;
	uint64_t base;         /* the address of file offset 0: what traces carry as MMAP's from */
	uint64_t bias;         /* what to add to addresses in the file */
	char *open_path;       /* a path by which the tracer can open that very file now: /proc/PID/map_files/A-B,
			      or /proc/PID/root/..., or the path; NULL: only its memory is there */
	struct elf_file *file; /* never NULL in a list: what is no ELF file is no object */
	struct text_range *text;
	size_t text_count;
	unsigned generation; /* for the diff */
	bool probed;         /* the tracer's own mark; false when new */
	bool lasting;        /* another one of the tracer's: it is never unloaded */
};

struct object_list {
	struct object **items; /* by ascending start */
	size_t count, capacity;
	/* Mapped executable files that could not be read as ELF, with the reason: for the end report. */
	char **unread;
	size_t unread_count, unread_capacity;
};

/* Brings the list up to date with /proc/PID/maps. The callbacks (each may be NULL) get each object that has gone
 * (before it is freed; its memory is no longer there) and each new one. 0 or -errno; on error the list stays as it
 * was. */
int objects_update(struct object_list *list, pid_t pid, void (*removed)(void *context, struct object *object),
		   void (*added)(void *context, struct object *object), void *context);
void objects_free(struct object_list *list);
/* A copy of an object, with a reference of its file: another thread may have it. object_free() frees it; NULL is
 * allowed. */
struct object *object_clone(const struct object *from);
void object_free(struct object *object);
/* A fork's list: the same objects. */
void objects_clone(const struct object_list *from, struct object_list *to);

/* What is left of a process that is not here: the image in a core file. */
struct objects_image {
	/* Of files alone; inode: tells one file from another. exec: also where this is not known. */
	const struct maps *maps;
	struct elf_memory memory; /* that may have the first pages of files */
	uint16_t machine;
	int64_t time;        /* when it was made: a file without a build-id that is newer is another one */
	const char *sysroot; /* put before each path; NULL none */
};

/* Makes the list, empty at first, of an image's objects. Where their files are not here, or not as they were, which is
 * printed as a warning, they have no open_path. */
void objects_of_image(struct object_list *list, const struct objects_image *image);
/* The object that holds an address, or NULL. */
struct object *objects_find(const struct object_list *list, uint64_t address);

/* Calls back for those function symbols of the object that is_chosen() holds of: its file's, and, where that has no
 * .symtab, its separate debug file's, found by build-id or .gnu_debuglink as for names. Each file is asked for once:
 * what is_chosen() says of a symbol must be the same for all objects, and in every call. */
void object_chosen_functions(const struct object *object,
			     bool (*is_chosen)(void *context, const struct elf_symbol *symbol),
			     void (*callback)(void *context, const struct elf_symbol *symbol), void *context);

/* The object's code in which a mapped address is, or NULL. */
const struct text_range *object_text_at(const struct object *object, uint64_t address);

/* Every place in the object that the dynamic linker fills with a symbol's address (`name`), or with what the IFUNC
 * resolver at `resolver` returned (`name` is "" then; relocations of type `irelative`). All addresses are mapped
 * ones. Stops when the callback returns false. Nothing for an object without a readable file. */
typedef bool (*object_slot_callback)(void *context, const char *name, uint64_t resolver, uint64_t slot);
void object_slots(const struct object *object, unsigned irelative, object_slot_callback callback, void *context);
/* Finds those slots of types `jump_slot` and `glob_dat`, which hold a symbol's address and nothing else. The file is
 * read once. */
void object_call_slots(const struct object *object, unsigned jump_slot, unsigned glob_dat,
		       object_slot_callback callback, void *context);

#endif
