/* Sends requests by libcurl: see push_http.h. */
#include "config.h"
#include "fleet/push_http.h"

#include "base/terminal_escape.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>

struct push_http {
	struct push_http_options options;
	CURL *curl;
	struct push_answer *answer; /* of the request that is in progress */
};

/* Called by libcurl with a part of the answer. */
static size_t http_take(char *data, size_t size, size_t count, void *context)
{
	struct push_answer *const answer = ((struct push_http *)context)->answer;
	const size_t bytes = size * count, room = sizeof(answer->body) - answer->size;
	const size_t taken = bytes < room ? bytes : room;

	memcpy(answer->body + answer->size, data, taken);
	answer->size += taken;
	return bytes;
}

/* Called by libcurl with a line of the header. */
static size_t http_take_header(char *data, size_t size, size_t count, void *context)
{
	struct push_answer *const answer = ((struct push_http *)context)->answer;
	const size_t bytes = size * count, end = strlen(answer->trailer);

	if (bytes > 5 && !strncasecmp(data, "grpc-", 5))
		snprintf(answer->trailer + end, sizeof(answer->trailer) - end, "%.*s", (int)bytes, data);
	return bytes;
}

static int http_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct push_http *const http = context;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return http->options.is_over(http->options.context);
}

static void http_init_once(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void http_set(struct push_http *http)
{
	CURL *const curl = http->curl;

	/* Other threads must get no signal of a timer, and SIGPIPE is blocked in this thread. */
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)http->options.connect_ms);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)http->options.answer_ms);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "functrace/" PACKAGE_VERSION);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, http_take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, http);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, http_take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, http);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, http_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
}

struct push_http *push_http_new(const struct push_http_options *options)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct push_http *const http = xcalloc(1, sizeof(*http));

	pthread_once(&once, http_init_once);
	http->options = *options;
	http->curl = curl_easy_init();
	if (!http->curl) {
		push_http_free(http);
		return NULL;
	}
	http_set(http);
	return http;
}

void push_http_free(struct push_http *http)
{
	if (!http)
		return;
	curl_easy_cleanup(http->curl);
	free(http);
}

static void answer_set_text(struct push_answer *answer, const char *text)
{
	char line[sizeof(answer->body) + 1];

	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\r\n"), text);
	answer->text[plain_copy(answer->text, sizeof(answer->text) - 1, line, false)] = '\0';
}

static void http_take_status(struct push_http *http, struct push_answer *answer)
{
	char first[sizeof(answer->body) + 1];
	char *type = NULL;
	curl_off_t wait = 0;

	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_getinfo(http->curl, CURLINFO_RETRY_AFTER, &wait);
	curl_easy_getinfo(http->curl, CURLINFO_CONTENT_TYPE, &type);
	answer->wait_s = wait > 0 ? (unsigned)(wait < INT32_MAX ? wait : INT32_MAX) : 0;
	snprintf(answer->type, sizeof(answer->type), "%s", type ? type : "");
	snprintf(first, sizeof(first), "%.*s", (int)answer->size, (const char *)answer->body);
	answer_set_text(answer, first);
}

void push_http_post(struct push_http *http, const struct push_request *request, struct push_answer *answer)
{
	char *const type = xasprintf("Content-Type: %s", request->content_type);
	/* Without "Expect:", libcurl would wait a second for "100 Continue" before it sends a large body. */
	struct curl_slist *const headers = curl_slist_append(curl_slist_append(NULL, "Expect:"), type);
	char reason[CURL_ERROR_SIZE] = "";

	*answer = (struct push_answer){0};
	http->answer = answer;
	curl_easy_setopt(http->curl, CURLOPT_URL, request->url);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
	curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, request->body.data);
	curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, reason);
	const CURLcode error = curl_easy_perform(http->curl);

	if (error)
		answer_set_text(answer, reason[0] ? reason : curl_easy_strerror(error));
	else
		http_take_status(http, answer);
	/* These are the caller's, and end now. */
	curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, NULL);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, NULL);
	curl_slist_free_all(headers);
	free(type);
}
