/* tls.c - OpenSSL in small; where there is none, a clear refusal. */
#include "redis/tls.h"

#include <stdlib.h>

#ifdef WITH_TLS

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

struct redis_tls {
	SSL_CTX *context;
};

struct redis_tls_session {
	SSL *ssl;
	char problem[160];
};

bool redis_tls_built_in(void)
{
	return true;
}

/* The last of OpenSSL's errors, which is the one nearest to the cause, in its words. */
static const char *reason_of(unsigned long number)
{
	const char *reason = ERR_reason_error_string(number);

	return reason ? reason : "no reason given";
}

static bool load(SSL_CTX *context, const struct redis_tls_options *options, struct error *error)
{
	bool own = options->cert_file[0] != '\0';

	if (own != (options->key_file[0] != '\0'))
		return error_set(error,
		                 "tls: a certificate needs its key, and a key its certificate");
	if (options->ca_file[0] != '\0') {
		if (SSL_CTX_load_verify_file(context, options->ca_file) != 1)
			return error_set(error, "tls: %s: expected certificates in PEM: %s",
			                 options->ca_file, reason_of(ERR_peek_last_error()));
	} else if (SSL_CTX_set_default_verify_paths(context) != 1) {
		return error_set(error, "tls: the system's certificates cannot be read");
	}
	if (own && SSL_CTX_use_certificate_chain_file(context, options->cert_file) != 1)
		return error_set(error, "tls: %s: expected a certificate in PEM: %s",
		                 options->cert_file, reason_of(ERR_peek_last_error()));
	if (own &&
	    (SSL_CTX_use_PrivateKey_file(context, options->key_file, SSL_FILETYPE_PEM) != 1 ||
	     SSL_CTX_check_private_key(context) != 1))
		return error_set(error, "tls: %s: expected the key of %s: %s", options->key_file,
		                 options->cert_file, reason_of(ERR_peek_last_error()));
	return true;
}

struct redis_tls *redis_tls_new(const struct redis_tls_options *options, struct error *error)
{
	struct redis_tls *tls = calloc(1, sizeof(*tls));

	ERR_clear_error();
	if (tls)
		tls->context = SSL_CTX_new(TLS_client_method());
	if (!tls || !tls->context) {
		redis_tls_free(tls);
		(void)error_set(error, "tls: out of memory");
		return NULL;
	}
	(void)SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
	(void)SSL_CTX_set_mode(tls->context,
	                       SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
	if (!load(tls->context, options, error)) {
		redis_tls_free(tls);
		return NULL;
	}
	return tls;
}

void redis_tls_free(struct redis_tls *tls)
{
	if (!tls)
		return;
	SSL_CTX_free(tls->context);
	free(tls);
}

/* An address is looked for among the certificate's addresses, a name among its names. */
static bool expect_host(SSL *ssl, const char *host)
{
	struct in6_addr number;
	char name[REDIS_HOST_MAX]; /* OpenSSL takes a copy, of what it wants to be writable */

	if (inet_pton(AF_INET, host, &number) == 1 || inet_pton(AF_INET6, host, &number) == 1)
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
	(void)snprintf(name, sizeof(name), "%s", host);
	return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

struct redis_tls_session *redis_tls_begin(struct redis_tls *tls, int fd, const char *host)
{
	struct redis_tls_session *session = calloc(1, sizeof(*session));

	if (session)
		session->ssl = SSL_new(tls->context);
	if (!session || !session->ssl || SSL_set_fd(session->ssl, fd) != 1 ||
	    !expect_host(session->ssl, host)) {
		redis_tls_end(session);
		return NULL;
	}
	SSL_set_connect_state(session->ssl);
	return session;
}

void redis_tls_end(struct redis_tls_session *session)
{
	if (!session)
		return;
	SSL_free(session->ssl);
	free(session);
}

static enum redis_tls_wants judge(struct redis_tls_session *session, int result)
{
	long verified;

	switch (SSL_get_error(session->ssl, result)) {
	case SSL_ERROR_NONE:
		return REDIS_TLS_DONE;
	case SSL_ERROR_WANT_READ:
		return REDIS_TLS_READABLE;
	case SSL_ERROR_WANT_WRITE:
		return REDIS_TLS_WRITABLE;
	case SSL_ERROR_ZERO_RETURN:
		return REDIS_TLS_CLOSED;
	default:
		break;
	}
	verified = SSL_get_verify_result(session->ssl);
	if (verified != X509_V_OK)
		(void)snprintf(session->problem, sizeof(session->problem), "%s",
		               X509_verify_cert_error_string(verified));
	else if (ERR_peek_last_error() != 0)
		(void)snprintf(session->problem, sizeof(session->problem), "%s",
		               reason_of(ERR_peek_last_error()));
	else
		(void)snprintf(session->problem, sizeof(session->problem), "%s",
		               errno != 0 ? strerrordesc_np(errno) : "closed");
	ERR_clear_error();
	return REDIS_TLS_FAILED;
}

enum redis_tls_wants redis_tls_shake(struct redis_tls_session *session)
{
	ERR_clear_error();
	errno = 0;
	return judge(session, SSL_do_handshake(session->ssl));
}

enum redis_tls_wants redis_tls_read(struct redis_tls_session *session, char *bytes, size_t room,
                                    size_t *ret_len)
{
	ERR_clear_error();
	errno = 0;
	return judge(session, SSL_read_ex(session->ssl, bytes, room, ret_len));
}

enum redis_tls_wants redis_tls_write(struct redis_tls_session *session, const char *bytes,
                                     size_t len, size_t *ret_len)
{
	ERR_clear_error();
	errno = 0;
	return judge(session, SSL_write_ex(session->ssl, bytes, len, ret_len));
}

bool redis_tls_has_more(const struct redis_tls_session *session)
{
	return SSL_has_pending(session->ssl) == 1;
}

const char *redis_tls_problem(const struct redis_tls_session *session)
{
	return session->problem;
}

#else

bool redis_tls_built_in(void)
{
	return false;
}

struct redis_tls *redis_tls_new(const struct redis_tls_options *options, struct error *error)
{
	(void)options;
	(void)error_set(error, "store url: this program was built without TLS; "
	                       "expected redis:// or unix://");
	return NULL;
}

void redis_tls_free(struct redis_tls *tls)
{
	(void)tls;
}

struct redis_tls_session *redis_tls_begin(struct redis_tls *tls, int fd, const char *host)
{
	(void)tls;
	(void)fd;
	(void)host;
	return NULL;
}

void redis_tls_end(struct redis_tls_session *session)
{
	(void)session;
}

enum redis_tls_wants redis_tls_shake(struct redis_tls_session *session)
{
	(void)session;
	return REDIS_TLS_FAILED;
}

enum redis_tls_wants redis_tls_read(struct redis_tls_session *session, char *bytes, size_t room,
                                    size_t *ret_len)
{
	(void)session;
	(void)bytes;
	(void)room;
	(void)ret_len;
	return REDIS_TLS_FAILED;
}

enum redis_tls_wants redis_tls_write(struct redis_tls_session *session, const char *bytes,
                                     size_t len, size_t *ret_len)
{
	(void)session;
	(void)bytes;
	(void)len;
	(void)ret_len;
	return REDIS_TLS_FAILED;
}

bool redis_tls_has_more(const struct redis_tls_session *session)
{
	(void)session;
	return false;
}

const char *redis_tls_problem(const struct redis_tls_session *session)
{
	(void)session;
	return "this program was built without TLS";
}

#endif
