/* Makes requests in the forms of receivers: see push_form.h.
 *
 * Pyroscope: POST /ingest?name=SERVICE{label=value,...}&from=SECONDS&until=SECONDS, with a form of the fields `profile`
 * and `sample_type_config`. The parameter format=pprof must not be there: with it, Pyroscope takes the whole form for
 * a profile.
 * Parca: POST /api/profiles/writeraw with a body of JSON, the HTTP form of its gRPC method WriteRaw. Many versions of
 * Parca do not serve this path, and answer with status 200 and the page of the user interface. Then the same method is
 * called by gRPC-Web, as Parca's own pages do it.
 * Others: POST of the profile, with the labels as parameters. */
#include "config.h"
#include "fleet/push_form.h"

#include "base/hash.h"
#include "base/terminal_escape.h"
#include "base/time_units.h"
#include "fleet/push_parca.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>

struct push_form {
	const char *prefix; /* before http:// or https:// */
	const char *path;   /* of the request, after the path in the URL */
	const char *root;   /* the path if the URL has none */
	bool is_unsigned;
	/* Adds the parameters to the URL, and sets the request's type and body. Returns false without memory. */
	bool (*fill)(const struct push_parcel *parcel, CURLU *url, struct push_request *request);
	enum push_outcome (*judge)(struct push_answer *answer);
};

/* Adds a parameter "name=value", in which all special characters become %XX. */
static bool add_parameter(CURLU *url, const char *name, const char *value)
{
	char *const text = xasprintf("%s=%s", name, value);
	const CURLUcode error = curl_url_set(url, CURLUPART_QUERY, text, CURLU_APPENDQUERY | CURLU_URLENCODE);

	free(text);
	return !error;
}

static bool add_parameter_number(CURLU *url, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return add_parameter(url, name, text);
}

static bool fill_plain(const struct push_parcel *parcel, CURLU *url, struct push_request *request)
{
	request->content_type = xstrdup("application/octet-stream");
	buf_add(&request->body, parcel->profile, parcel->size);
	return add_parameter(url, "service", parcel->service) && add_parameter(url, "host", parcel->host) &&
	       (!*parcel->build_id || add_parameter(url, "build_id", parcel->build_id)) &&
	       add_parameter_number(url, "pid", parcel->pid);
}

/* Appends a name for Pyroscope. It takes letters, digits and the characters of `others`, and has no escapes: each other
 * character becomes '_'. */
static void add_pyroscope_name(struct buf *out, const char *name, const char *others)
{
	for (; *name; name++) {
		const bool is_allowed = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
					(*name >= '0' && *name <= '9') || strchr(others, *name);

		if (is_allowed)
			buf_add_char(out, *name);
		else if ((*name & 0xc0) != 0x80) /* not a further byte of a character */
			buf_add_char(out, '_');
	}
}

static void add_form_field(struct buf *out, const char *boundary, const char *name, const char *file, const char *type)
{
	buf_printf(out,
		   "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
		   "Content-Type: %s\r\n\r\n",
		   boundary, name, file, type);
}

/* Amounts at a time are averaged over time, amounts of a time are added. */
static const char pyroscope_types[] =
	"{\"inuse_space\":{\"units\":\"bytes\",\"aggregation\":\"average\",\"display-name\":\"inuse_space\","
	"\"sampled\":false},"
	"\"inuse_objects\":{\"units\":\"objects\",\"aggregation\":\"average\",\"display-name\":\"inuse_objects\","
	"\"sampled\":false},"
	"\"alloc_space\":{\"units\":\"bytes\",\"aggregation\":\"sum\",\"display-name\":\"alloc_space\","
	"\"sampled\":false},"
	"\"alloc_objects\":{\"units\":\"objects\",\"aggregation\":\"sum\",\"display-name\":\"alloc_objects\","
	"\"sampled\":false},"
	"\"growth\":{\"units\":\"bytes\",\"aggregation\":\"average\",\"display-name\":\"growth\",\"sampled\":false},"
	"\"lost_space\":{\"units\":\"bytes\",\"aggregation\":\"average\",\"display-name\":\"lost_space\","
	"\"sampled\":false}}";

