/* Reads names from one file with libdwfl. Each file has one Dwfl with bias 0, so a file that is mapped at several
 * addresses, at once or one after another, is read once. */
#include "config.h"
#include "symbols/names/name_file.h"
#include "symbols/elf/refused_files.h"
#include "arch/arch.h"
#include "base/buf.h"
#include "base/msg.h"
#include "symbols/names/debug_search.h"
#include "symbols/names/dwo_file.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_MAX 1000000 /* maximum number of addresses whose lines are kept; beyond it, all are dropped */

static const char reason_large[] = "its debug information is larger than 4 GiB, the most that is read of one file";

/* ---- Separate debug files ---- */

static void add_folders(struct buf *path, const char *folders)
{
	while (*folders) {
		const size_t length = strcspn(folders, ":");
		char *folder = xstrndup(folders, length);
		/* debug_search_file() searches only absolute folders. */
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

/* Copies a debug file that was found, and closes it. alt: set to the debug file's link to dwz's file; NULL: this is
 * dwz's file itself. path: path of the debug file; NULL: unknown. Returns the descriptor of the copy, or -1. */
static int copy_found(struct name_file *file, int fd, const struct stat *st, const char *path,
		      struct copied_altlink *alt)
{
	struct private_copy copy;
	const char *reason;
	const bool done = private_copy_make(fd, st, COPY_SYMBOLS | COPY_DEBUG, &copy, &reason);

	close(fd);
	if (!done) {
		file->lacking = reason;
		if (path)
			refused_say("debug file", path, reason);
		return -1;
	}
	if (copy.lacks_debug)
		file->lacking = reason_large;
	else if (alt) /* the debug file replaces the information that the program's own file lacks */
		file->lacking = NULL;
	if (alt) {
		free(alt->path);
		*alt = copy.alt;
	} else {
		free(copy.alt.path);
	}
	return copy.fd;
}

/* Asks debuginfod servers through libdwfl. libdwfl must not find other files itself, because it opens any file that it
 * finds, and could block for ever on a FIFO. So it gets no folders (no_folders) and no name to search. */
static int ask_servers(struct name_file *file, Dwfl_Module *module, struct stat *st, char **found)
{
	void *data = file;
	int fd = dwfl_standard_find_debuginfo(module, &data, NULL, 0, NULL, NULL, 0, found);

	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Callback of libdwfl: finds and opens the separate debug file. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	struct name_file *const file = *userdata;
	struct debug_search search = {
		.folders = file->folders,
		.paths = {file->open_path, !strcmp(file->open_path, file->target_path) ? NULL : file->target_path},
		.device = file->key.device,
		.inode = file->key.inode,
		.link = link,
		.crc = crc,
	};
	const unsigned char *bits;
	GElf_Addr note;
	struct stat st;
	const int size = dwfl_module_build_id(module, &bits, &note);

	(void)name, (void)base, (void)file_name;
	if (size > 0) {
		search.build_id = bits;
		search.build_id_size = (size_t)size;
	}
	int fd = debug_search_file(&search, &st, found);

	if (fd < 0 && file->asks_servers)
		fd = ask_servers(file, module, &st, found);
	if (fd < 0)
		return -1;
	free(file->debug_path);
	file->debug_path = xstrdup_or_null(*found);
	return copy_found(file, fd, &st, *found, &file->alts[1]);
}

/* ---- dwz's file ---- */

/* Opens dwz's file. A relative link is resolved from the folder of the referring file. If that file is open by another
 * path (/proc/PID/map_files), the folder of target_path is the right one, so this folder is tried, too. */
static Dwarf *open_alt(struct name_file *file, const struct copied_altlink *alt, const char *beside)
{
	const struct debug_search search = {
		.folders = file->folders,
		.paths = {beside, beside == file->open_path ? file->target_path : NULL},
		.device = file->key.device,
		.inode = file->key.inode,
		.link = alt->path,
		.build_id = alt->build_id,
		.build_id_size = alt->build_id_size,
	};
	char *path = NULL;
	struct stat st;
	int fd = debug_search_alt(&search, &st, &path);

	if (fd >= 0)
		fd = copy_found(file, fd, &st, path, NULL);
	free(path);
	file->alt_fd = fd;
	return fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
}

struct dwarf_index *name_file_dwarf(struct name_file *file)
{
	GElf_Addr elf_bias;
	Dwarf_Addr bias;
	Dwarf *const dwarf = dwfl_module_getdwarf(file->module, &bias);

	if (!dwarf)
		return NULL;
	const bool is_own = dwarf_getelf(dwarf) == dwfl_module_getelf(file->module, &elf_bias);
	const struct copied_altlink *const alt = &file->alts[!is_own];
	const char *const path = is_own || !file->debug_path ? file->open_path : file->debug_path;

	if (alt->path && !file->alt)
		file->alt = open_alt(file, alt, path);
	if (file->alt)
		dwarf_setalt(dwarf, file->alt);
	return dwarf_index_new(dwarf, bias, path);
}

/* ---- The file ---- */

static void add_code(struct name_file *file, const GElf_Phdr *phdr)
{
	if (phdr->p_memsz > UINT64_MAX - phdr->p_vaddr)
		return;
	ARRAY_GROW(file->code, file->code_capacity, file->code_count);
	file->code[file->code_count++] =
		(struct code_segment){phdr->p_vaddr, phdr->p_vaddr + phdr->p_memsz, phdr->p_offset};
}

static bool name_file_read_header(struct name_file *file)
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
		/* In a file with debug information only, the segments have no bytes, and their offsets differ from
		 * those of the program. Then the first segment's offset is taken as 0. */
		if (!found)
			file->origin = phdr.p_vaddr - (phdr.p_filesz ? phdr.p_offset : 0);
		found = true;
		if (phdr.p_flags & PF_X)
			add_code(file, &phdr);
	}
	const int size = dwfl_module_build_id(file->module, &bits, &note);

	elf_build_id_to_hex(bits, size, file->build_id);
	return found;
}

