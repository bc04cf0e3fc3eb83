/*
 * gtid_text.c
 *	  GTIDs and sets of them as text.
 *
 * MySQL: UUID[:TAG]:NUMBER[-NUMBER]..., where a tag holds for the intervals
 * behind it up to the next; sources with commas between them.  MariaDB:
 * DOMAIN-SERVER-SEQNO, with commas.
 */
#include "bridge/binlog/gtid_int.h"
#include "common/sl_hex.h"
#include "common/sl_scan.h"

#define SPACE	" \t\n\v\f\r"

/* Where the text is read; the first failure fills err. */
typedef struct Reader
{
	const char *start;
	const char *p;
	SlError    *err;
} Reader;

/* ---------- reading ---------- */

static bool
fail(Reader *r, const char *what)
{
	return sl_error_set(r->err, SL_ERR_MALFORMED, r->p - r->start, "%s", what);
}

static bool
take(Reader *r, char c)
{
	return sl_take(&r->p, c, SPACE);
}

static bool
read_number(Reader *r, uint64 max, uint64 *number)
{
	const char *begin = r->p;
	uint64		n = 0;

	*number = 0;
	for (; *r->p >= '0' && *r->p <= '9'; r->p++)
	{
		uint64		digit = *r->p - '0';

		if (n > (max - digit) / 10)
			return fail(r, "a number of a GTID is too large");
		n = n * 10 + digit;
	}
	*number = n;
	return r->p > begin || fail(r, "a number is missing");
}

static bool
read_uuid(Reader *r, uint8 *uuid)
{
	for (int i = 0; i < 16; i++)
	{
		int			high;
		int			low;

		if ((i == 4 || i == 6 || i == 8 || i == 10) && *r->p++ != '-')
		{
			r->p--;
			return fail(r, "a UUID has no hyphen where one belongs");
		}
		high = sl_hex_digit(*r->p);
		low = high < 0 ? -1 : sl_hex_digit(r->p[1]);
		if (low < 0)
			return fail(r, "a UUID has something else than hexadecimal digits");
		uuid[i] = (uint8) (high << 4 | low);
		r->p += 2;
	}
	return true;
}