static bool fill_pyroscope(const struct push_parcel *parcel, CURLU *url, struct push_request *request)
{
	const uint64_t from = parcel->begin_ns / NS_PER_SECOND, until = parcel->end_ns / NS_PER_SECOND;
	char boundary[64];
	struct buf name = {0};

	add_pyroscope_name(&name, parcel->service, "_.-/");
	buf_add_str(&name, "{host=");
	add_pyroscope_name(&name, parcel->host, "_.-/:");
	if (*parcel->build_id) {
		buf_add_str(&name, ",build_id=");
		add_pyroscope_name(&name, parcel->build_id, "_.-");
	}
	buf_add_char(&name, '}');
	const bool is_done = add_parameter(url, "name", buf_str(&name)) && add_parameter_number(url, "from", from) &&
			     add_parameter_number(url, "until", until > from ? until : from + 1) &&
			     add_parameter(url, "spyName", "functrace");

	buf_free(&name);
	/* 128 random bits: a compressed profile does not contain them. */
	snprintf(boundary, sizeof(boundary), "functrace-%016" PRIx64 "%016" PRIx64, random_seed(), random_seed());
	request->content_type = xasprintf("multipart/form-data; boundary=%s", boundary);
	add_form_field(&request->body, boundary, "profile", "profile.pprof", "application/octet-stream");
	buf_add(&request->body, parcel->profile, parcel->size);
	buf_add_str(&request->body, "\r\n");
	add_form_field(&request->body, boundary, "sample_type_config", "sample_type_config.json", "application/json");
	buf_printf(&request->body, "%s\r\n--%s--\r\n", pyroscope_types, boundary);
	return is_done;
}

static bool fill_parca(const struct push_parcel *parcel, CURLU *url, struct push_request *request)
{
	(void)url;
	request->content_type = xstrdup("application/json");
	parca_add_json(&request->body, parcel);
	return true;
}

static bool fill_parca_web(const struct push_parcel *parcel, CURLU *url, struct push_request *request)
{
	(void)url;
	request->content_type = xstrdup("application/grpc-web+proto");
	parca_add_web(&request->body, parcel);
	return true;
}

static enum push_outcome judge_status(const struct push_answer *answer)
{
	if (!answer->status || answer->status == 408 || answer->status == 429 || answer->status >= 500)
		return PUSH_LATER;
	return answer->status / 100 == 2 ? PUSH_SENT : PUSH_REFUSED;
}

static enum push_outcome judge_any(struct push_answer *answer)
{
	return judge_status(answer);
}

static bool answer_has_type(const struct push_answer *answer, const char *type)
{
	return !strncmp(answer->type, type, strlen(type));
}

static enum push_outcome judge_parca(struct push_answer *answer)
{
	if (answer->status == 404 || answer->status == 405)
		return PUSH_FOREIGN;
	const enum push_outcome outcome = judge_status(answer);

	return outcome == PUSH_SENT && !answer_has_type(answer, "application/json") ? PUSH_FOREIGN : outcome;
}

/* Makes one line of several: "grpc-status: 3, grpc-message: no". */
static void join_lines(struct push_answer *answer)
{
	struct buf line = {0};

	for (char *rest = answer->trailer, *part; (part = strsep(&rest, "\r\n"));)
		if (*part) {
			if (line.size)
				buf_add_str(&line, ", ");
			buf_add_str(&line, part);
		}
	answer->text[plain_copy(answer->text, sizeof(answer->text) - 1, buf_str(&line), false)] = '\0';
	buf_free(&line);
}

static enum push_outcome judge_parca_web(struct push_answer *answer)
{
	const enum push_outcome outcome = judge_status(answer);

	if (outcome != PUSH_SENT)
		return outcome;
	parca_read_trailer(answer->body, answer->size, answer->trailer, sizeof(answer->trailer));
	const int status = parca_grpc_status(answer->trailer);

	if (status < 0 || !answer_has_type(answer, "application/grpc"))
		return PUSH_FOREIGN;
	join_lines(answer);
	if (!status)
		return PUSH_SENT;
	return parca_is_passing(status) ? PUSH_LATER : PUSH_REFUSED;
}

/* The second row with a prefix is another form for the same receivers: push_target_try_next(). */
static const struct push_form push_forms[] = {
	{.prefix = "pyroscope+",
	 .path = "/ingest",
	 .root = "",
	 .is_unsigned = true,
	 .fill = fill_pyroscope,
	 .judge = judge_any},
	{.prefix = "parca+", .path = "/profiles/writeraw", .root = "/api", .fill = fill_parca, .judge = judge_parca},
	{.prefix = "parca+",
	 .path = "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw",
	 .root = "/api",
	 .fill = fill_parca_web,
	 .judge = judge_parca_web},
	{.prefix = "", .path = "", .root = "/", .fill = fill_plain, .judge = judge_any},
};

