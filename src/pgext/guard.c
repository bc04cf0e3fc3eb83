/*
 * guard.c
 *	  What a target must be before rows go into it, and what becomes of the
 *	  errors that rows meet.
 *
 * NOTES
 *	  Rule for every check: sql-api "Security rules" and "Apply engine".  The
 *	  checks run when a stream starts (preflight), and again whenever the
 *	  relation is opened in a target transaction.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "rewrite/prs2lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/reltrigger.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "common/sl_shape.h"
#include "pgext/apply_int.h"
#include "pgext/errutil.h"
#include "pgext/guc.h"
#include "pgext/pgcompat.h"

/* Schema-qualified name, quoted as needed, palloc'd. */
static char *
rel_name(Relation rel)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
									  RelationGetRelationName(rel));
}

/* Refuse speaking of a target relation. */
void
sl_refuse_rel(Relation rel, SlMarker marker, const char *column,
			  const char *constraint, const char *detail, const char *hint,
			  const char *fmt,...)
{
	char		msg[1024];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(msg, sizeof(msg), fmt, args);
	va_end(args);
	sl_refuse(&(SlRefusal) {
							.marker = marker,
							.schema = get_namespace_name(RelationGetNamespace(rel)),
							.table = pstrdup(RelationGetRelationName(rel)),
							.column = column, .constraint = constraint,
							.detail = detail, .hint = hint}, "%s", msg);
}

static void
guard_kind(Relation rel)
{
	const char *what = NULL;

	if (rel->rd_rel->relkind == RELKIND_VIEW || rel->rd_rel->relkind == RELKIND_MATVIEW)
		what = "a view";
	else if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		what = "a foreign table";
	else if (rel->rd_rel->relkind != RELKIND_RELATION &&
			 rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		what = "no table";
	else if (IsCatalogRelation(rel) ||
			 RelationGetNamespace(rel) == get_namespace_oid("sluice", true))
		what = "a system table";
	else if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		what = "a table that does not survive a crash";
	else if (rel->rd_rel->relkind == RELKIND_RELATION &&
			 rel->rd_tableam != GetHeapamTableAmRoutine())
		what = "a table of another access method than heap";
	if (what)
		sl_refuse_rel(rel, SL_M_TARGET_KIND_UNSUPPORTED, NULL, NULL, NULL, NULL,
					  "target %s is %s", rel_name(rel), what);
}

/* Core looks a rule up by name only. */
static char *
rule_name(Oid ruleid)
{
	Relation	rewrite = table_open(RewriteRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tup;
	char	   *name = pstrdup("?");

	ScanKeyInit(&key, Anum_pg_rewrite_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ruleid));
	scan = systable_beginscan(rewrite, RewriteOidIndexId, true, NULL, 1, &key);
	if (HeapTupleIsValid(tup = systable_getnext(scan)))
		name = pstrdup(NameStr(((Form_pg_rewrite) GETSTRUCT(tup))->rulename));
	systable_endscan(scan);
	table_close(rewrite, AccessShareLock);
	return name;
}

static void
guard_rules(Relation rel)
{
	for (int i = 0; rel->rd_rules && i < rel->rd_rules->numLocks; i++)
	{
		RewriteRule *rule = rel->rd_rules->rules[i];
		char	   *name;

		if (rule->enabled == 'D')
			continue;
		name = rule_name(rule->ruleId);
		sl_refuse_rel(rel, SL_M_TARGET_KIND_UNSUPPORTED, NULL, NULL,
					  psprintf("Rule %s would not be obeyed.", quote_identifier(name)),
					  psprintf("ALTER TABLE %s DISABLE RULE %s;", rel_name(rel),
							   quote_identifier(name)),
					  "target %s has rules", rel_name(rel));
	}
}

static bool
fires_in_replica(const Trigger *t)
{
	return t->tgenabled == TRIGGER_FIRES_ALWAYS ||
		t->tgenabled == TRIGGER_FIRES_ON_REPLICA;
}

/* Does rel have row triggers that fire while changes are applied? */
bool
sl_guard_row_triggers(Relation rel)
{
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
		if (fires_in_replica(&rel->trigdesc->triggers[i]) &&
			TRIGGER_FOR_ROW(rel->trigdesc->triggers[i].tgtype))
			return true;
	return false;
}

/* … or triggers that fire when it is truncated? */
bool
sl_guard_truncate_triggers(Relation rel)
{
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
		if (fires_in_replica(&rel->trigdesc->triggers[i]) &&
			TRIGGER_FOR_TRUNCATE(rel->trigdesc->triggers[i].tgtype))
			return true;
	return false;
}

static bool
trigger_accepted(SlStream *s, Relation rel, const char *trigger)
{
	char	  **accepted = sl_stream_opt_list(s, SL_O_ACCEPT_TRIGGERS);
	char	   *plain = psprintf("%s.%s.%s",
								 get_namespace_name(RelationGetNamespace(rel)),
								 RelationGetRelationName(rel), trigger);
	char	   *quoted = psprintf("%s.%s", rel_name(rel), quote_identifier(trigger));

	for (; *accepted; accepted++)
		if (strcmp(*accepted, plain) == 0 || strcmp(*accepted, quoted) == 0)
			return true;
	return false;
}

static void
guard_triggers(SlStream *s, Relation rel)
{
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger    *t = &rel->trigdesc->triggers[i];

		/*
		 * a deferred one would run at commit, with more than the owner's
		 * rights
		 */
		if (!fires_in_replica(t) ||
			(!t->tgdeferrable && trigger_accepted(s, rel, t->tgname)))
			continue;
		sl_refuse_rel(rel, SL_M_TARGET_TRIGGER, NULL, NULL,
					  psprintf("Trigger %s is enabled %s%s.", quote_identifier(t->tgname),
							   t->tgenabled == TRIGGER_FIRES_ALWAYS ? "ALWAYS" : "REPLICA",
							   t->tgdeferrable ? " and deferrable, which cannot be accepted" : ""),
					  psprintf("ALTER TABLE %s DISABLE TRIGGER %s;", rel_name(rel),
							   quote_identifier(t->tgname)),
					  "trigger %s of target %s would fire while changes are applied",
					  quote_identifier(t->tgname), rel_name(rel));
	}
}

