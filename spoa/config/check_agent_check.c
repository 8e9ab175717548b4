/* check_agent_check.c - servers that ask the agent for their weight and maxconn.
 *
 * HAProxy sends what agent-send says and takes silence for "nothing changes": with a name
 * that is another server's, a missing newline or a wrong port all runs, and nothing is
 * learnt, or the wrong thing is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/config/check_rules.h"

enum { NAME_BYTES_MAX = 512 };

/* What its agent-send should be, without the newline. */
static void name_of(const struct proxy *proxy, const struct haproxy_line *server,
                    char ret_name[NAME_BYTES_MAX])
{
	(void)snprintf(ret_name, NAME_BYTES_MAX, "%s/%s", proxy->section->name, server->words[1]);
}

/* A replica may be named by its address, too. Of a host's name we do not know which. */
static bool is_address_of(const struct haproxy_line *server, const char *text, size_t length)
{
	const char *address = server->words[2];

	if (memchr(text, '/', length) || length == 0)
		return false;
	if (strspn(address, "0123456789.:[]abcdefABCDEF") != strlen(address))
		return true;
	return strlen(address) == length && memcmp(address, text, length) == 0;
}

/* Up to the newline, or to what single quotes make of one. */
static size_t name_length(const char *sent)
{
	size_t length = strcspn(sent, "\r\n");

	if (sent[length] == '\0' && length > 2 && strcmp(sent + length - 2, "\\n") == 0)
		length -= 2;
	return length;
}

static void line_sent(const struct facts *facts, const struct proxy *proxy,
                      const struct haproxy_line *server)
{
	const char *sent = proxy_server_word(proxy, server, "agent-send");
	size_t length = sent ? name_length(sent) : 0;
	char name[NAME_BYTES_MAX];

	name_of(proxy, server, name);
	if (!sent)
		report(facts, server, proxy, SEVERITY_ERROR, "agent-send",
		       "server %s has agent-check without agent-send, the agent does not know who "
		       "asks; add agent-send \"%s\\n\"",
		       server->words[1], name);
	else if ((length != strlen(name) || memcmp(sent, name, length) != 0) &&
	         !is_address_of(server, sent, length))
		report(facts, server, proxy, SEVERITY_ERROR, "agent-send",
		       "server %s asks as \"%.*s\", and would get the weight of another or none; "
		       "it is agent-send \"%s\\n\"",
		       server->words[1], (int)length, sent, name);
	else if (!strchr(sent, '\n'))
		report(facts, server, proxy, SEVERITY_ERROR, "agent-send",
		       "agent-send of server %s ends without a newline, the agent waits for one "
		       "and does not answer; it is agent-send \"%s\\n\", in double quotes",
		       server->words[1], name);
}

static unsigned long port_of(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? strtoul(colon + 1, NULL, 10) : 0;
}

/* Whether the agent is known to do something else there. */
static bool speaks_spop_at(const struct facts *facts, unsigned long port)
{
	const struct haproxy_line *agent;

	for (uint32_t i = 0; facts->agents && (agent = proxy_server(facts->agents, i)); i++)
		if (port_of(agent->words[2]) == port)
			return true;
	return false;
}

/* The first server that asks says where all others should. */
static unsigned long first_port(const struct facts *facts)
{
	const struct haproxy_line *server;

	for (uint32_t i = 0; i < facts->proxy_count; i++)
		for (uint32_t j = 0;
		     facts->proxies[i].instance && (server = proxy_server(&facts->proxies[i], j));
		     j++) {
			const char *port =
			        proxy_server_word(&facts->proxies[i], server, "agent-port");

			if (port && proxy_server_word(&facts->proxies[i], server, "agent-check"))
				return strtoul(port, NULL, 10);
		}
	return 0;
}

static void port_asked(const struct facts *facts, const struct proxy *proxy,
                       const struct haproxy_line *server)
{
	const char *text = proxy_server_word(proxy, server, "agent-port");
	unsigned long port = text ? strtoul(text, NULL, 10) : 0;
	unsigned long told = facts->options->agent_check_port;
	unsigned long expected = told != 0 ? told : first_port(facts);

	if (port == 0)
		report(facts, server, proxy, SEVERITY_ERROR, "agent-port",
		       "server %s has agent-check without agent-port, HAProxy asks nobody; add the "
		       "port of run --agent-check",
		       server->words[1]);
	else if (speaks_spop_at(facts, port))
		report(facts, server, proxy, SEVERITY_ERROR, "agent-port",
		       "server %s asks at port %lu, where the agent takes decisions; it is the "
		       "port "
		       "of run --agent-check",
		       server->words[1], port);
	else if (port != expected)
		report(facts, server, proxy, told != 0 ? SEVERITY_ERROR : SEVERITY_WARNING,
		       "agent-port", "server %s asks at port %lu, %s at %lu; nobody answers there",
		       server->words[1], port,
		       told != 0 ? "the agent answers" : "other servers ask", expected);
}

/* Without an address of its own HAProxy asks the engine's host. */
static void host_asked(const struct facts *facts, const struct proxy *proxy,
                       const struct haproxy_line *server)
{
	if (!proxy_server_word(proxy, server, "agent-addr") &&
	    strncmp(server->words[2], "127.", 4) != 0 &&
	    strncmp(server->words[2], "localhost", 9) != 0 &&
	    strncmp(server->words[2], "[::1]", 5) != 0)
		report(facts, server, proxy, SEVERITY_ERROR, "agent-addr",
		       "server %s has agent-check without agent-addr, HAProxy asks the engine "
		       "itself; add agent-addr 127.0.0.1, or where the agent is",
		       server->words[1]);
}

void check_agent_check(const struct facts *facts)
{
	const struct haproxy_line *server;

	for (uint32_t i = 0; i < facts->proxy_count; i++) {
		const struct proxy *proxy = &facts->proxies[i];

		for (uint32_t j = 0; proxy->instance && (server = proxy_server(proxy, j)); j++) {
			if (!proxy_server_word(proxy, server, "agent-check"))
				continue;
			if (strcmp(server->words[0], "server-template") == 0) {
				report(facts, server, proxy, SEVERITY_ERROR, "agent-send",
				       "all servers of a server-template would send the same, the "
				       "agent does not know who asks; write server lines, or leave "
				       "agent-check out");
				continue;
			}
			line_sent(facts, proxy, server);
			port_asked(facts, proxy, server);
			host_asked(facts, proxy, server);
		}
	}
}
