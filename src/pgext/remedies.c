/*
 * remedies.c
 *	  sluice.remedies: the way out of a stream's refusal or failure, as rows.
 *
 * NOTES
 *	  Rows come from three places: the refusal's own hint where it is a
 *	  statement, what this file knows of its marker, and the last resort that
 *	  fits every stream with a source, to drop it and start it anew.  The
 *	  harmless ones stand first; what removes rows says so.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/tuplestore.h"

#include "pgext/errutil.h"
#include "pgext/preflight_int.h"
#include "pgext/source_mysql.h"
#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/pgcompat.h"

/* What is known of the stream's present trouble. */
typedef struct Trouble
{
	SlStream   *stream;
	SlState		state;
	SlMarker	marker;
	char	   *sqlstate;
	char	   *reason;
	char	   *hint;
	char	   *schema;			/* on the source, of the refusal; may be NULL */
	char	   *table;
	char	   *column;
	char	   *detail;
	char	   *fingerprint;
	bool		open;			/* waits to be acknowledged */
} Trouble;

/* Is the stream able to go on after a cure, and where is it made? */
typedef struct MarkerWay
{
	SlMarker	marker;
	const char *run_on;
	bool		resumes;
} MarkerWay;

static const MarkerWay ways[] = {
	{SL_M_TARGET_MOVED, "target", true},
	{SL_M_POSITION_BEHIND_SLOT, "source", false},
	{SL_M_SOURCE_IDENTITY_CHANGED, "target", true},
	{SL_M_SOURCE_BEHIND_POSITION, "source", false},
	{SL_M_SLOT_MISSING, "source", false},
	{SL_M_SLOT_LOST, "source", false},
	{SL_M_SOURCE_LOG_PURGED, "source", false},
	{SL_M_PREFLIGHT_FAILED, "source", true},
	{SL_M_PUBLICATION_DRIFT, "source", true},
	{SL_M_PROTOCOL_VIOLATION, "source", true},
	{SL_M_SCHEMA_CHANGE_REFUSED, "target", true},
	{SL_M_COLUMN_IDENTITY_CHANGED, "target", true},
	{SL_M_COLUMN_ORDER_CHANGED, "target", true},
	{SL_M_RESUME_SCHEMA_DIVERGENCE, "target", true},
	{SL_M_UNFORWARDED_SCHEMA_CHANGE, "target", true},
	{SL_M_BACKFILL_INCOMPLETE, "target", true},
	{SL_M_TABLE_IDENTITY_CHANGED, "source", false},
	{SL_M_SCOPE_DRIFT, "source", true},
	{SL_M_TARGET_SHAPE_MISMATCH, "target", true},
	{SL_M_TARGET_TABLE_MISSING, "target", true},
	{SL_M_IDENTITY_LOST, "source", true},
	{SL_M_PARTITION_UNSENT, "target", true},
	{SL_M_VALUE_UNREPRESENTABLE, "target", true},
	{SL_M_SEQUENCE_NOT_CARRIED, "source", true},
	{SL_M_UNIQUE_CONFLICT_OTHER_ROW, "target", true},
	{SL_M_CONSTRAINT_VIOLATED, "target", true},
	{SL_M_UNCHANGED_VALUE_MISSING, "target", true},
	{SL_M_TRUNCATE_OUT_OF_SCOPE, "target", true},
	{SL_M_TARGET_KIND_UNSUPPORTED, "target", true},
	{SL_M_TARGET_TRIGGER, "target", true},
	{SL_M_TARGET_PERMISSION, "target", true},
	{SL_M_KEY_COLLATION_MERGE, "target", true},
};

PG_FUNCTION_INFO_V1(sluice_remedies);

