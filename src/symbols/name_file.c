/* One file that names come from, through libdwfl: one Dwfl a file at bias 0, so that the same file
 * at several addresses, one after another or at once, is read once. */
#include "config.h"
#include "symbols/name_file.h"
#include "base/buf.h"
#include "base/msg.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_MAX 1000000 /* addresses remembered; then it begins anew */

/* ---- Separate debug files ---- */

static void add_folders(struct buf *path, const char *folders)
{
	while (*folders) {
		const size_t length = strcspn(folders, ":");
		char *folder = xstrndup(folders, length);
		/* A relative one would mean: beside each file. */
		char *absolute = realpath(folder, NULL);

		if (absolute)
			buf_printf(path, ":%s", absolute);
		free(absolute);
		free(folder);
		folders += length + (folders[length] == ':');
	}
}

char *name_file_debug_path(const struct names_options *options)
{
	struct buf path = {0};

	/* Beside the file, in .debug beside it, in the usual folder; checked by CRC or build-id. */
	buf_add_str(&path, "+:.debug");
	if (options->debug_path)
		add_folders(&path, options->debug_path);
	if (options->sysroot) {
		char *folder = xasprintf("%s/usr/lib/debug", options->sysroot);

		add_folders(&path, folder);
		free(folder);
	}
	buf_add_str(&path, ":/usr/lib/debug");
	char *text = xstrdup(buf_str(&path));

	buf_free(&path);
	return text;
}

/* libdwfl asks the servers that this variable names whenever it is set, and it is set by default in some systems.
 * Nothing else keeps it from that. */
static char *servers_hide(const struct names_options *options)
{
	const char *servers = options->debuginfod ? NULL : getenv("DEBUGINFOD_URLS");
	char *saved = servers ? xstrdup(servers) : NULL;

	if (saved)
		unsetenv("DEBUGINFOD_URLS");
	return saved;
}

static void servers_show(char *saved)
{
	if (saved)
		setenv("DEBUGINFOD_URLS", saved, 1);
	free(saved);
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *debuglink, GElf_Word crc, char **found)
{
	const struct name_file *file = *userdata;
	char *saved = servers_hide(file->options);
	int fd = dwfl_standard_find_debuginfo(module, userdata, name, base, file_name, debuglink, crc, found);

	/* Opened under another name than that by which its debug file was filed. */
	if (fd < 0 && file->target_path && (!file_name || strcmp(file_name, file->target_path)))
		fd = dwfl_standard_find_debuginfo(module, userdata, name, base, file->target_path, debuglink, crc,
						  found);
	servers_show(saved);
	return fd;
}

/* ---- The file ---- */

static void add_code(struct name_file *file, const GElf_Phdr *phdr)
{
	if (phdr->p_memsz > UINT64_MAX - phdr->p_vaddr)
		return;
	ARRAY_GROW(file->code, file->code_capacity, file->code_count);
	file->code[file->code_count++] = (struct code_segment){phdr->p_vaddr, phdr->p_vaddr + phdr->p_memsz};
}

static bool read_header(struct name_file *file)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
	const unsigned char *bits;
	GElf_Addr note;
	GElf_Ehdr ehdr;
	size_t phdrs;
	bool found = false;

	if (!elf || !gelf_getehdr(elf, &ehdr) || elf_getphdrnum(elf, &phdrs))
		return false;
	file->machine = ehdr.e_machine;
	file->module_bias = bias;
	for (size_t i = 0; i < phdrs; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		/* A file of debug information only has its segments' offsets moved. */
		if (!found)
			file->origin = phdr.p_vaddr - (phdr.p_filesz ? phdr.p_offset : 0);
		found = true;
		if (phdr.p_flags & PF_X)
			add_code(file, &phdr);
	}
	int size = dwfl_module_build_id(file->module, &bits, &note);

	size = size > BUILD_ID_BYTES ? BUILD_ID_BYTES : size;
	for (int i = 0; i < size; i++)
		sprintf(file->build_id + 2 * i, "%02x", bits[i]);
	return found;
}

