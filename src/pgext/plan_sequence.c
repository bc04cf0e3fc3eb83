/*
 * plan_sequence.c
 *	  Sequences: made before the tables whose defaults call them, owned by
 *	  their columns after; those of identity columns are made by the column.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_sequence.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

/* The table of the plan that owns the sequence; NULL = none. */
static PlanRel *
owner_of(PlanBuild *b, const SlSequence *seq)
{
	if (seq->own_table == NULL)
		return NULL;
	return sl_plan_name_get(b->rel_by_name, seq->own_schema, NULL, seq->own_table);
}

static char *
parameters(const SlSequence *seq)
{
	return psprintf("START WITH " INT64_FORMAT " INCREMENT BY " INT64_FORMAT
					" MINVALUE " INT64_FORMAT " MAXVALUE " INT64_FORMAT
					" CACHE " INT64_FORMAT "%s",
					seq->start, seq->increment, seq->min, seq->max, seq->cache,
					seq->cycle ? " CYCLE" : " NO CYCLE");
}

/* Only the three types that a sequence can have. */
static const char *
sequence_type(const SlSequence *seq)
{
	if (strcmp(seq->type_name, "smallint") == 0 || strcmp(seq->type_name, "integer") == 0)
		return seq->type_name;
	return "bigint";
}

static char *
target_name(PlanBuild *b, const SlSequence *seq)
{
	return sl_plan_qualified(sl_stream_target_schema(b->s, seq->schema), seq->name);
}

static void
append_number(StringInfo buf, const char *what, int64 theirs, int64 ours)
{
	if (theirs != ours)
		appendStringInfo(buf, "%s%s " INT64_FORMAT " instead of " INT64_FORMAT,
						 buf->len ? ", " : "", what, theirs, ours);
}

/* How the target's sequence differs; "" if it does not.  CACHE is no matter. */
static char *
difference(const SlSequence *seq, Oid relid)
{
	HeapTuple	tup = SearchSysCache1(SEQRELID, ObjectIdGetDatum(relid));
	Form_pg_sequence form;
	StringInfoData buf;
	char	   *type;

	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for sequence %u", relid);
	form = (Form_pg_sequence) GETSTRUCT(tup);
	type = format_type_be(form->seqtypid);
	initStringInfo(&buf);
	if (strcmp(type, sequence_type(seq)) != 0)
		appendStringInfo(&buf, "AS %s instead of %s", type, sequence_type(seq));
	append_number(&buf, "START", form->seqstart, seq->start);
	append_number(&buf, "INCREMENT", form->seqincrement, seq->increment);
	append_number(&buf, "MINVALUE", form->seqmin, seq->min);
	append_number(&buf, "MAXVALUE", form->seqmax, seq->max);
	if (form->seqcycle != seq->cycle)
		appendStringInfo(&buf, "%s%s", buf.len ? ", " : "",
						 seq->cycle ? "NO CYCLE instead of CYCLE" : "CYCLE instead of NO CYCLE");
	ReleaseSysCache(tup);
	return buf.data;
}

/* The target has a sequence of that name: is it the same? */
static void
judge_sequence(PlanBuild *b, SlObject *o, const SlSequence *seq, Oid relid)
{
	char	   *diff = sl_plan_recorded(b, o->kind, o->schema, NULL, o->name) ? "" :
	difference(seq, relid);

	if (diff[0] == '\0')
	{
		o->state = SL_OBJECT_EXISTS;
		return;
	}
	sl_plan_fault(o, "exists on the target with other parameters: %s", diff);
	o->fix = psprintf("ALTER SEQUENCE %s AS %s INCREMENT BY " INT64_FORMAT
					  " MINVALUE " INT64_FORMAT " MAXVALUE " INT64_FORMAT
					  " START WITH " INT64_FORMAT "%s", target_name(b, seq),
					  sequence_type(seq), seq->increment, seq->min, seq->max, seq->start,
					  seq->cycle ? " CYCLE" : " NO CYCLE");
}

static void
plan_sequence(PlanBuild *b, const SlSequence *seq)
{
	char	   *tschema = sl_stream_target_schema(b->s, seq->schema);
	Oid			nsp = get_namespace_oid(tschema, true);
	Oid			relid = OidIsValid(nsp) ? get_relname_relid(seq->name, nsp) : InvalidOid;
	SlObject   *o;

	sl_plan_need_schema(b, tschema);
	o = sl_plan_add(b, SL_OBJ_SEQUENCE, SL_STAGE_BEFORE, NULL, tschema, seq->name);
	sl_plan_claim(b, o, 'r', seq->name);
	if (OidIsValid(relid) && get_rel_relkind(relid) != RELKIND_SEQUENCE)
		sl_plan_fault(o, "the target has another relation of that name");
	else if (OidIsValid(relid) && o->state == SL_OBJECT_PLANNED)
		judge_sequence(b, o, seq, relid);
	sl_plan_ddl(b, o, psprintf("CREATE %sSEQUENCE %s AS %s %s",
							   seq->persistence == 'u' ? "UNLOGGED " : "",
							   target_name(b, seq), sequence_type(seq), parameters(seq)));
}

/* All but those of tables that the target has already. */
void
sl_plan_sequences(PlanBuild *b)
{
	b->identities = sl_plan_name_hash("sluice plan: identities");
	b->nseqs = sl_pg_sequences(b->c, b->s, b->tables, b->ntables, &b->seqs);
	for (int i = 0; i < b->nseqs; i++)
	{
		SlSequence *seq = &b->seqs[i];
		PlanRel    *owner = owner_of(b, seq);

		sl_gate_allow(b->gate, 'S', seq->schema, seq->name);
		if (seq->identity)
			sl_plan_name_put(b->identities, seq->own_schema, seq->own_table,
							 seq->own_column, seq);
		else if (owner == NULL || owner->build)
			plan_sequence(b, seq);
	}
}

/*
 * The sequence of an identity column has the source's name and parameters.
 * Text to follow AS IDENTITY.
 */
char *
sl_plan_identity(PlanBuild *b, SlObject *o, const PlanRel *rel, const PlanColumn *col)
{
	SlSequence *seq = sl_plan_name_get(b->identities, rel->schema, rel->name, col->name);

	if (seq)
		return psprintf(" (SEQUENCE NAME %s %s)", target_name(b, seq), parameters(seq));
	sl_plan_note(o, "the sequence of column %s has default parameters, those of the source could not be read",
				 quote_identifier(col->name));
	return "";
}

/* OWNED BY, once the tables are there. */
void
sl_plan_sequence_owners(PlanBuild *b)
{
	for (int i = 0; i < b->nseqs; i++)
	{
		const SlSequence *seq = &b->seqs[i];
		PlanRel    *owner = owner_of(b, seq);
		SlObject   *o;

		if (seq->identity || owner == NULL || !owner->build)
			continue;
		o = sl_plan_add(b, SL_OBJ_SEQUENCE_OWNER, SL_STAGE_BEFORE, owner,
						sl_stream_target_schema(b->s, seq->schema), seq->name);
		sl_plan_ddl(b, o, psprintf("ALTER SEQUENCE %s OWNED BY %s.%s", target_name(b, seq),
								   sl_plan_relname(owner), quote_identifier(seq->own_column)));
	}
}
