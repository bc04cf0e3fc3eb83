/*
 * sequence_target.c
 *	  The target's sequences: which one stands for one of the source's, its
 *	  value, and setting it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_sequence.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/errutil.h"
#include "pgext/sequence_pg.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* What column $2 of table $1 takes its values from, its own one first. */
#define COLUMN_SEQUENCE_SQL \
	"SELECT q.oid FROM (" \
	"SELECT d.objid AS oid, 0 AS prio FROM pg_catalog.pg_depend d" \
	" WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass" \
	" AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass" \
	" AND d.refobjid = $1::pg_catalog.oid AND d.refobjsubid = $2::pg_catalog.int4" \
	" AND d.deptype IN ('a', 'i')" \
	" UNION ALL SELECT d.refobjid, 1 FROM pg_catalog.pg_attrdef f" \
	" JOIN pg_catalog.pg_depend d ON d.objid = f.oid" \
	" AND d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass" \
	" AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass" \
	" WHERE f.adrelid = $1::pg_catalog.oid AND f.adnum = $2::pg_catalog.int4) q" \
	" JOIN pg_catalog.pg_class c ON c.oid = q.oid AND c.relkind = 'S'" \
	" ORDER BY q.prio, q.oid LIMIT 1"

/* The target of a source's table: as recorded, else by name; 0 = none. */
static Oid
target_table(const SlStream *s, const SlStreamTable *tables, int n,
			 const char *schema, const char *table)
{
	Oid			nsp;

	for (int i = 0; i < n; i++)
		if (strcmp(tables[i].table, table) == 0 &&
			strcmp(tables[i].schema, schema) == 0 &&
			OidIsValid(tables[i].target_relid))
			return tables[i].target_relid;
	nsp = get_namespace_oid(sl_stream_target_schema(s, schema), true);
	return OidIsValid(nsp) ? get_relname_relid(table, nsp) : InvalidOid;
}

static Oid
sequence_of_column(Oid relid, AttrNumber attnum)
{
	const char *params[] = {psprintf("%u", relid), psprintf("%d", attnum)};
	SlUserSwitch sw;
	Oid			found = InvalidOid;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(COLUMN_SEQUENCE_SQL, SPI_OK_SELECT, 2, params) > 0)
		found = (Oid) sl_spi_int64(0, 1, NULL);
	sl_spi_leave();
	sl_become_back(&sw);
	return found;
}

static Oid
find_relid(const SlStream *s, const SlStreamTable *tables, int ntables,
		   const SlSequence *seq)
{
	Oid			found = InvalidOid;
	Oid			nsp;

	if (seq->own_table)
	{
		Oid			table = target_table(s, tables, ntables, seq->own_schema,
										 seq->own_table);
		AttrNumber	attnum = OidIsValid(table) ?
		get_attnum(table, seq->own_column) : InvalidAttrNumber;

		if (attnum > 0)
			found = sequence_of_column(table, attnum);
	}
	if (OidIsValid(found))
		return found;
	nsp = get_namespace_oid(sl_stream_target_schema(s, seq->schema), true);
	if (OidIsValid(nsp))
		found = get_relname_relid(seq->name, nsp);
	return OidIsValid(found) && get_rel_relkind(found) == RELKIND_SEQUENCE ?
		found : InvalidOid;
}

static Oid
owner_of(Oid relid)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tup))->relowner;
	ReleaseSysCache(tup);
	return owner;
}

static void
fill_parameters(SlTargetSequence *t)
{
	HeapTuple	tup = SearchSysCache1(SEQRELID, ObjectIdGetDatum(t->relid));
	Form_pg_sequence form;

	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for sequence %u", t->relid);
	form = (Form_pg_sequence) GETSTRUCT(tup);
	t->increment = form->seqincrement;
	t->min = form->seqmin;
	t->max = form->seqmax;
	t->cycle = form->seqcycle;
	ReleaseSysCache(tup);
}

