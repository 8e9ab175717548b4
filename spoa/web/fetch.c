/* fetch.c - libcurl's multi interface on libev.
 *
 * Its easy handles are kept and used again, with their connections. All callbacks of ours
 * but that for pieces are made after curl has returned, so that they may do as they like.
 *
 * Curl reads from a socket for as long as there is something. A long answer would hold up
 * the loop, so what all may take in one turn of it is limited; whoever is over that pauses
 * until the next. */
#include "spoa/web/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "spoa/web/curl_loop.h"

enum {
	BODY_FIRST = 16 * 1024,
	BODY_KEPT = 256 * 1024, /* a larger buffer is not kept for the next */
	TURN_MAX = 64 * 1024,   /* bytes taken in one turn of the loop */
};

struct fetch_transfer {
	struct fetch *fetch;
	struct fetch_transfer *next; /* in the list of the free */
	CURL *easy;
	bool open, paused;
	struct curl_slist *headers;
	char *body;
	size_t used, room, answer_max;
	bool too_big;
	char error[CURL_ERROR_SIZE];
	void (*on_done)(void *data, const struct fetch_result *result);
	void (*on_piece)(void *data, const char *bytes, size_t count);
	void *data;
};

struct fetch {
	struct curl_loop curl;
	ev_timer resume;
	unsigned turn;  /* of the loop */
	size_t taken;   /* in it */
	uint32_t first; /* who goes on first when several had to wait */
	uint32_t most, open;
	struct fetch_transfer *transfers; /* most */
	struct fetch_transfer *free;
};

/* False when there is no memory. */
static bool keep(struct fetch_transfer *transfer, const char *bytes, size_t more)
{
	size_t room = transfer->room ? transfer->room : BODY_FIRST;
	char *body;

	while (room < transfer->used + more)
		room *= 2;
	if (room > transfer->room) {
		body = realloc(transfer->body, room);
		if (!body)
			return false;
		transfer->body = body;
		transfer->room = room;
	}
	memcpy(transfer->body + transfer->used, bytes, more);
	return true;
}

/* There is enough in this turn already: these bytes will come again. */
static bool has_to_wait(struct fetch_transfer *transfer)
{
	struct fetch *fetch = transfer->fetch;

	if (fetch->turn != ev_iteration(fetch->curl.loop)) {
		fetch->turn = ev_iteration(fetch->curl.loop);
		fetch->taken = 0;
	}
	transfer->paused = fetch->taken >= TURN_MAX;
	if (transfer->paused && !ev_is_active(&fetch->resume)) {
		ev_timer_set(&fetch->resume, 0, 0);
		ev_timer_start(fetch->curl.loop, &fetch->resume);
	}
	return transfer->paused;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	struct fetch_transfer *transfer = data;
	size_t more = size * count;

	if (has_to_wait(transfer))
		return CURL_WRITEFUNC_PAUSE;
	transfer->fetch->taken += more;
	if (more > transfer->answer_max - transfer->used) {
		transfer->too_big = true;
		return 0; /* not all taken: curl ends the transfer */
	}
	if (transfer->on_piece)
		transfer->on_piece(transfer->data, bytes, more);
	else if (!keep(transfer, bytes, more))
		return 0;
	transfer->used += more;
	return more;
}

/* Curl keeps its connection for the next. */
static void close_transfer(struct fetch_transfer *transfer)
{
	(void)curl_multi_remove_handle(transfer->fetch->curl.multi, transfer->easy);
	curl_slist_free_all(transfer->headers);
	transfer->headers = NULL;
	transfer->open = transfer->paused = false;
	transfer->fetch->open--;
}

static void put_back(struct fetch_transfer *transfer)
{
	if (transfer->room > BODY_KEPT) {
		free(transfer->body);
		transfer->body = NULL;
		transfer->room = 0;
	}
	transfer->next = transfer->fetch->free;
	transfer->fetch->free = transfer;
}

static const char *reason(const struct fetch_transfer *transfer, CURLcode code)
{
	if (transfer->too_big)
		return "the answer is too big";
	return transfer->error[0] ? transfer->error : curl_easy_strerror(code);
}

/* The callback reads what is here and may start another, so this goes back only
 * after it; there is one transfer more than may be open. */
static void finish(struct fetch_transfer *transfer, CURLcode code)
{
	struct fetch_result result = { .late = code == CURLE_OPERATION_TIMEDOUT };
	curl_off_t elapsed = 0;
	long status = 0;

	(void)curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME_T, &elapsed);
	(void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	result.elapsed_us = (uint64_t)elapsed;
	if (code == CURLE_OK && status > 0) {
		result.status = (int)status;
		result.body = transfer->on_piece ? NULL : transfer->body;
		result.body_bytes = transfer->used;
	} else {
		result.error = reason(transfer, code);
	}
	close_transfer(transfer);
	transfer->on_done(transfer->data, &result);
	put_back(transfer);
}

