/*
 * feed_on_update.c
 *	  What a source does by ON UPDATE CURRENT_TIMESTAMP, as a trigger of the
 *	  target's own.
 *
 * NOTES
 *	  It acts where nobody applies changes: the stream's session is a replica's,
 *	  whose ordinary triggers do not fire.  A bridge says which columns; all text
 *	  is made here.  Nothing in it is the extension's, so that it stays when that
 *	  is dropped.
 *
 *	  MySQL sets the column when the row changes and the statement does not name
 *	  the column.  Whether a statement does, PL/pgSQL cannot see; the triggers
 *	  "on_update_1 …" can, as they are UPDATE OF that column.  They matter only where
 *	  it is set to what it is already, and tell "on_update_now", which fires
 *	  next, by a setting of the transaction.
 *
 * Rule: MySQL manual "Automatic Initialization and Updating for TIMESTAMP and
 * DATETIME".  The clock is that of the statement, cut off and not rounded, as there.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "pgext/feed_plan.h"
#include "pgext/json_object.h"
#include "pgext/pgcompat.h"

#define MAX_DIGITS	6			/* of a second */

typedef struct OnUpdate
{
	int			n;
	char	  **columns;
	int		   *digits;
	List	   *generated;		/* columns that the target computes */
} OnUpdate;

static void
read_column(OnUpdate *u, const JsonbValue *v)
{
	JsonbContainer *column = sl_json_object_of(v, "on_update", "a JSON object");

	sl_json_keys(column, "a column of on_update", " column digits ");
	u->columns[u->n] = sl_json_need_text(column, "column");
	if (strlen(u->columns[u->n]) >= NAMEDATALEN)
		sl_json_raise("column", "a name of at most 63 bytes");
	u->digits[u->n] = (int) sl_json_number(column, "digits", 0, MAX_DIGITS, 0);
	u->n++;
}

/* The clock, cut off behind so many digits. */
static char *
clock_of(int digits)
{
	if (digits == MAX_DIGITS)
		return pstrdup("statement_timestamp()");
	return psprintf("date_bin('%s s', statement_timestamp(), 'epoch')",
					digits == 0 ? "1" : psprintf("0.%0*d", digits, 1));
}

/* Set the column unless the statement has. */
static void
append_column(StringInfo body, const char *column, int digits, int number)
{
	const char *ident = quote_identifier(column);

	appendStringInfo(body, "\ttoken := pg_catalog.format(';%%s:%%s:%%s;', pg_catalog.pg_trigger_depth(), TG_RELID, %d);\n",
					 number);
	appendStringInfoString(body, "\tIF pg_catalog.strpos(kept, token) > 0 THEN\n"
						   "\t\tkept := pg_catalog.replace(kept, token, '');\n"
						   "\t\tPERFORM pg_catalog.set_config('on_update.kept', kept, true);\n");
	appendStringInfo(body, "\tELSIF changed AND NEW.%s IS NOT DISTINCT FROM OLD.%s THEN\n"
					 "\t\tNEW.%s := %s;\n"
					 "\tEND IF;\n", ident, ident, ident, clock_of(digits));
}

static char *
function_body(const OnUpdate *u)
{
	StringInfoData body;
	ListCell   *lc;

	initStringInfo(&body);
	appendStringInfoString(&body, "\n"
						   "DECLARE\n"
						   "\twas record := OLD;\n"
						   "\tkept text := COALESCE(pg_catalog.current_setting('on_update.kept', true), '');\n"
						   "\ttoken text;\n"
						   "\tchanged boolean;\n"
						   "BEGIN\n"
						   "\t-- the statement sets the column, to what it is\n"
						   "\tIF TG_NARGS > 0 THEN\n"
						   "\t\ttoken := pg_catalog.format(';%s:%s:%s;', pg_catalog.pg_trigger_depth(), TG_RELID, TG_ARGV[0]);\n"
						   "\t\tPERFORM pg_catalog.set_config('on_update.kept', kept || token, true);\n"
						   "\t\tRETURN NEW;\n"
						   "\tEND IF;\n");
	/* not computed yet in NEW */
	foreach(lc, u->generated)
		appendStringInfo(&body, "\twas.%s := NULL;\n", quote_identifier(lfirst(lc)));
	appendStringInfoString(&body, "\tchanged := NEW OPERATOR(pg_catalog.*<>) was;\n");
	for (int i = 0; i < u->n; i++)
		append_column(&body, u->columns[i], u->digits[i], i + 1);
	appendStringInfoString(&body, "\tRETURN NEW;\n"
						   "END\n");
	return body.data;
}

static void
set_function(SlObject *o, const OnUpdate *u)
{
	o->ddl = psprintf("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS %s",
					  quote_qualified_identifier(o->schema, o->name), quote_literal_cstr(function_body(u)));
}

/* number: of the column that the statement sets; 0 = whatever it sets. */
static void
set_trigger(SlObject *o, const OnUpdate *u, int number)
{
	const char *function = quote_qualified_identifier(o->schema, o->name);
	const char *table = quote_qualified_identifier(o->schema, o->table);

	o->name = number ? psprintf("on_update_%d", number) : pstrdup("on_update_now");
	if (number)
	{
		const char *column = quote_identifier(u->columns[number - 1]);

		o->ddl = psprintf("CREATE TRIGGER %s BEFORE UPDATE OF %s ON %s FOR EACH ROW"
						  " WHEN (NEW.%s IS NOT DISTINCT FROM OLD.%s) EXECUTE FUNCTION %s('%d')",
						  o->name, column, table, column, column, function, number);
	}
	else
		o->ddl = psprintf("CREATE TRIGGER %s BEFORE UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s()",
						  o->name, table, function);
}

/* See feed_plan.h. */
SlObject *
sl_feed_on_update(const SlObject *asked, JsonbContainer *object, int *n)
{
	OnUpdate	u = {.generated = asked->generated};
	JsonbValue *elems = sl_json_array(object, "on_update", n);
	SlObject   *objects;

	if (asked->state != SL_OBJECT_PLANNED || asked->ddl || asked->schema == NULL ||
		asked->table == NULL || *n == 0)
		sl_json_raise("on_update", "columns of what is planned with a schema and a table, without ddl");
	u.columns = palloc(sizeof(char *) * *n);
	u.digits = palloc(sizeof(int) * *n);
	for (int i = 0; i < *n; i++)
		read_column(&u, &elems[i]);
	*n = asked->kind == SL_OBJ_FUNCTION ? 1 : u.n + 1;
	objects = palloc(sizeof(SlObject) * *n);
	for (int i = 0; i < *n; i++)
	{
		objects[i] = *asked;
		objects[i].generated = NIL;
		objects[i].own = true;
		if (asked->kind == SL_OBJ_FUNCTION)
			set_function(&objects[i], &u);
		else
			set_trigger(&objects[i], &u, i);
	}
	return objects;
}
