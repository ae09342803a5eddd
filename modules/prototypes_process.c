/* Processes, signals, time, libraries, threads. */
#include "config.h"
#include "modules/prototypes_rows.h"

#define PATH                                                                                                           \
	{                                                                                                              \
		P_STRING("pathname")                                                                                   \
	}
#define PID                                                                                                            \
	{                                                                                                              \
		P_INT("pid")                                                                                           \
	}
#define STATUS                                                                                                         \
	{                                                                                                              \
		P_INT("status")                                                                                        \
	}
#define ARGV                                                                                                           \
	{                                                                                                              \
		"argv", PARAM_STRINGS                                                                                  \
	}
#define SPAWN                                                                                                          \
	{P_POINTER("file_actions")},                                                                                   \
	{                                                                                                              \
		P_POINTER("attrp")                                                                                     \
	}
#define P_SIGNAL(called) called, PARAM_INT, .words = words_signal
#define MASK                                                                                                           \
	{P_WORD("how", words_mask)}, {P_POINTER("set")},                                                               \
	{                                                                                                              \
		P_POINTER("oldset")                                                                                    \
	}
#define CLOCK                                                                                                          \
	{                                                                                                              \
		P_WORD("clockid", words_clock)                                                                         \
	}
#define LIBRARY                                                                                                        \
	{                                                                                                              \
		"handle", PARAM_POINTER, .words = words_library                                                        \
	}
#define THREAD                                                                                                         \
	{                                                                                                              \
		"thread", PARAM_HEX_LONG                                                                               \
	}
#define MUTEX                                                                                                          \
	{                                                                                                              \
		P_POINTER("mutex")                                                                                     \
	}
#define COND                                                                                                           \
	{                                                                                                              \
		P_POINTER("cond")                                                                                      \
	}