/* Returns a part of the URL, which the caller frees by curl_free(); NULL if the URL does not have it. */
static char *url_part(CURLU *url, CURLUPart part)
{
	char *text = NULL;

	return curl_url_get(url, part, &text, 0) ? NULL : text;
}

/* Adds the form's path to the URL's. */
static bool url_add_path(CURLU *url, const struct push_form *form)
{
	char *const given = url_part(url, CURLUPART_PATH);
	size_t length = given ? strlen(given) : 0;

	if (!*form->path) {
		curl_free(given);
		return true;
	}
	while (length && given[length - 1] == '/')
		length--;
	char *const path = length ? xasprintf("%.*s%s", (int)length, given, form->path)
				  : xasprintf("%s%s", form->root, form->path);
	const CURLUcode error = curl_url_set(url, CURLUPART_PATH, path, 0);

	free(path);
	curl_free(given);
	return !error;
}

/* Returns the URL for messages. */
static char *url_to_show(CURLU *url, const char *prefix)
{
	curl_url_set(url, CURLUPART_USER, NULL, 0);
	curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	/* Parameters may have a password, too. */
	curl_url_set(url, CURLUPART_QUERY, NULL, 0);
	char *const text = url_part(url, CURLUPART_URL);
	struct buf shown = {0};

	buf_add_str(&shown, prefix);
	plain_add(&shown, text ? text : "?");
	char *const result = xstrdup(buf_str(&shown));

	buf_free(&shown);
	curl_free(text);
	return result;
}

/* Parses what follows the prefix. Returns false if it is no URL of http or https with a host. */
static bool parse_http(const char *text, const struct push_form *form, struct push_target *target)
{
	CURLU *const url = curl_url();
	char *host = NULL;

	if (url && (!strncmp(text, "http://", 7) || !strncmp(text, "https://", 8)) &&
	    !curl_url_set(url, CURLUPART_URL, text, 0))
		host = url_part(url, CURLUPART_HOST);
	const bool is_valid = host && *host;

	curl_free(host);
	if (is_valid) {
		curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
		char *const whole = url_part(url, CURLUPART_URL);

		target->form = form;
		target->url = xstrdup(whole ? whole : text);
		target->shown = url_to_show(url, form->prefix);
		curl_free(whole);
	}
	curl_url_cleanup(url);
	return is_valid;
}

bool push_target_parse(const char *url, struct push_target *target, char *why, size_t why_size)
{
	const struct push_form *form = push_forms;

	if (!strncmp(url, "otlp+", strlen("otlp+"))) {
		snprintf(why, why_size,
			 "the format of profiles in OTLP is not settled yet, and its versions do not understand each "
			 "other, so functrace does not send it. Use pyroscope+http://, parca+http:// or http://");
		return false;
	}
	while (strncmp(url, form->prefix, strlen(form->prefix)) != 0)
		form++; /* the last prefix is "" */
	if (parse_http(url + strlen(form->prefix), form, target))
		return true;
	/* The URL itself is not shown, because it may have a password. */
	snprintf(why, why_size,
		 "this is no URL to which functrace can send profiles. It begins with http://HOST or https://HOST, or "
		 "with pyroscope+ or parca+ before one of these");
	return false;
}

void push_target_free(struct push_target *target)
{
	free(target->url);
	free(target->shown);
}

bool push_target_is_unsigned(const struct push_target *target)
{
	return target->form->is_unsigned;
}

bool push_request_make(const struct push_target *target, const struct push_parcel *parcel, struct push_request *request)
{
	CURLU *const url = curl_url();
	char *whole = NULL;

	*request = (struct push_request){0};
	if (url && !curl_url_set(url, CURLUPART_URL, target->url, 0) && url_add_path(url, target->form) &&
	    target->form->fill(parcel, url, request))
		whole = url_part(url, CURLUPART_URL);
	request->url = xstrdup_or_null(whole);
	curl_free(whole);
	curl_url_cleanup(url);
	return request->url;
}

void push_request_free(struct push_request *request)
{
	free(request->url);
	free(request->content_type);
	buf_free(&request->body);
}

enum push_outcome push_target_judge(const struct push_target *target, struct push_answer *answer)
{
	return target->form->judge(answer);
}

bool push_target_try_next(struct push_target *target)
{
	const struct push_form *const next = target->form + 1;

	/* The last form has the prefix "", and no receiver has another form after it. */
	if (!*target->form->prefix || strcmp(next->prefix, target->form->prefix) != 0)
		return false;
	target->form = next;
	return true;
}