static void
guard_rights(SlStream *s, Relation rel)
{
	Oid			owner = rel->rd_rel->relowner;
	const AclMode needed[] = {ACL_SELECT, ACL_INSERT, ACL_UPDATE, ACL_DELETE};
	const char *names[] = {"SELECT", "INSERT", "UPDATE", "DELETE"};
	char	   *owner_name = GetUserNameFromId(owner, false);

	if (!sl_compat_can_set_role(s->owner, owner))
		sl_refuse_rel(rel, SL_M_TARGET_PERMISSION, NULL, NULL, NULL,
					  psprintf("GRANT %s TO %s;", quote_identifier(owner_name),
							   quote_identifier(GetUserNameFromId(s->owner, false))),
					  "the stream's owner may not act as %s, the owner of target %s",
					  quote_identifier(owner_name), rel_name(rel));
	if (sl_compat_schema_aclcheck(RelationGetNamespace(rel), owner, ACL_USAGE) != ACLCHECK_OK)
		sl_refuse_rel(rel, SL_M_TARGET_PERMISSION, NULL, NULL, NULL,
					  psprintf("GRANT USAGE ON SCHEMA %s TO %s;",
							   quote_identifier(get_namespace_name(RelationGetNamespace(rel))),
							   quote_identifier(owner_name)),
					  "the owner of target %s may not use its schema", rel_name(rel));
	for (int i = 0; i < lengthof(needed); i++)
		if (pg_class_aclcheck(RelationGetRelid(rel), owner, needed[i]) != ACLCHECK_OK)
			sl_refuse_rel(rel, SL_M_TARGET_PERMISSION, NULL, NULL, NULL,
						  psprintf("GRANT %s ON TABLE %s TO %s;", names[i],
								   rel_name(rel), quote_identifier(owner_name)),
						  "the owner of target %s lacks %s on it", rel_name(rel), names[i]);
	if (check_enable_rls(RelationGetRelid(rel), owner, true) == RLS_ENABLED)
		sl_refuse_rel(rel, SL_M_TARGET_PERMISSION, NULL, NULL,
					  "Row-level security applies to the table's owner.",
					  psprintf("ALTER TABLE %s NO FORCE ROW LEVEL SECURITY;", rel_name(rel)),
					  "row-level security of target %s would apply", rel_name(rel));
}

