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
		ok = take_place(json, p, err) && take_gtid(json, mariadb, p, err);
	if (ok && p->file[0] == '\0' && p->gtid == NULL)
		ok = sl_error_set(err, SL_ERR_MALFORMED, 0, "a position has neither \"file\" nor \"gtid\"");
	br_json_free(json);
	return ok;
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
	appendStringInfoChar(out, '}');
}

/* See position.h. */
bool
br_position_lsn(const char *file, uint64 pos, uint64 *lsn)
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
	*lsn = (number << 32) | pos;
	return true;
}
