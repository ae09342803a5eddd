/* Converts the bits of parameters to numbers, and numbers to names: those of constants, flags and errors. */
#include "config.h"
#include "args/module_params.h"

#include <errno.h>
#include <inttypes.h>

uint64_t row_number(const struct arch *arch, unsigned type, uint64_t raw)
{
	switch (type) {
	case PARAM_INT:
	case PARAM_WORD:
	case PARAM_ERROR:
	case PARAM_WCHAR:
		return (uint64_t)(int64_t)(int32_t)raw;
	case PARAM_UINT:
	case PARAM_HEX:
	case PARAM_OCTAL:
	case PARAM_FLAGS:
	case PARAM_FLAGS_MODE:
	case PARAM_FLOAT:
		return (uint32_t)raw;
	case PARAM_INT8:
		return (uint64_t)(int64_t)(int8_t)raw;
	case PARAM_BOOL:
	case PARAM_UINT8:
	case PARAM_CHAR:
		return (uint8_t)raw;
	case PARAM_INT16:
		return (uint64_t)(int64_t)(int16_t)raw;
	case PARAM_UINT16:
		return (uint16_t)raw;
	case PARAM_LONG:
		return arch->pointer_size < 8 ? (uint64_t)(int64_t)(int32_t)raw : raw;
	case PARAM_INT64:
	case PARAM_UINT64:
	case PARAM_DOUBLE:
		return raw;
	default:
		return arch->pointer_size < 8 ? (uint32_t)raw : raw;
	}
}

/* Returns true if this constant has this value on the target's processor. */
static bool is_here(const struct formatter *s, const struct param_word *word)
{
	return !word->on || word->on & s->source->arch->constants;
}

bool show_word(struct formatter *s, const struct param *param, uint64_t number)
{
	for (const struct param_word *word = param->words; word && word->name; word++) {
		const uint64_t value = row_number(s->source->arch, param->type, word->value);

		if (!is_here(s, word) || (word->mask ? (number & word->mask) != word->value : number != value))
			continue;
		out_add(&s->out, word->name);
		return true;
	}
	return false;
}

void show_row_flags(struct formatter *s, const struct param *param, uint64_t number)
{
	const char *separator = "";
	uint64_t left = number, taken = 0;

	for (const struct param_word *word = param->words; word && word->name; word++) {
		const uint64_t mask = word->mask ? word->mask : word->value;

		/* After the name of a field of several bits was added, these bits are 0 in `left`. So the name for the
		 * field's value 0 must not be added then. */
		const bool is_other =
			mask ? (left & mask) != word->value || (!word->value && (mask & taken)) : number != 0;

		if (is_other || !is_here(s, word))
			continue;
		out_printf(&s->out, "%s%s", separator, word->name);
		separator = "|";
		taken |= mask;
		left &= ~mask;
	}
	if (!left && *separator)
		return;
	out_add(&s->out, separator);
	if (!left)
		out_add(&s->out, "0");
	else
		out_printf(&s->out, param->type == PARAM_FLAGS_MODE ? "%#" PRIo64 : "%#" PRIx64, left);
}

