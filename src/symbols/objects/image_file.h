/* Finds the files of the objects in an image (a core file). */
#ifndef FT_SYMBOLS_OBJECTS_IMAGE_FILE_H
#define FT_SYMBOLS_OBJECTS_IMAGE_FILE_H

#include "symbols/objects/mapped_object.h"

/* The reason if no file with this path is here; compare its address. */
extern const char image_file_missing[];

/* Finds the file of a mapping of an image. Returns the same file if it is here, and *open_path, which the caller frees.
 * Else sets *reason, and returns what the memory has of the file, or NULL. The result has a reference. */
struct elf_file *image_file_find(const struct objects_image *image, size_t index, char **open_path,
				 const char **reason);

#endif
