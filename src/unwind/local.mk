# unwind/: finds the return addresses from registers and the bytes of the stack. Programs that use it link
# libunwinder.a libsymbols.a libproc.a libarch.a libbase.a $(UNWIND_LIBS) $(DW_LIBS) $(ELF_LIBS).
noinst_LIBRARIES += libunwinder.a
libunwinder_a_SOURCES = src/unwind/cfi.c src/unwind/cfi.h src/unwind/cfi_check.c src/unwind/cfi_check.h \
	src/unwind/cfi_debug.c \
	src/unwind/cfi_starts.c src/unwind/code_rows.c src/unwind/code_rule.c src/unwind/code_rule.h \
	src/unwind/exidx.c src/unwind/exidx.h \
	src/unwind/expression.c src/unwind/expression.h src/unwind/fallback.c src/unwind/frame.c \
	src/unwind/frame_pointer.c src/unwind/return_address.h \
	src/unwind/libdw_walk.c src/unwind/unwind_memory.c src/unwind/unwind_memory.h src/unwind/unwind_object.c \
	src/unwind/unwind_object.h \
	src/unwind/cfi_rows.c src/unwind/cfi_rows.h src/unwind/steps.c src/unwind/steps.h \
	src/unwind/unwind.c src/unwind/unwind.h src/unwind/unwinder.h src/unwind/cfi_row_walk.c