static void
put(ReturnSetInfo *rsinfo, const char *run_on, const char *statement,
	bool destructive, const char *note)
{
	Datum		values[5] = {0};
	bool		nulls[5] = {0};

	values[0] = Int32GetDatum((int32) tuplestore_tuple_count(rsinfo->setResult) + 1);
	values[1] = CStringGetTextDatum(run_on);
	nulls[2] = statement == NULL;
	if (statement)
		values[2] = CStringGetTextDatum(statement);
	values[3] = BoolGetDatum(destructive);
	nulls[4] = note == NULL;
	if (note)
		values[4] = CStringGetTextDatum(note);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

static Trouble *
load_trouble(const char *stream_id)
{
	MemoryContext cxt = CurrentMemoryContext;
	Trouble    *t = palloc0(sizeof(Trouble));
	char	   *marker = NULL;
	SlUserSwitch sw;

	t->stream = sl_stream_load(stream_id, false);
	t->state = sl_state_load(stream_id);
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT s.marker, s.sqlstate, s.reason, "
					"COALESCE(r.hint, s.hint), r.schema_name, "
					"r.table_name, r.column_name, r.detail, r.fingerprint, "
					"r.id IS NOT NULL AND r.acknowledged_at IS NULL "
					"FROM sluice.stream_state s "
					"LEFT JOIN sluice.refusal r USING (stream_id, fingerprint) "
					"WHERE s.stream_id = $1", SPI_OK_SELECT, 1, &stream_id) > 0)
	{
		marker = sl_spi_text(0, 1, cxt);
		t->sqlstate = sl_spi_text(0, 2, cxt);
		t->reason = sl_spi_text(0, 3, cxt);
		t->hint = sl_spi_text(0, 4, cxt);
		t->schema = sl_spi_text(0, 5, cxt);
		t->table = sl_spi_text(0, 6, cxt);
		t->column = sl_spi_text(0, 7, cxt);
		t->detail = sl_spi_text(0, 8, cxt);
		t->fingerprint = sl_spi_text(0, 9, cxt);
		t->open = sl_spi_bool(0, 10);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	t->marker = marker ? sl_marker_by_text(marker) : SL_M_NONE;
	return t;
}

static const MarkerWay *
way_of(SlMarker m)
{
	for (int i = 0; i < lengthof(ways); i++)
		if (ways[i].marker == m)
			return &ways[i];
	return NULL;
}

/* Where the hint's statement runs. */
static const char *
side_of(const Trouble *t, const MarkerWay *way)
{
	/* a grant on the source, or wider bounds here */
	if (t->marker == SL_M_SEQUENCE_NOT_CARRIED && t->hint &&
		strncmp(t->hint, "ALTER ", 6) == 0)
		return "target";
	return way ? way->run_on : "target";
}

static char *
start_sql(const Trouble *t)
{
	return psprintf("SELECT state FROM sluice.sync_start(%s);",
					sl_paste_literal(t->stream->stream_id));
}

/* ", name => ARRAY[...]" for a list that is not the default. */
static void
append_list(StringInfo sql, const char *name, char *const *list)
{
	if (list == NULL || list[0] == NULL)
		return;
	appendStringInfo(sql, ", %s => ARRAY[", name);
	for (int i = 0; list[i]; i++)
		appendStringInfo(sql, "%s%s", i ? ", " : "", sl_paste_literal(list[i]));
	appendStringInfoChar(sql, ']');
}

/* Drop the stream and start it as it is on record; the tables are emptied. */
static char *
anew_sql(const Trouble *t)
{
	SlStream   *s = t->stream;
	StringInfoData sql;
	char	   *id = sl_paste_literal(s->stream_id);
	char	   *options = JsonbToCString(NULL, &s->options->root, VARSIZE(s->options));

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT sluice.sync_drop(%s); "
					 "SELECT state FROM sluice.sync_start(%s, %s",
					 id, id, sl_paste_literal(s->source_server));
	append_list(&sql, "include_tables", s->include);
	append_list(&sql, "exclude_tables", s->exclude);
	if (s->target_schema)
		appendStringInfo(&sql, ", target_schema => %s",
						 sl_paste_literal(s->target_schema));
	appendStringInfo(&sql, ", options => %s::jsonb || '{\"existing_rows\": \"truncate\"}');",
					 sl_paste_literal(options));
	return sql.data;
}

