/* Strings, streams, numbers, languages. */
#include "config.h"
#include "modules/prototypes_rows.h"

#define S                                                                                                              \
	{                                                                                                              \
		P_STRING("s")                                                                                          \
	}
#define S_N(size)                                                                                                      \
	{                                                                                                              \
		"s", PARAM_STRING_N, .with = (size)                                                                    \
	}
#define C                                                                                                              \
	{                                                                                                              \
		"c", PARAM_CHAR                                                                                        \
	}
#define N                                                                                                              \
	{                                                                                                              \
		P_SIZE("n")                                                                                            \
	}
#define TWO                                                                                                            \
	{P_STRING("s1")},                                                                                              \
	{                                                                                                              \
		P_STRING("s2")                                                                                         \
	}
#define TWO_N {"s1", PARAM_STRING_N, .with = 2}, {"s2", PARAM_STRING_N, .with = 2}, N
#define IN                                                                                                             \
	{P_STRING("haystack")},                                                                                        \
	{                                                                                                              \
		P_STRING("needle")                                                                                     \
	}
#define NUMBER                                                                                                         \
	{P_STRING("nptr")},                                                                                            \
	{                                                                                                              \
		P_POINTER("endptr")                                                                                    \
	}
#define BASE                                                                                                           \
	{                                                                                                              \
		P_INT("base")                                                                                          \
	}
#define STREAM                                                                                                         \
	{                                                                                                              \
		P_POINTER("stream")                                                                                    \
	}
#define FLAG                                                                                                           \
	{                                                                                                              \
		P_INT("flag")                                                                                          \
	}
#define FORMAT                                                                                                         \
	{                                                                                                              \
		P_STRING("format")                                                                                     \
	}
#define STR_OUT                                                                                                        \
	{                                                                                                              \
		"str", PARAM_STRING, .is_result = true                                                                 \
	}
#define STR_SIZE_OUT                                                                                                   \
	STR_OUT,                                                                                                       \
	{                                                                                                              \
		P_SIZE("size")                                                                                         \
	}
#define ITEMS                                                                                                          \
	{P_SIZE("size")},                                                                                              \
	{                                                                                                              \
		P_SIZE("nmemb")                                                                                        \
	}
#define WHENCE                                                                                                         \
	{                                                                                                              \
		P_WORD("whence", words_whence)                                                                         \
	}

static const struct param_word words_locale[] = {
	{WORD_OF("LC_CTYPE", 0, 0, 0, 0)},    {WORD_OF("LC_NUMERIC", 1, 0, 0, 0)},
	{WORD_OF("LC_TIME", 2, 0, 0, 0)},     {WORD_OF("LC_COLLATE", 3, 0, 0, 0)},
	{WORD_OF("LC_MONETARY", 4, 0, 0, 0)}, {WORD_OF("LC_MESSAGES", 5, 0, 0, 0)},
	{WORD_OF("LC_ALL", 6, 0, 0, 0)},      {.name = NULL}};
static const struct param_word words_buffering[] = {{WORD_OF("_IOFBF", 0, 0, 0, 0)},
						    {WORD_OF("_IOLBF", 1, 0, 0, 0)},
						    {WORD_OF("_IONBF", 2, 0, 0, 0)},
						    {.name = NULL}};

