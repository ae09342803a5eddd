/* The files of an image, which is what is left of a process. */
#ifndef FT_SYMBOLS_OBJECTS_IMAGE_FILE_H
#define FT_SYMBOLS_OBJECTS_IMAGE_FILE_H

#include "symbols/objects/mapped_object.h"

/* Compared by its address: no file of that path is here. */
extern const char image_file_missing[];

/* Whose file a mapping of an image shows: from the memory what its header says, and, if there is a file of which this
 * holds, that file, and *open_path, which the caller frees. With a reference, or NULL. Without such a file *reason, in
 * both cases. */
struct elf_file *image_file_find(const struct objects_image *image, size_t index, char **open_path,
				 const char **reason);

#endif