static bool
begins_tag(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* A tag, in lower case. */
static bool
read_tag(Reader *r, char *tag)
{
	int			n = 0;

	while (begins_tag(*r->p) || (n > 0 && *r->p >= '0' && *r->p <= '9'))
	{
		if (n == BL_TAG_MAX)
			return fail(r, "a tag is longer than 32 characters");
		tag[n++] = (char) pg_ascii_tolower((unsigned char) *r->p++);
	}
	tag[n] = '\0';
	return true;
}

/* NUMBER or NUMBER-NUMBER, added to the source. */
static bool
read_interval(Reader *r, GtidSource *s)
{
	const char *begin = r->p;
	uint64		first;
	uint64		last;

	if (!read_number(r, GTID_MAX_NUMBER, &first))
		return false;
	last = first;
	if (take(r, '-') && !read_number(r, GTID_MAX_NUMBER, &last))
		return false;
	if (first < 1 || last < first)
	{
		r->p = begin;
		return fail(r, "an interval of GTIDs is empty");
	}
	gtid_interval_add(s, (int64) first, (int64) last + 1);
	return true;
}

/* One UUID with its tags and intervals, up to a comma or the end. */
static bool
read_source(Reader *r, BlGtidSet *set)
{
	uint8		uuid[16];
	char		tag[BL_TAG_MAX + 1] = "";

	if (!read_uuid(r, uuid))
		return false;
	if (!take(r, ':'))
		return fail(r, "a UUID has no interval");
	do
	{
		if (begins_tag(*r->p) && (!read_tag(r, tag) || !take(r, ':')))
			return r->err->code != SL_ERR_NONE ? false : fail(r, "a tag has no interval");
		if (!read_interval(r, gtid_get_source(set, uuid, tag)))
			return false;
	} while (take(r, ':'));
	return true;
}

/* A number of 32 bits and the hyphen after it. */
static bool
read_part(Reader *r, uint32 *number)
{
	uint64		n;

	if (!read_number(r, PG_UINT32_MAX, &n))
		return false;
	*number = (uint32) n;
	if (*r->p != '-')
		return fail(r, "a GTID is not DOMAIN-SERVER-NUMBER");
	r->p++;
	return true;
}

static bool
read_mariadb(Reader *r, BlGtidSet *set)
{
	BlGtid		gtid = {.mariadb = true};
	const char *begin = r->p;

	if (!read_part(r, &gtid.domain) || !read_part(r, &gtid.server_id) ||
		!read_number(r, PG_UINT64_MAX, &gtid.seqno))
		return false;
	if (bl_gtid_set_add_listed(set, &gtid, r->err))
		return true;
	r->err->offset = begin - r->start;
	return false;
}

static bool
read_set(Reader *r, BlGtidSet *set)
{
	sl_skip(&r->p, SPACE);
	if (*r->p == '\0')
		return true;
	do
	{
		if (!(set->mariadb ? read_mariadb(r, set) : read_source(r, set)))
			return false;
	} while (take(r, ','));
	return *r->p == '\0' || fail(r, "something else follows a GTID");
}

BlGtidSet *
bl_gtid_set_parse(const char *text, bool mariadb, SlError *err)
{
	Reader		r = {text, text, err};
	BlGtidSet  *set = bl_gtid_set_create(mariadb);

	err->code = SL_ERR_NONE;
	if (read_set(&r, set))
		return set;
	bl_gtid_set_free(set);
	return NULL;
}

/* The only member of a set of one. */
static bool
take_member(const BlGtidSet *set, BlGtid *gtid)
{
	memset(gtid, 0, sizeof(*gtid));
	if (set->ndomains == 1)
		gtid_domain_position(&set->domains[0], gtid);
	if (set->nsources == 1 && set->sources[0].nintervals == 1)
	{
		const GtidSource *s = &set->sources[0];

		memcpy(gtid->uuid, s->uuid, sizeof(gtid->uuid));
		strlcpy(gtid->tag, s->tag, sizeof(gtid->tag));
		gtid->number = s->intervals[0].start;
		return s->intervals[0].end == gtid->number + 1;
	}
	return set->ndomains == 1 && set->domains[0].nservers == 1;
}

bool
bl_gtid_parse(const char *text, bool mariadb, BlGtid *gtid, SlError *err)
{
	BlGtidSet  *set = bl_gtid_set_parse(text, mariadb, err);
	bool		one;

	if (set == NULL)
		return false;
	one = take_member(set, gtid);
	bl_gtid_set_free(set);
	return one || sl_error_set(err, SL_ERR_MALFORMED, 0, "a set of GTIDs in the place of one");
}

/* ---------- writing ---------- */

static void
put_uuid(const uint8 *uuid, StringInfo out)
{
	for (int i = 0; i < 16; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			appendStringInfoChar(out, '-');
		appendStringInfo(out, "%02x", uuid[i]);
	}
}

static void
put_mysql(const BlGtidSet *set, StringInfo out)
{
	for (int i = 0; i < set->nsources; i++)
	{
		const GtidSource *s = &set->sources[i];

		if (i == 0 || memcmp(s->uuid, s[-1].uuid, sizeof(s->uuid)) != 0)
		{
			if (i > 0)
				appendStringInfoChar(out, ',');
			put_uuid(s->uuid, out);
		}
		if (s->tag[0] != '\0')
			appendStringInfo(out, ":%s", s->tag);
		for (int j = 0; j < s->nintervals; j++)
		{
			int64		last = s->intervals[j].end - 1;

			appendStringInfo(out, ":%lld", (long long) s->intervals[j].start);
			if (last > s->intervals[j].start)
				appendStringInfo(out, "-%lld", (long long) last);
		}
	}
}

void
bl_gtid_text(const BlGtid *gtid, StringInfo out)
{
	if (gtid->mariadb)
	{
		appendStringInfo(out, "%u-%u-%llu", gtid->domain, gtid->server_id,
						 (unsigned long long) gtid->seqno);
		return;
	}
	put_uuid(gtid->uuid, out);
	if (gtid->tag[0] != '\0')
		appendStringInfo(out, ":%s", gtid->tag);
	appendStringInfo(out, ":%lld", (long long) gtid->number);
}

void
bl_gtid_set_text(const BlGtidSet *set, StringInfo out)
{
	put_mysql(set, out);
	for (int i = 0; i < set->ndomains; i++)
	{
		BlGtid		position;

		gtid_domain_position(&set->domains[i], &position);
		if (i > 0)
			appendStringInfoChar(out, ',');
		bl_gtid_text(&position, out);
	}
}
