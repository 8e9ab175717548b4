/* fleet_rank.c - servers whose engine runs several data-parallel ranks.
 *
 * Each rank becomes a member of its own, under an address with its number behind it: so
 * all that is kept by target is kept by rank, and nobody else need know. HAProxy knows
 * one server; what it says of that is said of all its ranks. */
#include "policies/core/bug.h"
#include "policies/state/fleet_parts.h"

struct span fleet_rank_label(struct span address, uint32_t rank, char ret_label[LABEL_MAX_BYTES])
{
	char digits[8];
	size_t count = 0, len = address.len;

	BUG_ON(len >= ADDRESS_MAX_BYTES || rank >= RANKS_MAX);
	memcpy(ret_label, address.at, len);
	ret_label[len++] = '#';
	do {
		digits[count++] = (char)('0' + rank % 10);
		rank /= 10;
	} while (rank > 0);
	while (count > 0)
		ret_label[len++] = digits[--count];
	ret_label[len] = '\0';
	return (struct span){ ret_label, len };
}

uint32_t fleet_ranks_of(const struct instance_policy *policy, const struct server_fact *fact)
{
	char name[NAME_MAX_BYTES], address[ADDRESS_MAX_BYTES];
	const struct replica_policy *replica;

	if (!policy || policy->replica_count == 0)
		return 0;
	BUG_ON(fact->server.len >= sizeof(name) || fact->address.len >= sizeof(address));
	memcpy(name, fact->server.at, fact->server.len);
	name[fact->server.len] = '\0';
	memcpy(address, fact->address.at, fact->address.len);
	address[fact->address.len] = '\0';
	replica = policy_replica(policy, (const char *const[]){ address, name }, 2);
	return replica ? replica->ranks : 0;
}
