# symbols/: mappings, ELF files and their functions, names of addresses.
# What links libsymbols.a needs $(SYMBOLS_LIBS), libproc.a, libarch.a and libbase.a behind it.
noinst_LIBRARIES += libsymbols.a
libsymbols_a_SOURCES = src/symbols/maps.c src/symbols/maps.h src/symbols/object.c \
	src/symbols/object.h src/symbols/layout.c src/symbols/layout.h src/symbols/source.c \
	src/symbols/source.h src/symbols/elf_file.c src/symbols/elf_file.h \
	src/symbols/elf_headers.c src/symbols/elf_headers.h src/symbols/elf_open.c \
	src/symbols/refused.c src/symbols/refused.h src/symbols/split_open.c src/symbols/split_open.h \
	src/symbols/private_copy.c src/symbols/private_copy.h src/symbols/copy_in_time.c \
	src/symbols/debug_search.c src/symbols/debug_search.h \
	src/symbols/elf_symbols.c src/symbols/elf_cache.c src/symbols/elf_memory.c \
	src/symbols/image_file.c src/symbols/image_file.h src/symbols/elf.h \
	src/symbols/data_names.c src/symbols/data_names.h src/symbols/debugdata.c \
	src/symbols/debug_functions.c src/symbols/debug_file.c \
	src/symbols/debug_file.h src/symbols/location_list.c src/symbols/location_list.h \
	src/symbols/signature.c src/symbols/params.c src/symbols/params.h src/symbols/type_reader.h \
	src/symbols/types.c src/symbols/types.h src/symbols/type_reader.c \
	src/symbols/type_scalar.c src/symbols/type_member.c \
	src/symbols/type_passing.c src/symbols/type_string.c src/symbols/type_rust.c src/symbols/type_rust.h \
	src/symbols/param_place.c src/symbols/param_proof.c src/symbols/param_place.h \
	src/symbols/slots.c src/symbols/errno_place.c src/symbols/errno_place.h \
	src/symbols/demangle.c src/symbols/names.c \
	src/symbols/names.h src/symbols/names_blank.c src/symbols/names_blank.h \
	src/symbols/name_file.c src/symbols/name_file.h src/symbols/naming.c src/symbols/naming.h \
	src/symbols/name_symbols.c src/symbols/name_dwarf.c src/symbols/name_strings.c \
	src/symbols/name_place.c
libsymbols_a_CPPFLAGS = $(AM_CPPFLAGS)
SYMBOLS_LIBS = $(DW_LIBS) $(ELF_LIBS) $(IBERTY_LIBS)