/* One at a time, and asked anew after each: callbacks start and cancel. */
static void finish_done(void *data)
{
	struct fetch *fetch = data;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(fetch->curl.multi, &left))) {
		CURLcode code = message->data.result;
		char *transfer = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
		finish((struct fetch_transfer *)(void *)transfer, code);
	}
}

/* Those that had to wait go on; some will have to wait again, others each time. */
static void on_resume(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct fetch *fetch = timer->data;

	(void)loop;
	(void)events;
	fetch->first = (fetch->first + 1) % (fetch->most + 1);
	for (uint32_t i = 0; i <= fetch->most; i++) {
		struct fetch_transfer *transfer =
		        &fetch->transfers[(fetch->first + i) % (fetch->most + 1)];

		if (!transfer->open || !transfer->paused)
			continue;
		transfer->paused = false;
		(void)curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
	}
	curl_loop_act(&fetch->curl);
}

/* False when out of memory. */
static bool set_headers(struct fetch_transfer *transfer, const struct fetch_request *request)
{
	const char *const none[] = { NULL };

	for (const char *const *line = request->headers ? request->headers : none; *line; line++) {
		struct curl_slist *longer = curl_slist_append(transfer->headers, *line);

		if (!longer)
			return false;
		transfer->headers = longer;
	}
	return true;
}

static bool set_options(struct fetch_transfer *transfer, const struct fetch_request *request)
{
	CURL *easy = transfer->easy;
	bool set = true;

	curl_easy_reset(easy);
	set &= curl_easy_setopt(easy, CURLOPT_URL, request->url) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_USERAGENT,
	                        "inference-spoa/" INFERENCE_SPOA_VERSION) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)request->deadline_ms) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer) == CURLE_OK;
	if (request->unix_socket)
		set &= curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request->unix_socket) ==
		       CURLE_OK;
	if (!request->body)
		return set;
	set &= curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
	                        (curl_off_t)request->body_bytes) == CURLE_OK;
	set &= curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request->body) == CURLE_OK;
	return set;
}

struct fetch_transfer *fetch_start(struct fetch *fetch, const struct fetch_request *request,
                                   void (*on_done)(void *data, const struct fetch_result *result),
                                   void *data)
{
	struct fetch_transfer *transfer = fetch->free;

	if (fetch->open == fetch->most || !transfer)
		return NULL;
	if (!transfer->easy)
		transfer->easy = curl_easy_init();
	if (!transfer->easy)
		return NULL;
	transfer->used = 0;
	transfer->too_big = false;
	transfer->error[0] = 0;
	transfer->answer_max = request->answer_max;
	transfer->on_done = on_done;
	transfer->on_piece = request->on_piece;
	transfer->data = data;
	if (!set_headers(transfer, request) || !set_options(transfer, request) ||
	    curl_multi_add_handle(fetch->curl.multi, transfer->easy) != CURLM_OK) {
		curl_slist_free_all(transfer->headers);
		transfer->headers = NULL;
		return NULL;
	}
	fetch->free = transfer->next;
	transfer->open = true;
	fetch->open++;
	return transfer;
}

void fetch_cancel(struct fetch_transfer *transfer)
{
	if (!transfer->open)
		return;
	close_transfer(transfer);
	put_back(transfer);
}

uint32_t fetch_open(const struct fetch *fetch)
{
	return fetch->open;
}

static bool set_up(struct fetch *fetch)
{
	fetch->curl.multi = curl_multi_init();
	fetch->transfers = calloc((size_t)fetch->most + 1, sizeof(*fetch->transfers));
	if (!fetch->curl.multi || !fetch->transfers)
		return false;
	for (uint32_t i = 0; i <= fetch->most; i++) {
		fetch->transfers[i].fetch = fetch;
		fetch->transfers[i].next = fetch->free;
		fetch->free = &fetch->transfers[i];
	}
	return curl_loop_start(&fetch->curl) &&
	       curl_multi_setopt(fetch->curl.multi, CURLMOPT_MAXCONNECTS, (long)fetch->most) ==
	               CURLM_OK;
}

struct fetch *fetch_new(struct ev_loop *loop, uint32_t most)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));

	if (!fetch)
		return NULL;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(fetch);
		return NULL;
	}
	fetch->curl = (struct curl_loop){ .loop = loop, .acted = finish_done, .data = fetch };
	fetch->most = most;
	ev_init(&fetch->resume, on_resume);
	fetch->resume.data = fetch;
	if (set_up(fetch))
		return fetch;
	fetch_free(fetch);
	return NULL;
}

void fetch_free(struct fetch *fetch)
{
	if (!fetch)
		return;
	for (uint32_t i = 0; fetch->transfers && i <= fetch->most; i++) {
		struct fetch_transfer *transfer = &fetch->transfers[i];

		if (transfer->open)
			close_transfer(transfer);
		curl_easy_cleanup(transfer->easy);
		free(transfer->body);
	}
	(void)curl_multi_cleanup(fetch->curl.multi);
	curl_loop_stop(&fetch->curl);
	ev_timer_stop(fetch->curl.loop, &fetch->resume);
	free(fetch->transfers);
	free(fetch);
	curl_global_cleanup();
}