/* As its owner, who may set it: refuses where we may not act as that role. */
static void
act_as_owner(const SlStream *s, const SlTargetSequence *t, SlUserSwitch *sw)
{
	if (!sl_compat_can_set_role(s->owner, t->owner))
	{
		SlRefusal	r = {.marker = SL_M_TARGET_PERMISSION,
			.schema = get_namespace_name(get_rel_namespace(t->relid)),
		.table = get_rel_name(t->relid)};

		r.hint = psprintf("GRANT %s TO %s;",
						  quote_identifier(GetUserNameFromId(t->owner, false)),
						  quote_identifier(GetUserNameFromId(s->owner, false)));
		sl_refuse(&r, "the stream's owner may not SET ROLE to the owner of sequence \"%s.%s\"",
				  r.schema, r.table);
	}
	sl_become_role(t->owner, sw);
}

static void
read_value(const SlStream *s, SlTargetSequence *t)
{
	SlUserSwitch sw;

	act_as_owner(s, t, &sw);
	sl_spi_enter();
	if (sl_spi_exec(psprintf("SELECT last_value, is_called FROM %s",
							 sl_sequence_name(t->relid)), SPI_OK_SELECT, 0, NULL) != 1)
		elog(ERROR, "sequence %u has no value", t->relid);
	t->last_value = sl_spi_int64(0, 1, NULL);
	t->is_called = sl_spi_bool(0, 2);
	sl_spi_leave();
	sl_become_back(&sw);
}

char *
sl_sequence_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

void
sl_sequence_find(const SlStream *s, const SlStreamTable *tables, int ntables,
				 const SlSequence *seq, SlTargetSequence *t)
{
	memset(t, 0, sizeof(*t));
	t->relid = find_relid(s, tables, ntables, seq);
	if (!OidIsValid(t->relid))
		return;
	t->owner = owner_of(t->relid);
	fill_parameters(t);
	read_value(s, t);
}

int
sl_sequence_compare(int64 increment, int64 a, bool a_called, int64 b, bool b_called)
{
	if (a != b)
		return (a > b) == (increment > 0) ? 1 : -1;
	return (int) a_called - (int) b_called;
}

void
sl_sequence_set(const SlStream *s, const SlTargetSequence *t, int64 value,
				bool is_called)
{
	SlUserSwitch sw;

	act_as_owner(s, t, &sw);
	DirectFunctionCall3(setval3_oid, ObjectIdGetDatum(t->relid),
						Int64GetDatum(value), BoolGetDatum(is_called));
	sl_become_back(&sw);
}

static void
refuse_bounds(const SlSequence *q, const SlTargetSequence *t)
{
	SlRefusal	r = {.marker = SL_M_SEQUENCE_NOT_CARRIED,
	.schema = q->schema, .table = q->name};

	r.detail = psprintf("[sequence] value " INT64_FORMAT " is outside of the target's "
						INT64_FORMAT " to " INT64_FORMAT,
						q->last_value, t->min, t->max);
	r.hint = psprintf("ALTER SEQUENCE %s MINVALUE " INT64_FORMAT
					  " MAXVALUE " INT64_FORMAT ";",
					  sl_sequence_name(t->relid), Min(q->min, t->min),
					  Max(q->max, t->max));
	sl_refuse(&r, "sequence \"%s.%s\" of the target cannot take the source's value",
			  q->schema, q->name);
}

/* See sequence_pg.h. */
bool
sl_sequence_prime(const SlStream *s, const SlStreamTable *tables, int ntables,
				  const SlSequence *q)
{
	SlTargetSequence t;
	int			d;

	sl_sequence_find(s, tables, ntables, q, &t);
	if (!OidIsValid(t.relid))
	{
		ereport(LOG,
				(errmsg("stream \"%s\": sequence \"%s.%s\" of the source has no counterpart on the target",
						s->stream_id, q->schema, q->name)));
		return false;
	}
	d = sl_sequence_compare(q->increment, q->last_value, q->is_called,
							t.last_value, t.is_called);
	/* where a sequence goes round, its values have no order */
	if (d == 0 || (d < 0 && !q->cycle))
		return false;
	if (q->last_value < t.min || q->last_value > t.max)
		refuse_bounds(q, &t);
	sl_sequence_set(s, &t, q->last_value, q->is_called);
	return true;
}