static bool
is_statement(const char *line)
{
	static const char *const verbs[] = {
		"ALTER ", "CREATE ", "DROP ", "GRANT ", "REVOKE ", "SELECT ", "CALL ",
		"SET ", "COMMENT ", "INSERT ", "UPDATE ", "DELETE ", "TRUNCATE "
	};

	for (int i = 0; i < lengthof(verbs); i++)
		if (strncmp(line, verbs[i], strlen(verbs[i])) == 0)
			return true;
	return false;
}

/*
 * The statements of a hint, one a line, after the lines of prose that may
 * precede them; NULL if there are none.
 */
static char *
hint_statement(const char *hint)
{
	size_t		len = hint ? strlen(hint) : 0;

	if (len == 0 || hint[len - 1] != ';')
		return NULL;
	for (const char *line = hint; line; line = strchr(line, '\n'))
	{
		if (*line == '\n')
			line++;
		if (is_statement(line))
			return pstrdup(line);
	}
	return NULL;
}

static bool
removes_rows(const char *statement)
{
	return strstr(statement, "DROP COLUMN ") != NULL ||
		strstr(statement, "restart_from_scratch => true") != NULL ||
		strstr(statement, "DROP TABLE ") != NULL ||
		strncmp(statement, "DELETE ", 7) == 0 ||
		strncmp(statement, "UPDATE ", 7) == 0 ||
		strncmp(statement, "TRUNCATE ", 9) == 0;
}

/* A copy of the target: forget the stream here, or take it over. */
static void
put_target_moved(ReturnSetInfo *rsinfo, const Trouble *t)
{
	const char *id = t->stream->stream_id;
	const char *adopt = t->hint ? strstr(t->hint, "\"adopt\": \"") : NULL;

	put(rsinfo, "target",
		psprintf("SELECT sluice.sync_drop(%s, clean_source => false);", sl_paste_literal(id)),
		false, "if this is a copy: forgets the stream here; the original goes on");
	if (adopt)
		put(rsinfo, "target",
			psprintf("SELECT state FROM sluice.sync_start(%s, options => '{\"adopt\": \"%.12s\"}');",
					 sl_paste_literal(id), adopt + strlen("\"adopt\": \"")),
			true, "if the original is gone for good: this target takes the stream over");
}

/* The publication as the stream has it on record. */
static void
put_publication(ReturnSetInfo *rsinfo, const Trouble *t)
{
	SlStreamTable *tables;
	int			n = sl_stream_tables(t->stream->stream_id, &tables);
	char	   *name = sl_paste_ident(t->stream->publication_name);
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		if (strcmp(tables[i].state, "dropped") != 0 &&
			strcmp(tables[i].state, "abandoned") != 0)
			appendStringInfo(&list, "%s%s", list.len ? ", " : "",
							 sl_paste_table(tables[i].schema, tables[i].table));
	if (list.len == 0)
		return;
	put(rsinfo, "source",
		psprintf("ALTER PUBLICATION %s SET TABLE %s; ALTER PUBLICATION %s SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);",
				 name, list.data, name),
		false, "puts the publication back; changes made in between to a table that was not published are lost, so compare with sluice.verify()");
}

/* A name as a part of a table pattern that matches nothing else. */
static void
append_pattern_part(StringInfo buf, const char *name)
{
	appendStringInfoChar(buf, '"');
	for (; *name; name++)
		appendStringInfo(buf, *name == '"' ? "\"%c" : "%c", *name);
	appendStringInfoChar(buf, '"');
}

/*
 * A table that had no identity for a while: updates and deletes fail on the
 * source then, so what is in the stream of that time are inserts, and taking
 * it as a table of inserts loses nothing.
 */
static char *
insert_only_sql(const Trouble *t)
{
	StringInfoData list;
	StringInfoData one;

	initStringInfo(&list);
	initStringInfo(&one);
	append_pattern_part(&one, t->schema);
	appendStringInfoChar(&one, '.');
	append_pattern_part(&one, t->table);
	appendStringInfoString(&list, "{\"insert_only\": [");
	for (char **p = sl_stream_opt_list(t->stream, SL_O_INSERT_ONLY); *p; p++)
	{
		escape_json(&list, *p);
		appendStringInfoString(&list, ", ");
	}
	escape_json(&list, one.data);
	appendStringInfoString(&list, "]}");
	return psprintf("SELECT state FROM sluice.sync_start(%s, options => %s);",
					sl_paste_literal(t->stream->stream_id),
					sl_paste_literal(list.data));
}