/* Everything that is asked of one open target relation; refuses. */
void
sl_guard_target(SlStream *s, Relation rel)
{
	guard_kind(rel);
	guard_rules(rel);
	guard_rights(s, rel);
	guard_triggers(s, rel);
}

/* The relation a source table's name leads to; InvalidOid when there is none. */
Oid
sl_target_lookup(SlStream *s, const char *schema, const char *table)
{
	Oid			nsp = get_namespace_oid(sl_stream_target_schema(s, schema), true);

	return OidIsValid(nsp) ? get_relname_relid(table, nsp) : InvalidOid;
}

static Oid
target_oid(SlStream *s, const char *schema, const char *table)
{
	Oid			relid = sl_target_lookup(s, schema, table);
	char	   *target_schema;
	char	   *what;

	if (OidIsValid(relid))
		return relid;
	target_schema = sl_stream_target_schema(s, schema);
	what = OidIsValid(get_namespace_oid(target_schema, true))
		? psprintf("target table %s does not exist",
				   quote_qualified_identifier(target_schema, table))
		: psprintf("target schema %s does not exist", quote_identifier(target_schema));
	sl_refuse(&(SlRefusal) {
							.marker = SL_M_TARGET_TABLE_MISSING, .schema = target_schema, .table = table},
			  "%s", what);
}

/* Leaves that are not plain heap tables, before a row is routed to one. */
static void
guard_partitions(SlStream *s, Relation rel)
{
	ListCell   *lc;

	foreach(lc, find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL))
	{
		Relation	part = relation_open(lfirst_oid(lc), NoLock);

		sl_guard_target(s, part);
		relation_close(part, NoLock);
	}
}

Oid
sl_target_resolve(SlStream *s, const char *schema, const char *table)
{
	Oid			relid;
	Relation	rel;

	for (;;)
	{
		relid = target_oid(s, schema, table);
		rel = try_relation_open(relid, AccessShareLock);
		if (rel && relid == target_oid(s, schema, table))
			break;
		if (rel)
			relation_close(rel, AccessShareLock);
	}
	sl_guard_target(s, rel);
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		guard_partitions(s, rel);
	relation_close(rel, NoLock);
	return relid;
}

/* Count a conflict; written with the position (sl_apply_finish). */
void
sl_conflict(SlRelState *rs, SlConflictKind kind, TupleTableSlot *slot)
{
	static const SlCounter counter[] = {
		SL_C_UPDATE_MISSING, SL_C_UPDATE_MISSING, SL_C_DELETE_MISSING,
	SL_C_INSERT_EXISTS, SL_C_IDENTITY_FALLBACK};
	MemoryContext old = MemoryContextSwitchTo(rs->ap->xactcxt);
	SlRelMap   *map = rs->map;

	map->nconflicts[kind]++;
	if (map->conflict_key[kind])
		pfree(map->conflict_key[kind]);
	map->conflict_key[kind] = sl_key_text(rs, slot);
	rs->ap->delta[counter[kind]]++;
	MemoryContextSwitchTo(old);
}

/* Key of the change in hand, as it came; it may be what cannot be read. */
static char *
change_key(SlApply *ap)
{
	SlRelMap   *map = ap->at_state->map;
	const SlChange *c = ap->at_change;
	const SlRow *row = c->old_kind != 0 ? &c->oldrow : &c->newrow;
	StringInfoData names;
	StringInfoData values;

	initStringInfo(&names);
	initStringInfo(&values);
	for (int i = 0; i < row->ncells && i < map->shape->ncols && values.len < 900; i++)
	{
		const SlCell *cell = &row->cells[i];

		if (!map->cols[i].key || (map->full && map->ninskeys > 0 &&
								  (map->shape->cols[i].flags & SL_COL_PRIMARY) == 0))
			continue;
		appendStringInfo(&names, "%s%s", names.len ? ", " : "", map->shape->cols[i].name);
		appendStringInfoString(&values, values.len ? ", " : "");
		if (cell->kind == SL_CELL_TEXT && pg_verifymbstr(cell->data, cell->len, true))
			appendBinaryStringInfo(&values, cell->data,
								   pg_mbcliplen(cell->data, cell->len, 200));
		else
			appendStringInfoString(&values, cell->kind == SL_CELL_NULL ? "null" : "?");
	}
	return psprintf("(%s)=(%s)", names.data, values.data);
}

