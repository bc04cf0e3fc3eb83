/*
 * stream_source.c
 *	  A stream's source as a server among others: who it is, and who we are to it.
 */
#include "common/sl_sha256.h"
#include "bridge/stream_int.h"

/* Ids that are tried before one that is taken is kept. */
#define MAX_TRIES	16

/* Ids of replicas of ours: the upper half, which nobody counts up to. */
#define OUR_IDS		0x80000000U

static char *
identity(const MxConn *c, const MxServer *server)
{
	return mx_is_mariadb(c) ? psprintf("server_id %u", server->server_id) : pstrdup(server->uuid);
}

/* See stream.h. */
MxConn *
br_stream_connect(const BrStream *s, const MxParams *p, bool text_utf8, MxError *err)
{
	MxConn	   *c = mx_connect(p, text_utf8, err);
	MxServer	server;
	char	   *who;
	bool		same;

	if (c == NULL || s->server == NULL)
		return c;
	if (!mx_server_read(c, &server, err))
	{
		mx_close(c);
		return NULL;
	}
	who = identity(c, &server);
	same = strcmp(who, s->server) == 0;
	pfree(who);
	mx_server_free(&server);
	if (same)
		return c;
	mx_close(c);
	memset(err, 0, sizeof(*err));
	err->lost = true;
	strlcpy(err->message, "another server than before answers in the source's place", sizeof(err->message));
	return NULL;
}

/* See stream.h. */
bool
br_stream_identify(BrStream *s, MxConn *c, MxError *err)
{
	MxServer	server;

	if (!mx_server_read(c, &server, err))
		return false;
	s->server_kind = mx_is_mariadb(c) ? "mariadb" : "mysql";
	s->server_version = pstrdup(mx_version_text(c));
	s->server = identity(c, &server);
	mx_server_free(&server);
	return true;
}

static uint32
id_of(const BrStream *s, int attempt)
{
	char	   *text = psprintf("%s/%s/%d", s->cluster, s->id, attempt);
	uint8		digest[SL_SHA256_BYTES];

	sl_sha256(text, strlen(text), digest);
	pfree(text);
	return OUR_IDS | (uint32) digest[0] << 24 | (uint32) digest[1] << 16 |
		(uint32) digest[2] << 8 | digest[3];
}

/* Is it the source's own, or a replica's? */
static bool
is_taken(const MxResult *replicas, const MxResult *own, uint32 id)
{
	if (mx_value(own, 0, 0) != NULL && strtoul(mx_value(own, 0, 0), NULL, 10) == id)
		return true;
	for (int i = 0; replicas != NULL && i < replicas->nrows; i++)
		if (mx_value(replicas, i, 0) != NULL && strtoul(mx_value(replicas, i, 0), NULL, 10) == id)
			return true;
	return false;
}

/* See stream.h. */
bool
br_stream_choose_id(BrStream *s, MxConn *c, MxError *err)
{
	bool		renamed = !mx_is_mariadb(c) && mx_version(c) >= 80022;
	MxResult   *own = mx_query(c, "SELECT @@global.server_id", err);
	MxResult   *replicas;
	int			attempt = 0;

	if (own == NULL)
		return false;
	replicas = mx_query(c, renamed ? "SHOW REPLICAS" : "SHOW SLAVE HOSTS", err);
	if (replicas == NULL && (err->lost || err->number == 0))
	{
		mx_result_free(own);
		return false;
	}

	/*
	 * the list has those that registered: a session of ours that died may
	 * still be one
	 */
	while (attempt < MAX_TRIES && is_taken(replicas, own, id_of(s, attempt)))
		attempt++;
	s->server_id = id_of(s, attempt);
	mx_result_free(own);
	if (replicas != NULL)
		mx_result_free(replicas);
	return true;
}

/* See stream.h. */
const BrCatalog **
br_stream_catalogs(const BrStream *s, MxConn *c, int *n, MxError *err)
{
	char	  **databases = br_stream_databases(s);
	const BrCatalog **cats;
	int			count = 0;

	while (databases[count] != NULL)
		count++;
	cats = palloc0(sizeof(BrCatalog *) * Max(count, 1));
	for (*n = 0; *n < count; (*n)++)
	{
		cats[*n] = br_catalog_read(c, databases[*n], NULL, err);
		if (cats[*n] == NULL)
			return NULL;
	}
	return cats;
}
