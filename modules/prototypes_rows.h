/* How the tables of prototypes are written. */
#ifndef FT_MODULES_PROTOTYPES_ROWS_H
#define FT_MODULES_PROTOTYPES_ROWS_H

#include "modules/prototypes.h"
#include "modules/words.h"

/* How they fail, and what they return. */
#define SAYS(name, type, wide, when, ...)                                                                              \
	.symbol = (name), .role = ROLE_CALL, .result = (wide), .success = (when), .returns = {"return", type},         \
	.params = {__VA_ARGS__}
/* int, ssize_t, a pointer: -1 or NULL, and errno says why. */
#define FAILS(name, ...)                                                                                               \
	{                                                                                                              \
		SAYS(name, PARAM_INT, TYPE_INT, OK_NOT_MINUS_1, __VA_ARGS__), .sets_errno = true                       \
	}
#define COUNTS(name, ...)                                                                                              \
	{                                                                                                              \
		SAYS(name, PARAM_LONG, TYPE_WORD, OK_NOT_MINUS_1, __VA_ARGS__), .sets_errno = true                     \
	}
#define POINTS(name, ...)                                                                                              \
	{                                                                                                              \
		SAYS(name, PARAM_POINTER, TYPE_WORD, OK_NONZERO, __VA_ARGS__), .sets_errno = true                      \
	}
/* An error's number. */
#define ERRS(name, ...)                                                                                                \
	{                                                                                                              \
		SAYS(name, PARAM_ERROR, TYPE_INT, OK_ZERO, __VA_ARGS__)                                                \
	}
/* A number; a string or NULL; another pointer or NULL; nothing. */
#define INT(name, ...)                                                                                                 \
	{                                                                                                              \
		SAYS(name, PARAM_INT, TYPE_INT, OK_ALWAYS, __VA_ARGS__)                                                \
	}
#define WORD(name, ...)                                                                                                \
	{                                                                                                              \
		SAYS(name, PARAM_SIZE, TYPE_WORD, OK_ALWAYS, __VA_ARGS__)                                              \
	}
#define LONG(name, ...)                                                                                                \
	{                                                                                                              \
		SAYS(name, PARAM_LONG, TYPE_WORD, OK_ALWAYS, __VA_ARGS__)                                              \
	}
#define TEXT(name, ...)                                                                                                \
	{                                                                                                              \
		SAYS(name, PARAM_STRING, TYPE_WORD, OK_NONZERO, __VA_ARGS__)                                           \
	}
#define FINDS(name, ...)                                                                                               \
	{                                                                                                              \
		SAYS(name, PARAM_POINTER, TYPE_WORD, OK_NONZERO, __VA_ARGS__)                                          \
	}
#define NOTHING(name, ...)                                                                                             \
	{                                                                                                              \
		.symbol = (name), .role = ROLE_CALL, .success = OK_ALWAYS, .params = { __VA_ARGS__ }                   \
	}

#endif