static char no_text[] = "", *no_folders = no_text;

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf, /* never called, because the file is passed to dwfl_report_elf() */
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_folders,
};

/* Passes the file to libdwfl, which takes ownership of the descriptor. */
static bool name_file_report(struct name_file *file, int fd)
{
	void **data;

	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, file->open_path, file->open_path, fd, 0, true);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (!file->module) {
		close(fd);
		return false;
	}
	dwfl_module_info(file->module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
	*data = file;
	return name_file_read_header(file);
}

struct name_file *name_file_new(int fd, const struct stat *st, const char *open_path, const char *target_path,
				bool asks_servers, const char *folders, const char **reason)
{
	struct private_copy copy;

	if (!private_copy_make(fd, st, COPY_SYMBOLS | COPY_DEBUG, &copy, reason))
		return NULL;
	struct name_file *file = xcalloc(1, sizeof(*file));

	dwo_files_begin();
	elf_key_of(st, &file->key);
	file->changed_sec = st->st_ctim.tv_sec;
	file->changed_nsec = st->st_ctim.tv_nsec;
	file->asks_servers = asks_servers;
	file->folders = folders;
	file->open_path = xstrdup(open_path);
	file->target_path = string_keep(&file->strings, target_path);
	file->alts[0] = copy.alt;
	file->alt_fd = -1;
	file->lacking = copy.lacks_debug ? reason_large : elf_is_cut(fd, st) ? refused_cut : NULL;
	if (name_file_report(file, copy.fd))
		return file;
	name_file_free(file);
	*reason = elf_reason_no_elf;
	return NULL;
}

static void forget_lines(struct name_file *file)
{
	hash_free_all(&file->lines);
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
	if (file->alt)
		dwarf_end(file->alt);
	if (file->alt_fd >= 0)
		close(file->alt_fd);
	free(file->alts[0].path);
	free(file->alts[1].path);
	free(file->debug_path);
	free(file->open_path);
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

/* Returns the name of a frame that is not inlined. In a language that mangles names, DWARF may only contain the name in
 * the source ("push_back"); then the symbol's name is used, because it says more. */
static const char *outermost_name(struct name_file *file, const struct dwarf_frame *frame,
				  const struct named_symbol *symbol)
{
	if (frame->function && (frame->is_linkage || !symbol))
		return keep_demangled(file, frame->function);
	return symbol ? keep_demangled(file, symbol->name) : NULL;
}

/* ---- Signal handlers' frames ---- */

/* Reads code from the file, unless the file has changed. address: as in the file. */
static size_t name_file_read_code(const struct name_file *file, uint64_t address, unsigned char *code, size_t size)
{
	struct elf_key key;
	struct stat st;
	size_t n = 0;
	ssize_t got = 0;

	while (n < file->code_count && (address < file->code[n].start || address >= file->code[n].end))
		n++;
	const int fd = n < file->code_count ? open_regular(file->open_path, &st) : -1;

	if (fd < 0)
		return 0;
	elf_key_of(&st, &key);
	if (elf_key_equal(&key, &file->key) && st.st_ctim.tv_sec == file->changed_sec &&
	    st.st_ctim.tv_nsec == file->changed_nsec)
		got = pread(fd, code, size, (off_t)(file->code[n].offset + (address - file->code[n].start)));
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

/* Returns true if signal handlers return to the address (a restorer). Then the code before the address is not a call,
 * but the end of another function. */
static bool is_restorer(const struct name_file *file, uint64_t address)
{
	unsigned char code[ARCH_CALL_BYTES];
	const size_t size = name_file_read_code(file, address, code, sizeof(code));

	return arch_is_restorer(file->machine, code, size);
}

/* Finds the symbol of a frame. address: the frame's return address minus 1. In a signal frame, the pc is not a return
 * address. A frame may be a signal frame if there is no symbol, or if the symbol has no size or ends at the return
 * address. *is_signal: set to true for a signal frame; then the result is the symbol that begins at the pc, or the name
 * that gdb shows for such frames. */
static const struct named_symbol *name_file_find_symbol(const struct name_file *file, uint64_t address, bool *is_signal)
{
	static const struct named_symbol signal_frame = {.name = "<signal handler called>"};
	const struct named_symbol *symbol = symbol_table_find(&file->symbols, address);
	const bool is_certain = symbol && !symbol->is_open && address + 1 - symbol->start < symbol->size;

	*is_signal = !is_certain && is_restorer(file, address + 1 - file->module_bias);
	if (!*is_signal)
		return symbol;
	symbol = symbol_table_find(&file->symbols, address + 1);
	return symbol && symbol->start == address + 1 ? symbol : &signal_frame;
}

static struct name_lines *make_lines(struct name_file *file, uint64_t address)
{
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	bool is_signal;
	const struct named_symbol *symbol = name_file_find_symbol(file, address, &is_signal);
	size_t count = file->dwarf && !is_signal ? dwarf_index_find(file->dwarf, address, frames) : 0;

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
		file->dwarf = name_file_dwarf(file);
		msg_debug(DBG_SYMBOLS, 1, "%s: %zu symbols, %s", file->target_path, file->symbols.count,
			  file->dwarf ? "with debug information" : "no debug information");
	}
	if (file->lines.count >= LINES_MAX)
		forget_lines(file);
	lines = make_lines(file, address + file->module_bias);
	hash_set_ptr(&file->lines, address, lines);
	return lines;
}
