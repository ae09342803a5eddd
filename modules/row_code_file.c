/* Finds descriptors that a process receives in messages (unix(7), cmsg(3)), and the descriptors of openpty(). */
#include "config.h"
#include "modules/row_code.h"

#include <string.h>
#include <sys/socket.h>

#define MESSAGES_MAX 1024 /* maximum number of messages in a call, as in the kernel (UIO_MAXIOV) */
#define MESSAGE_MAX  4096 /* maximum number of bytes of control messages; the kernel allows 253 descriptors at once */

static uint64_t row_code_file_word_at(const unsigned char *bytes, unsigned size)
{
	uint64_t word = 0;
	uint32_t half;

	if (size == sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		return word;
	}
	memcpy(&half, bytes, sizeof(half));
	return half;
}

/* Reads the control messages of a msghdr, as they are when the call has returned. Returns their size in bytes, or 0. */
static size_t read_control(const struct module_call *call, uint64_t message, unsigned char control[MESSAGE_MAX])
{
	const unsigned word = call->pointer_size;
	unsigned char header[6 * sizeof(uint64_t)];

	/* The members are: name, length of the name, vectors, number of vectors, control, length of control. With
	 * padding each takes a word. */
	if (!call->read(call, message, header, 6u * word))
		return 0;
	const uint64_t address = row_code_file_word_at(header + 4 * word, word),
		       size = row_code_file_word_at(header + 5 * word, word);

	return size <= MESSAGE_MAX && call->read(call, address, control, size) ? size : 0;
}

/* Returns the descriptor with index *skip in the control messages. If there is no descriptor with this index, returns
 * -1 and reduces *skip by the number of descriptors that were found. */
static int find_descriptor(const struct module_call *call, const unsigned char *control, size_t size, size_t *skip)
{
	const unsigned word = call->pointer_size;
	const size_t header = word + 2 * sizeof(int32_t);
	int32_t kind[2], fd;

	for (size_t at = 0; at + header <= size;) {
		const uint64_t length = row_code_file_word_at(control + at, word);

		if (length < header || length > size - at)
			return -1;
		memcpy(kind, control + at + word, sizeof(kind));
		const size_t count =
			kind[0] == SOL_SOCKET && kind[1] == SCM_RIGHTS ? (length - header) / sizeof(fd) : 0;

		if (*skip < count) {
			memcpy(&fd, control + at + header + *skip * sizeof(fd), sizeof(fd));
			return fd;
		}
		*skip -= count;
		at += (length + word - 1) / word * word;
	}
	return -1;
}

/* Sets the id to the descriptor with index details->index in `count` messages. Returns false if there is none. */
static bool look_at_messages(const struct module_call *call, struct module_details *details, uint64_t count)
{
	unsigned char control[MESSAGE_MAX];
	/* A struct mmsghdr is a msghdr of seven words, and a length. */
	const unsigned step = 8u * call->pointer_size;
	size_t skip = details->index;
	int fd = -1;

	for (uint64_t i = 0; fd < 0 && i < count && i < MESSAGES_MAX; i++)
		fd = find_descriptor(call, control, read_control(call, call->args[1] + i * step, control), &skip);
	details->id = (uint64_t)fd;
	return fd >= 0;
}

bool row_code_message(const struct module_call *call, struct module_details *details)
{
	return look_at_messages(call, details, 1);
}

/* Finds descriptor details->index in the messages of recvmmsg(), whose result is the number of messages. */
bool row_code_messages(const struct module_call *call, struct module_details *details)
{
	return look_at_messages(call, details, call->result);
}

/* Sets the id to the descriptor of one end, after openpty(). Arguments 0 and 1 point to the descriptors of the ends. */
bool row_code_terminal(const struct module_call *call, struct module_details *details)
{
	int32_t fd;

	if (details->index > 1 || !call->read(call, call->args[details->index], &fd, sizeof(fd)))
		return false;
	details->id = (uint64_t)fd;
	return fd >= 0;
}