void name_file_set_callbacks(Dwfl_Callbacks *callbacks, char **debug_path)
{
	*callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf, /* never asked: the file is given */
		.find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = debug_path,
	};
}

struct name_file *name_file_new(int fd, const struct stat *st, const char *open_path, const char *target_path,
				const struct names_options *options, const Dwfl_Callbacks *callbacks)
{
	struct name_file *file = xcalloc(1, sizeof(*file));
	void **userdata;

	elf_key_of(st, &file->key);
	file->changed_sec = st->st_ctim.tv_sec;
	file->changed_nsec = st->st_ctim.tv_nsec;
	file->options = options;
	file->target_path = string_keep(&file->strings, target_path);
	file->dwfl = dwfl_begin(callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, open_path, open_path, fd, 0, true);
		if (file->module)
			fd = -1;
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (fd >= 0)
		close(fd);
	if (!file->module || !read_header(file)) {
		name_file_free(file);
		return NULL;
	}
	dwfl_module_info(file->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = file;
	return file;
}

static void forget_lines(struct name_file *file)
{
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&file->lines, &i));)
		free((void *)(uintptr_t)entry->value);
	hash_free(&file->lines);
}

void name_file_free(struct name_file *file)
{
	if (!file)
		return;
	forget_lines(file);
	dwarf_index_free(file->dwarf);
	free(file->symbols.items);
	free(file->code);
	string_pool_free(&file->strings);
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file);
}

/* ---- Looking up ---- */

static const char *keep_demangled(struct name_file *file, const char *symbol)
{
	char *name = names_demangle(symbol);
	const char *kept = string_keep(&file->strings, name ? name : symbol);

	free(name);
	return kept;
}

static const char *keep_path(struct name_file *file, const struct dwarf_frame *frame)
{
	if (!frame->file)
		return NULL;
	char *path = frame->file[0] == '/' || !frame->folder ? xstrdup(frame->file)
							     : xasprintf("%s/%s", frame->folder, frame->file);
	const char *kept = string_keep(&file->strings, path_normalise(path));

	free(path);
	return kept;
}

/* The name of a frame that is no inlined one: where DWARF has only the source's name of a mangled
 * language ("push_back"), the symbol says more. */
static const char *outermost_name(struct name_file *file, const struct dwarf_frame *frame,
				  const struct named_symbol *symbol)
{
	if (frame->function && (frame->is_linkage || !symbol))
		return keep_demangled(file, frame->function);
	return symbol ? keep_demangled(file, symbol->name) : NULL;
}

static struct name_lines *make_lines(struct name_file *file, uint64_t address)
{
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	const struct named_symbol *symbol = symbol_table_find(&file->symbols, address);
	size_t count = file->dwarf ? dwarf_index_find(file->dwarf, address, frames) : 0;

	if (!count) {
		frames[0] = (struct dwarf_frame){0};
		count = symbol != NULL;
	}
	struct name_lines *lines = xcalloc(1, sizeof(*lines) + count * sizeof(lines->items[0]));

	lines->count = count;
	for (size_t i = 0; i < count; i++) {
		struct frame_name *item = &lines->items[i];

		item->inlined = i + 1 < count;
		if (!item->inlined)
			item->function = outermost_name(file, &frames[i], symbol);
		else if (frames[i].function)
			item->function = keep_demangled(file, frames[i].function);
		item->file = keep_path(file, &frames[i]);
		item->line = frames[i].line;
	}
	return lines;
}

const struct name_lines *name_file_lookup(struct name_file *file, uint64_t address)
{
	struct name_lines *lines = hash_get_ptr(&file->lines, address);

	if (lines)
		return lines;
	if (!file->is_indexed) {
		file->is_indexed = true;
		symbol_table_read(&file->symbols, file->module);
		file->dwarf = dwarf_index_new(file->module);
		msg_debug(DBG_SYMBOLS, 1, "%s: %zu symbols, %s", file->target_path, file->symbols.count,
			  file->dwarf ? "with debug information" : "no debug information");
	}
	if (file->lines.count >= LINES_MAX)
		forget_lines(file);
	lines = make_lines(file, address + file->module_bias);
	hash_set_ptr(&file->lines, address, lines);
	return lines;
}