static void
put_anew(ReturnSetInfo *rsinfo, const Trouble *t)
{
	if (!sl_stream_is_fed(t->stream))
		put(rsinfo, "target", anew_sql(t), true,
			"forgets the stream, empties its tables and copies them again");
}

/* A table without an identity: give it one, then pass the time without. */
static void
put_identity(ReturnSetInfo *rsinfo, const Trouble *t)
{
	put(rsinfo, "source",
		psprintf("ALTER TABLE %s REPLICA IDENTITY FULL;",
				 sl_paste_table(t->schema, t->table)),
		false, "gives the table a replica identity without a key");
	put(rsinfo, "target", insert_only_sql(t), false,
		"resumes; while the table had no identity its updates and deletes failed on the source, so only inserts are in the stream (set the option back to null later)");
	put_anew(rsinfo, t);
}

static char *
forward_sql(const Trouble *t)
{
	return psprintf("SELECT state FROM sluice.sync_start(%s, schema_changes => 'forward');",
					sl_paste_literal(t->stream->stream_id));
}

/* A stream that forwards nothing may. */
static void
put_forward(ReturnSetInfo *rsinfo, const Trouble *t)
{
	if (t->marker == SL_M_SCHEMA_CHANGE_REFUSED && !sl_stream_is_fed(t->stream) &&
		strcmp(t->stream->schema_changes, "refuse") == 0)
		put(rsinfo, "target", forward_sql(t), false,
			"or instead: the stream makes the change here by itself, and those to come");
}

/*
 * Rows of the shape before come first in the source transaction: the target
 * cannot have the other shape by then.
 */
static void
put_wedge(ReturnSetInfo *rsinfo, const Trouble *t)
{
	const char *id = sl_paste_literal(t->stream->stream_id);

	if (t->hint && strstr(t->hint, "'forward'"))
	{
		put(rsinfo, "target", t->hint, false,
			"with the target's table as it was before the change: the stream makes it inside the transaction");
		put(rsinfo, "target",
			psprintf("CALL sluice.sync_wait(%s, 'caught_up'); SELECT sluice.sync_stop(%s, wait => true); "
					 "SELECT state FROM sluice.sync_start(%s, schema_changes => 'refuse');", id, id, id),
			false, "once that is past: forwards nothing again");
	}
	put_anew(rsinfo, t);
}

/* What this file knows of a marker, beyond the refusal's own hint. */
static void
put_specific(ReturnSetInfo *rsinfo, const Trouble *t)
{
	switch (t->marker)
	{
		case SL_M_SOURCE_IDENTITY_CHANGED:
			put(rsinfo, "target",
				psprintf("ALTER SERVER %s OPTIONS (SET host '...', SET port '...');",
						 sl_paste_ident(t->stream->source_server)),
				false, "point the server at the source the stream was started on");
			break;
		case SL_M_PUBLICATION_DRIFT:
			put_publication(rsinfo, t);
			break;
		default:
			break;
	}
}

/* What remains to be said when what it names was done. */
static void
put_start(ReturnSetInfo *rsinfo, const Trouble *t)
{
	if (t->open && sl_marker_info(t->marker)->ack == SL_ACK_YES &&
		(t->hint == NULL || strstr(t->hint, t->fingerprint) == NULL))
		put(rsinfo, "target",
			psprintf("SELECT state FROM sluice.sync_start(%s, accept_unforwarded_schema_change => '%s');",
					 sl_paste_literal(t->stream->stream_id), t->fingerprint),
			false, "once that is done: accepts this one refusal, and resumes from the stored position");
	else
		put(rsinfo, "target", start_sql(t), false,
			"once that is done: resumes from the stored position");
}

