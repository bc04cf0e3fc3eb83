/*
 * position.c
 *	  A place in a binary log, as text and as a number that orders.
 */
#include "bridge/json_in.h"
#include "bridge/json_out.h"
#include "bridge/position.h"

/* The file as a plain name, and the offset, which go together. */
static bool
take_place(const BrJson *json, BrPosition *p, SlError *err)
{
	const char *file = br_json_get_text(json, "file");
	int64		pos = 0;

	if (br_json_get(json, "file") == NULL && br_json_get(json, "pos") == NULL)
		return true;
	if (file == NULL || file[0] == '\0' || strlen(file) >= BR_LOG_NAME || strchr(file, '/') != NULL)
		return sl_error_set(err, SL_ERR_MALFORMED, 0, "a position's \"file\" is no log file's name");
	if (!br_json_get_int64(json, "pos", &pos) || pos < 0)
		return sl_error_set(err, SL_ERR_MALFORMED, 0, "a position's \"pos\" is no offset");
	strlcpy(p->file, file, sizeof(p->file));
	p->pos = (uint64) pos;
	return true;
}

static bool
take_gtid(const BrJson *json, bool mariadb, BrPosition *p, SlError *err)
{
	const char *gtid = br_json_get_text(json, "gtid");

	if (br_json_get(json, "gtid") == NULL)
		return true;
	if (gtid == NULL)
		return sl_error_set(err, SL_ERR_MALFORMED, 0, "a position's \"gtid\" is no text");
	p->gtid = bl_gtid_set_parse(gtid, mariadb, err);
	return p->gtid != NULL;
}

/* A member that is one GTID. */
static bool
take_one(const BrJson *json, const char *name, bool mariadb, bool *has, BlGtid *gtid, SlError *err)
{
	const char *text = br_json_get_text(json, name);

	*has = text != NULL;
	return text == NULL || bl_gtid_parse(text, mariadb, gtid, err);
}

static bool
take_last(const BrJson *json, bool mariadb, BrPosition *p, SlError *err)
{
	if (br_json_get(json, "files") != NULL &&
		(!br_json_get_int64(json, "files", &p->files) || p->files <= -(int64) PG_UINT32_MAX || p->files >= (int64) PG_UINT32_MAX))
		return sl_error_set(err, SL_ERR_MALFORMED, 0, "a position's \"files\" is no number of files");
	p->ahead = br_json_get_true(json, "ahead");
	if (!take_one(json, "last", mariadb, &p->has_last, &p->last, err) ||
		!take_one(json, "before", mariadb, &p->has_before, &p->before, err))
		return false;
	if (p->has_last && !br_json_get_int64(json, "stamp", &p->stamp))
		return sl_error_set(err, SL_ERR_MALFORMED, 0, "a position's \"stamp\" is no time");
	return true;
}

/* See position.h. */
bool
br_position_parse(const char *text, bool mariadb, BrPosition *p, SlError *err)
{
	BrJson	   *json;
	bool		ok;

	memset(p, 0, sizeof(*p));
	json = br_json_parse(text, err);
	if (json == NULL)
		return false;
	if (json->kind != BR_JSON_OBJECT)
		ok = sl_error_set(err, SL_ERR_MALFORMED, 0, "a position is no JSON object");
	else
		ok = take_place(json, p, err) && take_last(json, mariadb, p, err) && take_gtid(json, mariadb, p, err);
	if (ok && p->file[0] == '\0' && p->gtid == NULL)
		ok = sl_error_set(err, SL_ERR_MALFORMED, 0, "a position has neither \"file\" nor \"gtid\"");
	br_json_free(json);
	return ok;
}

static void
put_one(StringInfo out, const char *name, const BlGtid *gtid)
{
	StringInfoData text;

	initStringInfo(&text);
	bl_gtid_text(gtid, &text);
	br_json_text(out, name, text.data);
	pfree(text.data);
}

/* See position.h. */
void
br_position_text(const BrPosition *p, StringInfo out)
{
	StringInfoData gtid;

	appendStringInfoChar(out, '{');
	if (p->file[0] != '\0')
	{
		br_json_text(out, "file", p->file);
		br_json_number(out, "pos", (int64) p->pos);
	}
	if (p->gtid != NULL)
	{
		initStringInfo(&gtid);
		bl_gtid_set_text(p->gtid, &gtid);
		br_json_text(out, "gtid", gtid.data);
		pfree(gtid.data);
	}
	if (p->files != 0)
		br_json_number(out, "files", p->files);
	if (p->ahead)
		br_json_bool(out, "ahead", true);
	if (p->has_last)
	{
		put_one(out, "last", &p->last);
		br_json_number(out, "stamp", p->stamp);
	}
	if (p->has_before)
		put_one(out, "before", &p->before);
	appendStringInfoChar(out, '}');
}

/* See position.h. */
bool
br_position_lsn(const char *file, uint64 pos, int64 files, uint64 *lsn)
{
	const char *dot = strrchr(file, '.');
	uint64		number = 0;

	if (dot == NULL || dot[1] == '\0' || pos > PG_UINT32_MAX)
		return false;
	for (const char *p = dot + 1; *p; p++)
	{
		if (*p < '0' || *p > '9')
			return false;
		number = number * 10 + (uint64) (*p - '0');
		if (number > PG_UINT32_MAX)
			return false;
	}
	if ((int64) number + files < 0 || (int64) number + files > (int64) PG_UINT32_MAX)
		return false;
	*lsn = ((uint64) ((int64) number + files) << 32) | pos;
	return true;
}

/* One to eight hexadecimal digits at *p, which are passed. */
static bool
take_half(const char **p, uint64 *half)
{
	size_t		n = strspn(*p, "0123456789abcdefABCDEF");

	if (n == 0 || n > 8)
		return false;
	*half = strtoul(*p, NULL, 16);
	*p += n;
	return true;
}

/* See position.h. */
bool
br_lsn_parse(const char *text, uint64 *lsn)
{
	uint64		high;
	uint64		low;

	if (!take_half(&text, &high) || *text++ != '/' || !take_half(&text, &low) || *text != '\0')
		return false;
	*lsn = high << 32 | low;
	return true;
}
