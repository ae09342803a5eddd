/* Reads a core file as a memory image. */
#ifndef FT_SCAN_CAPTURE_CORE_IMAGE_H
#define FT_SCAN_CAPTURE_CORE_IMAGE_H

#include "heap/image.h"
#include "scan/capture/snapshot.h"

struct core;

/* Opens a little-endian ELF core file of a known processor. Returns NULL after a message if the file cannot be read, or
 * is not such a core file. core_free() frees the result; core_free(NULL) does nothing. sysroot: a directory that is put
 * before the paths of the files that the process had mapped, or NULL; the caller owns the string, which must stay
 * valid. */
struct core *core_open(const char *path, const char *sysroot);
void core_free(struct core *core);
/* Returns the memory image, which is valid as long as the core. */
const struct heap_image *core_image(const struct core *core);
/* Returns the same kinds of figures as snapshot_figures() does for a copy of a process. pause_ns is 0, because there
 * was no pause. */
const struct snapshot_figures *core_figures(const struct core *core);
/* Returns the names of symbols in the objects that the process had mapped, if their files exist on this machine.
 * data_names_free() frees them. Warns if a file is not the one that was mapped. */
struct data_names *core_names(struct core *core);
/* core_pid() returns the process's id, core_program() the name of its program, "" if it is unknown. */
pid_t core_pid(const struct core *core);
const char *core_program(const struct core *core);

#endif