/* The refusal's own words: as a statement, or as a note with its detail. */
static void
put_hint(ReturnSetInfo *rsinfo, const Trouble *t, const char *run_on)
{
	char	   *statement = hint_statement(t->hint);
	const char *note = t->detail ? t->detail : t->reason;

	/* what is no statement of it comes before those */
	if (statement && strlen(statement) < strlen(t->hint))
		note = psprintf("%.*s%s", (int) (strlen(t->hint) - strlen(statement)), t->hint,
						note ? note : "");
	if (statement)
		put(rsinfo, run_on, statement, removes_rows(statement), note);
	else
		put(rsinfo, run_on, NULL, false,
			psprintf("%s%s%s", t->hint ? t->hint : sl_marker_info(t->marker)->remedy,
					 note ? "\n" : "", note ? note : ""));
}

static void
put_refused(ReturnSetInfo *rsinfo, const Trouble *t)
{
	const MarkerWay *way = way_of(t->marker);

	if (t->marker == SL_M_TARGET_MOVED)
	{
		put_target_moved(rsinfo, t);
		return;
	}
	if (t->marker == SL_M_IDENTITY_LOST && t->schema && t->table &&
		!sl_driver_is_bridged(t->stream->driver))
	{
		put_identity(rsinfo, t);
		return;
	}
	/* another copy is all that helps */
	if (t->hint && strstr(t->hint, "restart_from_scratch => true);"))
	{
		put_hint(rsinfo, t, "target");
		put_anew(rsinfo, t);
		return;
	}
	if (t->detail && strstr(t->detail, SL_WEDGE))
	{
		put_wedge(rsinfo, t);
		return;
	}
	if (way == NULL || way->resumes)
	{
		if (t->marker != SL_M_NONE)
		{
			put_specific(rsinfo, t);
			put_hint(rsinfo, t, side_of(t, way));
		}
		put_start(rsinfo, t);
		put_forward(rsinfo, t);
	}
	else if (sl_stream_is_fed(t->stream))
		put_hint(rsinfo, t, way->run_on);
	put_anew(rsinfo, t);
}

/* A login that is refused is tried again; nothing else needs a hand. */
static void
put_retrying(ReturnSetInfo *rsinfo, const Trouble *t)
{
	const SlStream *s = t->stream;

	if (t->sqlstate && strncmp(t->sqlstate, "28", 2) == 0 && s->source_server)
		put(rsinfo, "target",
			psprintf("ALTER USER MAPPING FOR %s SERVER %s OPTIONS (SET password '...');",
					 sl_paste_ident(GetUserNameFromId(s->owner, false)),
					 sl_paste_ident(s->source_server)),
			false, t->reason);
	else
		put(rsinfo, "source", NULL, false,
			psprintf("the stream tries again by itself: %s",
					 t->reason ? t->reason : "no reason given"));
}

static void
put_failed(ReturnSetInfo *rsinfo, const Trouble *t)
{
	char	   *statement = hint_statement(t->hint);

	put(rsinfo, "target", statement, statement && removes_rows(statement),
		psprintf("%s%s%s", t->reason ? t->reason : "no reason given",
				 t->hint && !statement ? "\n" : "",
				 t->hint && !statement ? t->hint : ""));
	put(rsinfo, "target", start_sql(t), false,
		"once that is cured: resumes from the stored position");
	put_anew(rsinfo, t);
}

/*
 * sluice.remedies(stream_id): no rows for a stream without trouble.
 */
Datum
sluice_remedies(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Trouble    *t;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"stream_id\" must not be null")));
	t = load_trouble(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	if (!has_privs_of_role(GetUserId(), t->stream->owner) &&
		!has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be a member of the role that owns stream \"%s\"",
						t->stream->stream_id)));
	InitMaterializedSRF(fcinfo, 0);
	if (t->state == SL_STATE_REFUSED)
		put_refused(rsinfo, t);
	else if (t->state == SL_STATE_FAILED)
		put_failed(rsinfo, t);
	else if (t->state == SL_STATE_RETRYING)
		put_retrying(rsinfo, t);
	return (Datum) 0;
}