/* A line of DETAIL; the server's log may have keys only if it is told so. */
static char *
key_line(SlApply *ap)
{
	if (!sl_guc_log_keys)
		return pstrdup("The row's key is not shown (sluice.log_keys is off).");
	return psprintf("Key %s.", change_key(ap));
}

/* The labels of an enum here, which the source may have more of. */
static char *
labels_line(Oid type)
{
	StringInfoData buf;
	CatCList   *list;

	type = getBaseType(type);
	if (get_typtype(type) != TYPTYPE_ENUM)
		return "";
	initStringInfo(&buf);
	list = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_enum label = (Form_pg_enum) GETSTRUCT(&list->members[i]->tuple);

		appendStringInfo(&buf, "%s%s", i ? ", " : "Its labels here: ",
						 quote_literal_cstr(NameStr(label->enumlabel)));
	}
	ReleaseCatCacheList(list);
	appendStringInfoString(&buf, ".\n");
	return buf.data;
}

static char *
enum_hint(Oid type)
{
	type = getBaseType(type);
	if (get_typtype(type) != TYPTYPE_ENUM)
		return NULL;
	return psprintf("Do here what was done on the source, ALTER TYPE %s ADD VALUE or RENAME VALUE, then call sync_start.",
					format_type_be_qualified(type));
}

static void
refuse_value(SlApply *ap, Relation rel, const ErrorData *e)
{
	SlRelMap   *map = ap->at_state->map;

	if (ap->at_column >= 0)
	{
		const SlColumn *col = &map->shape->cols[ap->at_column];
		char	   *type = format_type_with_typemod(map->cols[ap->at_column].typid,
													map->cols[ap->at_column].typmod);

		sl_refuse_rel(rel, SL_M_VALUE_UNREPRESENTABLE, col->name, NULL,
					  psprintf("Type %s raised SQLSTATE %s.\n%s%s", type,
							   unpack_sql_state(e->sqlerrcode),
							   labels_line(map->cols[ap->at_column].typid), key_line(ap)),
					  enum_hint(map->cols[ap->at_column].typid), "a value of column %s cannot be stored in target %s",
					  quote_identifier(col->name), rel_name(rel));
	}
	sl_refuse_rel(rel, SL_M_VALUE_UNREPRESENTABLE, e->column_name, NULL,
				  psprintf("SQLSTATE %s.\n%s", unpack_sql_state(e->sqlerrcode),
						   key_line(ap)),
				  NULL, "a row cannot be stored in target %s", rel_name(rel));
}

/* Is the violated constraint the key that rows are found by? */
static bool
is_identity(SlRelState *rs, const char *constraint)
{
	return constraint && rs->look.index && rs->look.inserts &&
		strcmp(RelationGetRelationName(rs->look.index), constraint) == 0;
}

static void
refuse_unique(SlApply *ap, Relation rel, const ErrorData *e)
{
	const char *name = e->constraint_name ? e->constraint_name : "?";

	sl_refuse_rel(rel, SL_M_UNIQUE_CONFLICT_OTHER_ROW, NULL, name,
				  psprintf("%s%s", key_line(ap),
						   is_identity(ap->at_state, name)
						   ? "\nThe key belongs to another row of the target." : ""),
				  NULL, "another row of target %s holds a value of unique key %s",
				  rel_name(rel), quote_identifier(name));
}

