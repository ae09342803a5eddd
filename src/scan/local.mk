# scan/: copies the heap of a live process, or reads a core file, and reports the blocks
noinst_LIBRARIES += libscan.a
libscan_a_SOURCES = src/scan/capture/leave_allocator.c src/scan/capture/leave_allocator.h \
	src/scan/code_changes.c src/scan/code_changes.h src/scan/code_repair.c \
	src/scan/capture/core_image.c src/scan/capture/core_image.h src/scan/capture/core_mappings.c \
	src/scan/capture/core_parts.h \
	src/scan/capture/core_objects.c \
	src/scan/capture/core_omitted.c \
	src/scan/capture/heap_capture.c src/scan/capture/heap_capture.h src/scan/block_groups.c \
	src/scan/block_groups.h src/scan/retention.c \
	src/scan/retention.h src/scan/capture/pages.c src/scan/capture/pages.h src/scan/root_names.c \
	src/scan/root_names.h src/scan/scan_report.h \
	src/scan/scan_report_json.c src/scan/scan_report_text.c src/scan/scan.c src/scan/scan.h \
	src/scan/capture/mapping_choice.c src/scan/capture/mapping_choice.h \
	src/scan/capture/object_segments.c src/scan/capture/object_segments.h \
	src/scan/capture/process_mappings.c src/scan/capture/process_mappings.h \
	src/scan/capture/shared_pages.c src/scan/capture/shared_pages.h src/scan/capture/snapshot.c \
	src/scan/capture/snapshot.h src/scan/capture/thread_registers.c src/scan/capture/thread_registers.h \
	src/scan/block_types.c src/scan/block_types.h \
	src/scan/capture/copy_workers.c src/scan/capture/copy_workers.h