/* The error numbers are the same on all processors that functrace supports. */
/* clang-format off */
#define ERROR(name) {name, #name}
static const struct {
	int number;
	const char *name;
} errors[] = {
	ERROR(EPERM), ERROR(ENOENT), ERROR(ESRCH), ERROR(EINTR), ERROR(EIO), ERROR(ENXIO), ERROR(E2BIG),
	ERROR(ENOEXEC), ERROR(EBADF), ERROR(ECHILD), ERROR(EAGAIN), ERROR(ENOMEM), ERROR(EACCES), ERROR(EFAULT),
	ERROR(ENOTBLK), ERROR(EBUSY), ERROR(EEXIST), ERROR(EXDEV), ERROR(ENODEV), ERROR(ENOTDIR), ERROR(EISDIR),
	ERROR(EINVAL), ERROR(ENFILE), ERROR(EMFILE), ERROR(ENOTTY), ERROR(ETXTBSY), ERROR(EFBIG), ERROR(ENOSPC),
	ERROR(ESPIPE), ERROR(EROFS), ERROR(EMLINK), ERROR(EPIPE), ERROR(EDOM), ERROR(ERANGE), ERROR(EDEADLK),
	ERROR(ENAMETOOLONG), ERROR(ENOLCK), ERROR(ENOSYS), ERROR(ENOTEMPTY), ERROR(ELOOP), ERROR(ENOMSG),
	ERROR(EIDRM), ERROR(ECHRNG), ERROR(EL2NSYNC), ERROR(EL3HLT), ERROR(EL3RST), ERROR(ELNRNG), ERROR(EUNATCH),
	ERROR(ENOCSI), ERROR(EL2HLT), ERROR(EBADE), ERROR(EBADR), ERROR(EXFULL), ERROR(ENOANO), ERROR(EBADRQC),
	ERROR(EBADSLT), ERROR(EBFONT), ERROR(ENOSTR), ERROR(ENODATA), ERROR(ETIME), ERROR(ENOSR), ERROR(ENONET),
	ERROR(ENOPKG), ERROR(EREMOTE), ERROR(ENOLINK), ERROR(EADV), ERROR(ESRMNT), ERROR(ECOMM), ERROR(EPROTO),
	ERROR(EMULTIHOP), ERROR(EDOTDOT), ERROR(EBADMSG), ERROR(EOVERFLOW), ERROR(ENOTUNIQ), ERROR(EBADFD),
	ERROR(EREMCHG), ERROR(ELIBACC), ERROR(ELIBBAD), ERROR(ELIBSCN), ERROR(ELIBMAX), ERROR(ELIBEXEC),
	ERROR(EILSEQ), ERROR(ERESTART), ERROR(ESTRPIPE), ERROR(EUSERS), ERROR(ENOTSOCK), ERROR(EDESTADDRREQ),
	ERROR(EMSGSIZE), ERROR(EPROTOTYPE), ERROR(ENOPROTOOPT), ERROR(EPROTONOSUPPORT), ERROR(ESOCKTNOSUPPORT),
	ERROR(EOPNOTSUPP), ERROR(EPFNOSUPPORT), ERROR(EAFNOSUPPORT), ERROR(EADDRINUSE), ERROR(EADDRNOTAVAIL),
	ERROR(ENETDOWN), ERROR(ENETUNREACH), ERROR(ENETRESET), ERROR(ECONNABORTED), ERROR(ECONNRESET), ERROR(ENOBUFS),
	ERROR(EISCONN), ERROR(ENOTCONN), ERROR(ESHUTDOWN), ERROR(ETOOMANYREFS), ERROR(ETIMEDOUT), ERROR(ECONNREFUSED),
	ERROR(EHOSTDOWN), ERROR(EHOSTUNREACH), ERROR(EALREADY), ERROR(EINPROGRESS), ERROR(ESTALE), ERROR(EUCLEAN),
	ERROR(ENOTNAM), ERROR(ENAVAIL), ERROR(EISNAM), ERROR(EREMOTEIO), ERROR(EDQUOT), ERROR(ENOMEDIUM),
	ERROR(EMEDIUMTYPE), ERROR(ECANCELED), ERROR(ENOKEY), ERROR(EKEYEXPIRED), ERROR(EKEYREVOKED),
	ERROR(EKEYREJECTED), ERROR(EOWNERDEAD), ERROR(ENOTRECOVERABLE), ERROR(ERFKILL), ERROR(EHWPOISON),
};
/* clang-format on */

void show_error(struct formatter *s, int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].number == error) {
			out_add(&s->out, errors[i].name);
			return;
		}
	out_printf(&s->out, "%d", error);
}