static void
refuse_constraint(SlApply *ap, Relation rel, const ErrorData *e)
{
	char	   *what = pstrdup("a constraint");

	if (e->sqlerrcode == ERRCODE_NOT_NULL_VIOLATION && e->column_name)
		what = psprintf("NOT NULL of column %s", quote_identifier(e->column_name));
	else if (e->constraint_name)
		what = psprintf("constraint %s", quote_identifier(e->constraint_name));
	else if (ERRCODE_TO_CATEGORY(e->sqlerrcode) != ERRCODE_TO_CATEGORY(ERRCODE_CHECK_VIOLATION))
		what = pstrdup("what its code demands");
	sl_refuse_rel(rel, SL_M_CONSTRAINT_VIOLATED, e->column_name, e->constraint_name,
				  psprintf("SQLSTATE %s.\n%s", unpack_sql_state(e->sqlerrcode),
						   key_line(ap)),
				  NULL, "a row of the source violates %s of target %s", what, rel_name(rel));
}

static void
refuse_permission(SlApply *ap, Relation rel)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
		if (fires_in_replica(&rel->trigdesc->triggers[i]))
			appendStringInfo(&names, " %s",
							 quote_identifier(rel->trigdesc->triggers[i].tgname));
	sl_refuse_rel(rel, SL_M_TARGET_PERMISSION, NULL, NULL,
				  psprintf("Rows are applied with the rights of %s, restricted.%s%s",
						   quote_identifier(GetUserNameFromId(rel->rd_rel->relowner, false)),
						   names.len ? " Triggers that fire:" : "", names.data),
				  NULL, "code that runs for rows of target %s lacks a permission",
				  rel_name(rel));
}

/*
 * An insert that did not look for its key met it.  The feeder comes again, with
 * looks up to the end of this source transaction.
 */
static void
look_next_time(SlApply *ap, Relation rel)
{
	SpinLockAcquire(&ap->slot->mutex);
	ap->slot->careful_until = ap->in_hand;
	SpinLockRelease(&ap->slot->mutex);
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("a row stands in the way of one that is inserted into target %s: its batch is applied once more, looking for each",
					rel_name(rel))));
}

/*
 * Called in PG_CATCH around one row: what the target cannot take becomes a
 * refusal that tells the object but no value; anything else goes on as it is.
 * The target transaction is lost either way.  An insert that met its own key
 * after the look for it had missed raced with another session: that is
 * retried.  One that did not look fails its group, which is applied again.
 */
void
sl_row_error(SlApply *ap, bool inserting)
{
	int			code = geterrcode();
	int			category = ERRCODE_TO_CATEGORY(code);
	SlRelState *rs = ap->at_state;
	ErrorData  *e;
	Relation	rel;

	if (rs == NULL ||
		(category != ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION) &&
		 category != ERRCODE_TO_CATEGORY(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION) &&
		 category != ERRCODE_TO_CATEGORY(ERRCODE_PROGRAM_LIMIT_EXCEEDED) &&
		 category != ERRCODE_TO_CATEGORY(ERRCODE_RAISE_EXCEPTION) &&
		 code != ERRCODE_NAME_TOO_LONG &&
		 code != ERRCODE_INSUFFICIENT_PRIVILEGE))
		PG_RE_THROW();

	MemoryContextSwitchTo(ap->xactcxt);
	e = CopyErrorData();
	FlushErrorState();
	rel = rs->rel;
	if (code == ERRCODE_INSUFFICIENT_PRIVILEGE)
		refuse_permission(ap, rel);
	if (code == ERRCODE_UNIQUE_VIOLATION && inserting && !ap->unlooked &&
		is_identity(rs, e->constraint_name))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("another session wrote a row of target %s with the key of one being inserted",
						rel_name(rel))));
	if (code == ERRCODE_UNIQUE_VIOLATION && inserting && ap->unlooked && ap->feed)
		look_next_time(ap, rel);
	if (code == ERRCODE_UNIQUE_VIOLATION)
		refuse_unique(ap, rel, e);
	if (category == ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION) ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_PROGRAM_LIMIT_EXCEEDED) ||
		code == ERRCODE_NAME_TOO_LONG)
		refuse_value(ap, rel, e);
	refuse_constraint(ap, rel, e);
	pg_unreachable();
}