const struct function prototypes_text[] = {
	WORD("strlen", S),
	WORD("strnlen", S_N(1), {P_SIZE("maxlen")}),
	INT("strcmp", TWO),
	INT("strcoll", TWO),
	INT("strcasecmp", TWO),
	INT("strverscmp", TWO),
	INT("strncmp", TWO_N),
	INT("strncasecmp", TWO_N),
	TEXT("strchr", S, C),
	TEXT("strrchr", S, C),
	TEXT("strchrnul", S, C),
	TEXT("index", S, C),
	TEXT("rindex", S, C),
	TEXT("strstr", IN),
	TEXT("strcasestr", IN),
	TEXT("strpbrk", S, {P_STRING("accept")}),
	WORD("strspn", S, {P_STRING("accept")}),
	WORD("strcspn", S, {P_STRING("reject")}),
	TEXT("strtok", {P_STRING("str")}, {P_STRING("delim")}),
	TEXT("strtok_r", {P_STRING("str")}, {P_STRING("delim")}, {P_POINTER("saveptr")}),
	TEXT("__strtok_r", {P_STRING("str")}, {P_STRING("delim")}, {P_POINTER("saveptr")}),
	TEXT("strsep", {P_POINTER("stringp")}, {P_STRING("delim")}),
	WORD("strxfrm", {P_POINTER("dest")}, {P_STRING("src")}, N),
	WORD("strlcpy", {P_POINTER("dst")}, {P_STRING("src")}, {P_SIZE("dstsize")}),
	WORD("strlcat", {P_STRING("dst")}, {P_STRING("src")}, {P_SIZE("dstsize")}),
	TEXT("strerror", {"errnum", PARAM_ERROR}),
	TEXT("strsignal", {"sig", PARAM_INT, .words = words_signal}),
	TEXT("basename", {P_STRING("path")}),
	TEXT("__xpg_basename", {P_STRING("path")}),
	TEXT("dirname", {P_STRING("path")}),
	INT("memcmp", {P_BYTES("s1", 2)}, {P_BYTES("s2", 2)}, N),
	INT("bcmp", {P_BYTES("s1", 2)}, {P_BYTES("s2", 2)}, N),
	FINDS("memchr", {P_BYTES("s", 2)}, C, N),
	FINDS("memrchr", {P_BYTES("s", 2)}, C, N),
	FINDS("rawmemchr", {P_POINTER("s")}, C),
	FINDS("memmem", {P_BYTES("haystack", 1)}, {P_SIZE("haystacklen")}, {P_BYTES("needle", 3)},
	      {P_SIZE("needlelen")}),
	INT("wcscmp", {P_WIDE("s1")}, {P_WIDE("s2")}),
	FINDS("wcschr", {P_WIDE("wcs")}, {"wc", PARAM_WCHAR}),
	INT("atoi", {P_STRING("nptr")}),
	LONG("atol", {P_STRING("nptr")}),
	{SAYS("atoll", PARAM_INT64, TYPE_WORD, OK_ALWAYS, {P_STRING("nptr")})},
	{SAYS("atof", PARAM_DOUBLE, TYPE_WORD, OK_ALWAYS, {P_STRING("nptr")})},
	LONG("strtol", NUMBER, BASE),
	LONG("__isoc23_strtol", NUMBER, BASE),
	WORD("strtoul", NUMBER, BASE),
	WORD("__isoc23_strtoul", NUMBER, BASE),
	{SAYS("strtoll", PARAM_INT64, TYPE_WORD, OK_ALWAYS, NUMBER, BASE)},
	{SAYS("__isoc23_strtoll", PARAM_INT64, TYPE_WORD, OK_ALWAYS, NUMBER, BASE)},
	{SAYS("strtoull", PARAM_UINT64, TYPE_WORD, OK_ALWAYS, NUMBER, BASE)},
	{SAYS("__isoc23_strtoull", PARAM_UINT64, TYPE_WORD, OK_ALWAYS, NUMBER, BASE)},
	{SAYS("strtod", PARAM_DOUBLE, TYPE_WORD, OK_ALWAYS, NUMBER)},
	{SAYS("strtof", PARAM_FLOAT, TYPE_WORD, OK_ALWAYS, NUMBER)},
	FAILS("printf", FORMAT),
	FAILS("vprintf", FORMAT),
	FAILS("__printf_chk", FLAG, FORMAT),
	FAILS("__vprintf_chk", FLAG, FORMAT),
	FAILS("fprintf", STREAM, FORMAT),
	FAILS("vfprintf", STREAM, FORMAT),
	FAILS("__fprintf_chk", STREAM, FLAG, FORMAT),
	FAILS("__vfprintf_chk", STREAM, FLAG, FORMAT),
	FAILS("dprintf", {P_INT("fd")}, FORMAT),
	FAILS("vdprintf", {P_INT("fd")}, FORMAT),
	FAILS("__dprintf_chk", {P_INT("fd")}, FLAG, FORMAT),
	FAILS("sprintf", STR_OUT, FORMAT),
	FAILS("vsprintf", STR_OUT, FORMAT),
	FAILS("__sprintf_chk", STR_OUT, FLAG, {P_SIZE("slen")}, FORMAT),
	FAILS("__vsprintf_chk", STR_OUT, FLAG, {P_SIZE("slen")}, FORMAT),
	FAILS("snprintf", STR_SIZE_OUT, FORMAT),
	FAILS("vsnprintf", STR_SIZE_OUT, FORMAT),
	FAILS("__snprintf_chk", STR_SIZE_OUT, FLAG, {P_SIZE("slen")}, FORMAT),
	FAILS("__vsnprintf_chk", STR_SIZE_OUT, FLAG, {P_SIZE("slen")}, FORMAT),
	FAILS("asprintf", {P_POINTER_OUT("strp")}, FORMAT),
	FAILS("vasprintf", {P_POINTER_OUT("strp")}, FORMAT),
	FAILS("__asprintf_chk", {P_POINTER_OUT("strp")}, FLAG, FORMAT),
	FAILS("__vasprintf_chk", {P_POINTER_OUT("strp")}, FLAG, FORMAT),
	INT("scanf", FORMAT),
	INT("__isoc99_scanf", FORMAT),
	INT("fscanf", STREAM, FORMAT),
	INT("__isoc99_fscanf", STREAM, FORMAT),
	INT("sscanf", {P_STRING("str")}, FORMAT),
	INT("__isoc99_sscanf", {P_STRING("str")}, FORMAT),
	INT("__isoc23_sscanf", {P_STRING("str")}, FORMAT),
	FAILS("puts", S),
	FAILS("fputs", S, STREAM),
	FAILS("fputs_unlocked", S, STREAM),
	FAILS("putchar", C),
	FAILS("putc", C, STREAM),
	FAILS("putc_unlocked", C, STREAM),
	FAILS("_IO_putc", C, STREAM),
	FAILS("fputc", C, STREAM),
	FAILS("fputc_unlocked", C, STREAM),
	INT("ungetc", C, STREAM),
	INT("__overflow", STREAM, {"ch", PARAM_CHAR}),
	INT("getc", STREAM),
	INT("getc_unlocked", STREAM),
	INT("_IO_getc", STREAM),
	INT("fgetc", STREAM),
	INT("getchar"),
	{SAYS("fgets", PARAM_POINTER, TYPE_WORD, OK_NONZERO, {"s", PARAM_STRING, .is_result = true}, {P_INT("size")},
	      STREAM)},
	{SAYS("fgets_unlocked", PARAM_POINTER, TYPE_WORD, OK_NONZERO, {"s", PARAM_STRING, .is_result = true},
	      {P_INT("size")}, STREAM)},
	{SAYS("__fgets_chk", PARAM_POINTER, TYPE_WORD, OK_NONZERO, {"s", PARAM_STRING, .is_result = true},
	      {P_SIZE("slen")}, {P_INT("size")}, STREAM)},
	LONG("getline", {P_POINTER_OUT("lineptr")}, {P_POINTER("n")}, STREAM),
	LONG("getdelim", {P_POINTER_OUT("lineptr")}, {P_POINTER("n")}, {"delim", PARAM_CHAR}, STREAM),
	LONG("__getdelim", {P_POINTER_OUT("lineptr")}, {P_POINTER("n")}, {"delim", PARAM_CHAR}, STREAM),
	WORD("fread", {"ptr", PARAM_BYTES, .with = 2, .times = 2, .is_result = true}, ITEMS, STREAM),
	WORD("fread_unlocked", {"ptr", PARAM_BYTES, .with = 2, .times = 2, .is_result = true}, ITEMS, STREAM),
	WORD("fwrite", {"ptr", PARAM_BYTES, .with = 2, .times = 2}, ITEMS, STREAM),
	WORD("fwrite_unlocked", {"ptr", PARAM_BYTES, .with = 2, .times = 2}, ITEMS, STREAM),
	FAILS("fflush", STREAM),
	FAILS("fflush_unlocked", STREAM),
	FAILS("fseek", STREAM, {P_LONG("offset")}, WHENCE),
	FAILS("fseeko", STREAM, {P_LONG("offset")}, WHENCE),
	FAILS("fseeko64", STREAM, {"offset", PARAM_INT64}, WHENCE),
	COUNTS("ftell", STREAM),
	COUNTS("ftello", STREAM),
	{SAYS("ftello64", PARAM_INT64, TYPE_WORD, OK_NOT_MINUS_1, STREAM), .sets_errno = true},
	NOTHING("rewind", STREAM),
	INT("feof", STREAM),
	INT("ferror", STREAM),
	NOTHING("clearerr", STREAM),
	FAILS("fileno", STREAM),
	FAILS("setvbuf", STREAM, {P_POINTER("buf")}, {P_WORD("mode", words_buffering)}, {P_SIZE("size")}),
	NOTHING("setbuf", STREAM, {P_POINTER("buf")}),
	NOTHING("perror", S),
	TEXT("setlocale", {P_WORD("category", words_locale)}, {P_STRING("locale")}),
	TEXT("nl_langinfo", {"item", PARAM_HEX}),
	TEXT("bindtextdomain", {P_STRING("domainname")}, {P_STRING("dirname")}),
	TEXT("textdomain", {P_STRING("domainname")}),
	TEXT("gettext", {P_STRING("msgid")}),
	TEXT("dgettext", {P_STRING("domainname")}, {P_STRING("msgid")}),
	TEXT("dcgettext", {P_STRING("domainname")}, {P_STRING("msgid")}, {P_WORD("category", words_locale)}),
	WORD("strftime", {"s", PARAM_STRING, .is_result = true}, {P_SIZE("max")}, {P_STRING("format")},
	     {P_POINTER("tm")}),
	FINDS("localtime", {P_POINTER("timep")}),
	FINDS("localtime_r", {P_POINTER("timep")}, {P_POINTER("result")}),
	FINDS("gmtime", {P_POINTER("timep")}),
	FINDS("gmtime_r", {P_POINTER("timep")}, {P_POINTER("result")}),
	LONG("mktime", {P_POINTER("tm")}),
	TEXT("ctime", {P_POINTER("timep")}),
	NOTHING("tzset"),
	INT("tolower", C),
	INT("toupper", C),
	NOTHING("__assert_fail", {P_STRING("assertion")}, {P_STRING("file")}, {P_UINT("line")}, {P_STRING("function")}),
	NOTHING("__stack_chk_fail"),
	INT("fnmatch", {P_STRING("pattern")}, {P_STRING("string")}, {"flags", PARAM_HEX}),
	INT("glob", {P_STRING("pattern")}, {"flags", PARAM_HEX}, {"errfunc", PARAM_FUNCTION}, {P_POINTER("pglob")}),
	INT("regcomp", {P_POINTER("preg")}, {P_STRING("regex")}, {"cflags", PARAM_HEX}),
	INT("regexec", {P_POINTER("preg")}, {P_STRING("string")}, {P_SIZE("nmatch")}, {P_POINTER("pmatch")},
	    {"eflags", PARAM_HEX}),
	{.symbol = NULL},
};
