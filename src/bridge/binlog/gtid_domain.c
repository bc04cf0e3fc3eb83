/*
 * gtid_domain.c
 *	  MariaDB's positions: domains, and in each what its servers wrote last.
 */
#include "bridge/binlog/gtid_int.h"

/* Where a domain is, or would be. */
static int
domain_place(const BlGtidSet *set, uint32 id)
{
	int			low = 0;
	int			high = set->ndomains;

	while (low < high)
	{
		int			mid = low + (high - low) / 2;

		if (set->domains[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

GtidDomain *
gtid_find_domain(const BlGtidSet *set, uint32 id)
{
	int			at = domain_place(set, id);

	return at < set->ndomains && set->domains[at].id == id ? &set->domains[at] : NULL;
}

static GtidDomain *
get_domain(BlGtidSet *set, uint32 id)
{
	int			at = domain_place(set, id);

	if (at == set->ndomains || set->domains[at].id != id)
	{
		set->domains = gtid_insert(set->domains, sizeof(GtidDomain), &set->ndomains,
								   &set->max_domains, at);
		memset(&set->domains[at], 0, sizeof(GtidDomain));
		set->domains[at].id = id;
	}
	return &set->domains[at];
}

static int
find_server(const GtidDomain *d, uint32 server_id)
{
	for (int i = 0; i < d->nservers; i++)
	{
		if (d->servers[i].server_id == server_id)
			return i;
	}
	return -1;
}

/* Make it the server's last GTID, and the domain's position. */
static void
put_last(GtidDomain *d, uint32 server_id, uint64 seqno)
{
	int			i = find_server(d, server_id);

	if (i < 0)
	{
		i = d->nservers;
		d->servers = gtid_insert(d->servers, sizeof(GtidServer), &d->nservers,
								 &d->max_servers, i);
	}
	memmove(&d->servers[i], &d->servers[i + 1], sizeof(GtidServer) * (d->nservers - i - 1));
	d->servers[d->nservers - 1].server_id = server_id;
	d->servers[d->nservers - 1].seqno = seqno;
}

void
gtid_domain_position(const GtidDomain *d, BlGtid *gtid)
{
	const GtidServer *last = &d->servers[d->nservers - 1];

	memset(gtid, 0, sizeof(BlGtid));
	gtid->mariadb = true;
	gtid->domain = d->id;
	gtid->server_id = last->server_id;
	gtid->seqno = last->seqno;
}

bool
gtid_domain_contains(const BlGtidSet *set, const BlGtid *gtid)
{
	const GtidDomain *d = gtid_find_domain(set, gtid->domain);
	const GtidServer *last;
	int			i;

	if (d == NULL)
		return false;
	last = &d->servers[d->nservers - 1];
	i = find_server(d, gtid->server_id);
	return last->seqno > gtid->seqno || (i >= 0 && d->servers[i].seqno >= gtid->seqno);
}

bool
gtid_domain_add(BlGtidSet *set, const BlGtid *gtid, SlError *err)
{
	GtidDomain *d = get_domain(set, gtid->domain);

	if (d->nservers > 0)
	{
		const GtidServer *last = &d->servers[d->nservers - 1];

		if (gtid->seqno < last->seqno ||
			(gtid->seqno == last->seqno && gtid->server_id != last->server_id))
			return sl_error_set(err, SL_ERR_MALFORMED, 0,
								"GTID %u-%u-%llu comes after %u-%u-%llu; "
								"two servers wrote to one domain",
								gtid->domain, gtid->server_id,
								(unsigned long long) gtid->seqno,
								d->id, last->server_id, (unsigned long long) last->seqno);
	}
	put_last(d, gtid->server_id, gtid->seqno);
	return true;
}

bool
bl_gtid_set_add_listed(BlGtidSet *set, const BlGtid *gtid, SlError *err)
{
	GtidDomain *d;

	err->code = SL_ERR_NONE;
	if (!set->mariadb || !gtid->mariadb)
		return sl_error_set(err, SL_ERR_MALFORMED, 0, "a list of MariaDB's GTIDs has one of MySQL's");
	d = get_domain(set, gtid->domain);
	if (find_server(d, gtid->server_id) >= 0)
		return sl_error_set(err, SL_ERR_MALFORMED, 0,
							"domain %u has server %u twice", gtid->domain, gtid->server_id);
	put_last(d, gtid->server_id, gtid->seqno);
	return true;
}

/*
 * Take over a domain of another set: what its servers wrote, and its position if
 * that is the later one.
 */
void
gtid_domain_merge(BlGtidSet *set, const GtidDomain *d)
{
	GtidDomain *to = get_domain(set, d->id);
	BlGtid		before;
	BlGtid		after;
	bool		is_later;

	gtid_domain_position(d, &after);
	is_later = to->nservers == 0 || !gtid_domain_contains(set, &after);
	if (to->nservers > 0)
		gtid_domain_position(to, &before);
	else
		before = after;
	for (int i = 0; i < d->nservers; i++)
	{
		int			there = find_server(to, d->servers[i].server_id);

		if (there < 0 || to->servers[there].seqno < d->servers[i].seqno)
			put_last(to, d->servers[i].server_id, d->servers[i].seqno);
	}
	if (is_later)
		before = after;
	/* the merging may have brought a later one of that server */
	put_last(to, before.server_id,
			 Max(before.seqno, to->servers[find_server(to, before.server_id)].seqno));
}

bool
bl_gtid_set_has_one_domain(const BlGtidSet *set)
{
	return set->ndomains == 1;
}

bool
bl_gtid_set_position(const BlGtidSet *set, uint32 domain, BlGtid *gtid)
{
	const GtidDomain *d = gtid_find_domain(set, domain);

	if (d != NULL)
		gtid_domain_position(d, gtid);
	return d != NULL;
}

void
bl_gtid_set_rewind(BlGtidSet *set, uint32 domain, const BlGtid *before)
{
	int			at = domain_place(set, domain);

	if (at < set->ndomains && set->domains[at].id == domain)
	{
		if (set->domains[at].servers != NULL)
			pfree(set->domains[at].servers);
		set->ndomains--;
		memmove(&set->domains[at], &set->domains[at + 1], sizeof(GtidDomain) * (set->ndomains - at));
	}
	if (before != NULL)
		put_last(get_domain(set, domain), before->server_id, before->seqno);
}

BlGtidSet *
bl_gtid_set_unknown(const BlGtidSet *position, const BlGtidSet *state)
{
	BlGtidSet  *set = bl_gtid_set_create(true);

	for (int i = 0; i < position->ndomains; i++)
	{
		const GtidDomain *d = gtid_find_domain(state, position->domains[i].id);
		BlGtid		last;
		int			at;

		gtid_domain_position(&position->domains[i], &last);
		at = d != NULL ? find_server(d, last.server_id) : -1;
		if (at < 0 || d->servers[at].seqno < last.seqno)
			put_last(get_domain(set, last.domain), last.server_id, last.seqno);
	}
	return set;
}