const struct function prototypes_process[] = {
	INT("fork"),
	INT("vfork"),
	FAILS("execve", PATH, ARGV, {P_POINTER("envp")}),
	FAILS("execv", PATH, ARGV),
	FAILS("execvp", {P_STRING("file")}, ARGV),
	FAILS("execvpe", {P_STRING("file")}, ARGV, {P_POINTER("envp")}),
	FAILS("execl", PATH, {P_STRING("arg")}),
	FAILS("execlp", {P_STRING("file")}, {P_STRING("arg")}),
	FAILS("execle", PATH, {P_STRING("arg")}),
	FAILS("fexecve", {P_INT("fd")}, ARGV, {P_POINTER("envp")}),
	ERRS("posix_spawn", {P_INTS_OUT("pid", 1)}, {P_STRING("path")}, SPAWN, ARGV, {P_POINTER("envp")}),
	ERRS("posix_spawnp", {P_INTS_OUT("pid", 1)}, {P_STRING("file")}, SPAWN, ARGV, {P_POINTER("envp")}),
	FAILS("system", {P_STRING("command")}),
	NOTHING("exit", STATUS),
	NOTHING("_exit", STATUS),
	NOTHING("_Exit", STATUS),
	NOTHING("quick_exit", STATUS),
	NOTHING("abort"),
	INT("atexit", {"function", PARAM_FUNCTION}),
	INT("__cxa_atexit", {"function", PARAM_FUNCTION}, {P_POINTER("arg")}, {P_POINTER("dso_handle")}),
	FAILS("wait", {P_INTS_OUT("wstatus", 1)}),
	FAILS("waitpid", PID, {P_INTS_OUT("wstatus", 1)}, {P_FLAGS("options", words_wait)}),
	FAILS("wait3", {P_INTS_OUT("wstatus", 1)}, {P_FLAGS("options", words_wait)}, {P_POINTER("rusage")}),
	FAILS("wait4", PID, {P_INTS_OUT("wstatus", 1)}, {P_FLAGS("options", words_wait)}, {P_POINTER("rusage")}),
	FAILS("kill", PID, {P_SIGNAL("sig")}),
	FAILS("killpg", {P_INT("pgrp")}, {P_SIGNAL("sig")}),
	FAILS("tgkill", {P_INT("tgid")}, {P_INT("tid")}, {P_SIGNAL("sig")}),
	INT("raise", {P_SIGNAL("sig")}),
	{SAYS("signal", PARAM_FUNCTION, TYPE_WORD, OK_NOT_MINUS_1, {P_SIGNAL("signum")},
	      {"handler", PARAM_FUNCTION, .words = words_handler}),
	 .returns.words = words_handler, .sets_errno = true},
	FAILS("sigaction", {P_SIGNAL("signum")}, {P_POINTER("act")}, {P_POINTER("oldact")}),
	FAILS("sigprocmask", MASK),
	ERRS("pthread_sigmask", MASK),
	FAILS("sigsuspend", {P_POINTER("mask")}),
	ERRS("sigwait", {P_POINTER("set")}, {P_INTS_OUT("sig", 1)}),
	FAILS("sigemptyset", {P_POINTER("set")}),
	FAILS("sigfillset", {P_POINTER("set")}),
	FAILS("sigaddset", {P_POINTER("set")}, {P_SIGNAL("signum")}),
	FAILS("sigdelset", {P_POINTER("set")}, {P_SIGNAL("signum")}),
	{SAYS("alarm", PARAM_UINT, TYPE_UINT, OK_ALWAYS, {P_UINT("seconds")})},
	{SAYS("sleep", PARAM_UINT, TYPE_UINT, OK_ALWAYS, {P_UINT("seconds")})},
	FAILS("usleep", {P_UINT("usec")}),
	FAILS("nanosleep", {P_POINTER("req")}, {P_POINTER("rem")}),
	ERRS("clock_nanosleep", CLOCK, {P_INT("flags")}, {P_POINTER("request")}, {P_POINTER("remain")}),
	FAILS("clock_gettime", CLOCK, {P_POINTER("tp")}),
	FAILS("clock_getres", CLOCK, {P_POINTER("res")}),
	FAILS("gettimeofday", {P_POINTER("tv")}, {P_POINTER("tz")}),
	LONG("time", {P_POINTER("tloc")}),
	INT("pause"),
	INT("getpid"),
	INT("getppid"),
	INT("gettid"),
	INT("getpgrp"),
	FAILS("setsid"),
	FAILS("setpgid", PID, {P_INT("pgid")}),
	{SAYS("getuid", PARAM_UINT, TYPE_UINT, OK_ALWAYS)},
	{SAYS("geteuid", PARAM_UINT, TYPE_UINT, OK_ALWAYS)},
	{SAYS("getgid", PARAM_UINT, TYPE_UINT, OK_ALWAYS)},
	{SAYS("getegid", PARAM_UINT, TYPE_UINT, OK_ALWAYS)},
	FAILS("setuid", {P_UINT("uid")}),
	FAILS("seteuid", {P_UINT("euid")}),
	FAILS("setgid", {P_UINT("gid")}),
	FAILS("setegid", {P_UINT("egid")}),
	FAILS("setgroups", {P_SIZE("size")}, {P_POINTER("list")}),
	FAILS("initgroups", {P_STRING("user")}, {P_UINT("group")}),
	FINDS("getpwnam", {P_STRING("name")}),
	FINDS("getpwuid", {P_UINT("uid")}),
	FINDS("getgrnam", {P_STRING("name")}),
	FINDS("getgrgid", {P_UINT("gid")}),
	FAILS("getrlimit", {P_INT("resource")}, {P_POINTER("rlim")}),
	FAILS("setrlimit", {P_INT("resource")}, {P_POINTER("rlim")}),
	FAILS("getrusage", {P_INT("who")}, {P_POINTER("usage")}),
	FAILS("nice", {P_INT("inc")}),
	FAILS("uname", {P_POINTER("buf")}),
	FAILS("prctl", {P_INT("option")}, {"arg2", PARAM_HEX_LONG}, {"arg3", PARAM_HEX_LONG}, {"arg4", PARAM_HEX_LONG},
	      {"arg5", PARAM_HEX_LONG}),
	COUNTS("syscall", {P_LONG("number")}, {"arg1", PARAM_HEX_LONG}, {"arg2", PARAM_HEX_LONG},
	       {"arg3", PARAM_HEX_LONG}),
	LONG("sysconf", {P_INT("name")}),
	COUNTS("getrandom", {P_BYTES_OUT("buf", 1)}, {P_SIZE("buflen")}, {"flags", PARAM_HEX}),
	INT("sched_yield"),
	NOTHING("openlog", {P_STRING("ident")}, {P_INT("option")}, {P_INT("facility")}),
	NOTHING("syslog", {P_INT("priority")}, {P_STRING("format")}),
	NOTHING("__syslog_chk", {P_INT("priority")}, {P_INT("flag")}, {P_STRING("format")}),
	NOTHING("closelog"),
	FINDS("dlopen", {P_STRING("filename")}, {P_FLAGS("flags", words_dlopen)}),
	FINDS("dlsym", LIBRARY, {P_STRING("symbol")}),
	FINDS("dlvsym", LIBRARY, {P_STRING("symbol")}, {P_STRING("version")}),
	INT("dlclose", LIBRARY),
	TEXT("dlerror"),
	INT("dladdr", {"addr", PARAM_FUNCTION}, {P_POINTER("info")}),
	TEXT("getenv", {P_STRING("name")}),
	TEXT("secure_getenv", {P_STRING("name")}),
	FAILS("setenv", {P_STRING("name")}, {P_STRING("value")}, {P_INT("overwrite")}),
	FAILS("unsetenv", {P_STRING("name")}),
	FAILS("putenv", {P_STRING("string")}),
	INT("clearenv"),
	INT("getopt", {P_INT("argc")}, ARGV, {P_STRING("optstring")}),
	INT("getopt_long", {P_INT("argc")}, ARGV, {P_STRING("optstring")}, {P_POINTER("longopts")},
	    {P_POINTER("longindex")}),
	NOTHING("qsort", {P_POINTER("base")}, {P_SIZE("nmemb")}, {P_SIZE("size")}, {"compar", PARAM_FUNCTION}),
	FINDS("bsearch", {P_POINTER("key")}, {P_POINTER("base")}, {P_SIZE("nmemb")}, {P_SIZE("size")},
	      {"compar", PARAM_FUNCTION}),
	INT("rand"),
	NOTHING("srand", {P_UINT("seed")}),
	LONG("random"),
	NOTHING("srandom", {P_UINT("seed")}),
	{SAYS("pthread_self", PARAM_HEX_LONG, TYPE_WORD, OK_ALWAYS)},
	NOTHING("pthread_exit", {P_POINTER("retval")}),
	ERRS("pthread_cancel", THREAD),
	ERRS("pthread_kill", THREAD, {P_SIGNAL("sig")}),
	ERRS("pthread_setname_np", THREAD, {P_STRING("name")}),
	ERRS("pthread_once", {P_POINTER("once_control")}, {"init_routine", PARAM_FUNCTION}),
	ERRS("pthread_mutex_init", MUTEX, {P_POINTER("attr")}),
	ERRS("pthread_mutex_destroy", MUTEX),
	ERRS("pthread_mutex_lock", MUTEX),
	ERRS("pthread_mutex_trylock", MUTEX),
	ERRS("pthread_mutex_unlock", MUTEX),
	ERRS("pthread_cond_wait", COND, MUTEX),
	ERRS("pthread_cond_timedwait", COND, MUTEX, {P_POINTER("abstime")}),
	ERRS("pthread_cond_signal", COND),
	ERRS("pthread_cond_broadcast", COND),
	ERRS("pthread_rwlock_rdlock", {P_POINTER("rwlock")}),
	ERRS("pthread_rwlock_wrlock", {P_POINTER("rwlock")}),
	ERRS("pthread_rwlock_unlock", {P_POINTER("rwlock")}),
	ERRS("pthread_key_create", {P_INTS_OUT("key", 1)}, {"destructor", PARAM_FUNCTION}),
	FINDS("pthread_getspecific", {P_UINT("key")}),
	ERRS("pthread_setspecific", {P_UINT("key")}, {P_POINTER("value")}),
	FAILS("sem_init", {P_POINTER("sem")}, {P_INT("pshared")}, {P_UINT("value")}),
	FAILS("sem_wait", {P_POINTER("sem")}),
	FAILS("sem_trywait", {P_POINTER("sem")}),
	FAILS("sem_post", {P_POINTER("sem")}),
	{.symbol = NULL},
};
