# symbols/: mappings, ELF files and their functions, names of addresses.
# Programs that link libsymbols.a need $(SYMBOLS_LIBS), libproc.a, libarch.a and libbase.a after it.
noinst_LIBRARIES += libsymbols.a
libsymbols_a_SOURCES = src/symbols/objects/maps.c src/symbols/objects/maps.h src/symbols/objects/mapped_object.c \
	src/symbols/objects/mapped_object.h src/symbols/objects/load_layout.c src/symbols/objects/load_layout.h \
	src/symbols/objects/mapped_file.c \
	src/symbols/objects/mapped_file.h src/symbols/elf/elf_file.c src/symbols/elf/elf_file.h \
	src/symbols/elf/elf_tables.h \
	src/symbols/elf/elf_headers.c src/symbols/elf/elf_headers.h src/symbols/elf/elf_open.c \
	src/symbols/elf/refused_files.c src/symbols/elf/refused_files.h src/symbols/names/dwo_file.c \
	src/symbols/names/dwo_file.h \
	src/symbols/elf/private_copy.c src/symbols/elf/private_copy.h src/symbols/elf/private_copy_timed.c \
	src/symbols/names/debug_search.c src/symbols/names/debug_search.h \
	src/symbols/elf/elf_names.c src/symbols/elf/elf_symbols.c src/symbols/elf/elf_cache.c \
	src/symbols/elf/elf_memory.c \
	src/symbols/objects/image_file.c src/symbols/objects/image_file.h src/symbols/elf/elf.h \
	src/symbols/names/data_names.c src/symbols/names/data_names.h src/symbols/elf/debugdata.c \
	src/symbols/names/debug_functions.c src/symbols/names/debug_file.c \
	src/symbols/names/debug_file.h src/symbols/types/location_list.c src/symbols/types/location_list.h \
	src/symbols/types/signature.c src/symbols/types/params.c src/symbols/types/params.h \
	src/symbols/types/type_reader.h \
	src/symbols/types/types.c src/symbols/types/types.h src/symbols/types/type_reader.c \
	src/symbols/types/type_scalar.c src/symbols/types/type_member.c \
	src/symbols/types/type_passing.c src/symbols/types/type_string.c src/symbols/types/type_rust.c \
	src/symbols/types/type_rust.h \
	src/symbols/types/param_place.c src/symbols/types/unused_params.c src/symbols/types/param_place.h \
	src/symbols/objects/got_slots.c src/symbols/types/errno_place.c src/symbols/types/errno_place.h \
	src/symbols/names/demangle.c src/symbols/names/names.c \
	src/symbols/names/names.h src/symbols/names/unnamed_frames.c src/symbols/names/unnamed_frames.h \
	src/symbols/names/name_file.c src/symbols/names/name_file.h src/symbols/names/naming_worker.c \
	src/symbols/names/naming_worker.h \
	src/symbols/names/name_symbols.c src/symbols/names/name_dwarf.c src/symbols/names/name_strings.c \
	src/symbols/names/object_range.c
libsymbols_a_CPPFLAGS = $(AM_CPPFLAGS)
SYMBOLS_LIBS = $(DW_LIBS) $(ELF_LIBS) $(IBERTY_LIBS)
