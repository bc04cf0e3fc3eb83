/*
 * hooks.c
 *	  What would strand a stream is refused.
 *
 * NOTES
 *	  The hook is core's own on the drop of an object, so that every way to it
 *	  is covered: DROP EXTENSION, DROP OWNED, a CASCADE.  When an extension
 *	  goes, its tables go first, so it is the table of streams that is watched.
 *	  A plain DROP is looked at before core does, whose own complaint about
 *	  what depends on the object would send the user to CASCADE.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_foreign_server.h"
#include "commands/dbcommands.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "pgext/errutil.h"
#include "pgext/hooks.h"
#include "pgext/shmem.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

static object_access_hook_type prev_hook = NULL;
static ProcessUtility_hook_type prev_utility = NULL;

static void refuse(const char *names, const char *hint, const char *what)
			SL_NORETURN;

static void
refuse(const char *names, const char *hint, const char *what)
{
	SlRefusal	r = {.marker = SL_M_STREAM_EXISTS};

	r.detail = psprintf("Streams: %s.", names);
	r.hint = hint;
	sl_refuse(&r, "cannot %s while streams need it", what);
}

static Oid
control_table(void)
{
	Oid			nsp = get_namespace_oid("sluice", true);

	return OidIsValid(nsp) ? get_relname_relid("stream", nsp) : InvalidOid;
}

static Oid
table_owner(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Oid			owner = rel->rd_rel->relowner;

	table_close(rel, AccessShareLock);
	return owner;
}

/* The table of streams goes: it must be empty.  Read without its indexes. */
static void
check_control_table(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	StringInfoData names;

	initStringInfo(&names);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		d = slot_getattr(slot, 1, &isnull);

		appendStringInfo(&names, "%s%s", names.len ? ", " : "", TextDatumGetCString(d));
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	if (names.len)
		refuse(names.data, "SELECT sluice.sync_stop(stream_id, wait => true), sluice.sync_drop(stream_id) FROM sluice.health;",
			   "drop extension \"sluice\"");
}

/* Streams of this database for which a condition on $1 holds, or NULL. */
static char *
streams_where(const char *condition, const char *param)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	char	   *names;

	if (!OidIsValid(MyDatabaseId) || !OidIsValid(control_table()))
		return NULL;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec(psprintf("SELECT pg_catalog.string_agg(stream_id, ', ' ORDER BY stream_id)"
						 " FROM sluice.stream WHERE %s", condition),
				SPI_OK_SELECT, 1, &param);
	names = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return names;
}

/* Streams that shared memory knows, of a database or of an owner, or NULL. */
static char *
streams_shared(Oid dboid, Oid owner)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < sl_shmem_nslots(); i++)
	{
		SlSlot	   *slot = sl_shmem_slot(i);
		char		id[SL_STREAM_ID_MAX + 1];
		bool		hit;

		SpinLockAcquire(&slot->mutex);
		hit = slot->in_use &&
			(OidIsValid(dboid) ? slot->dboid == dboid : slot->owner == owner);
		strlcpy(id, slot->stream_id, sizeof(id));
		SpinLockRelease(&slot->mutex);
		if (hit)
			appendStringInfo(&names, "%s%s", names.len ? ", " : "", id);
	}
	return names.len ? names.data : NULL;
}

static void
check_database(Oid dboid)
{
	char	   *names = streams_shared(dboid, InvalidOid);
	char	   *name = get_database_name(dboid);

	if (names)
		refuse(names, psprintf("In database \"%s\": SELECT sluice.sync_stop(stream_id, wait => true), sluice.sync_drop(stream_id) FROM sluice.health;", name),
			   psprintf("drop database \"%s\"", name));
}

static void
check_role(Oid role)
{
	char	   *names = streams_shared(InvalidOid, role);

	if (names == NULL)
		names = streams_where("owner::pg_catalog.oid = $1::pg_catalog.oid",
							  psprintf("%u", role));
	if (names)
		refuse(names, "Drop the streams of the role first: sluice.sync_drop() in their databases.",
			   psprintf("drop role \"%s\"", GetUserNameFromId(role, false)));
}

static void
check_server(Oid serverid, const char *verb)
{
	ForeignServer *server = GetForeignServer(serverid);
	char	   *names = streams_where("source_server = $1", server->servername);

	if (names)
		refuse(names, "SELECT sluice.sync_stop(stream_id, wait => true), sluice.sync_drop(stream_id) FROM sluice.health;",
			   psprintf("%s server \"%s\"", verb, server->servername));
}

static void
at_object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId,
				 void *arg)
{
	if (prev_hook)
		prev_hook(access, classId, objectId, subId, arg);
	if (access != OAT_DROP || subId != 0)
		return;
	switch (classId)
	{
		case RelationRelationId:
			if (objectId == control_table())
				check_control_table(objectId);
			break;
		case ForeignServerRelationId:
			check_server(objectId, "drop");
			break;
		case DatabaseRelationId:
			check_database(objectId);
			break;
		case AuthIdRelationId:
			check_role(objectId);
			break;
		default:
			break;
	}
}

/* DROP EXTENSION and DROP SERVER by somebody who may. */
static void
check_drop(const DropStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->objects)
	{
		char	   *name = strVal(lfirst(lc));
		Oid			control = control_table();

		if (stmt->removeType == OBJECT_EXTENSION && strcmp(name, "sluice") == 0)
		{
			if (OidIsValid(control) && has_privs_of_role(GetUserId(), table_owner(control)))
				check_control_table(control);
		}
		else if (stmt->removeType == OBJECT_FOREIGN_SERVER)
		{
			ForeignServer *server = GetForeignServerByName(name, true);

			if (server && has_privs_of_role(GetUserId(), server->owner))
				check_server(server->serverid, "drop");
		}
	}
}

/* A stream knows its source by the server's name. */
static void
check_rename(const RenameStmt *stmt)
{
	ForeignServer *server = GetForeignServerByName(strVal(stmt->object), true);

	if (server && has_privs_of_role(GetUserId(), server->owner))
		check_server(server->serverid, "rename");
}

static void
at_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree,
		   ProcessUtilityContext context, ParamListInfo params,
		   QueryEnvironment *env, DestReceiver *dest, QueryCompletion *qc)
{
	Node	   *node = pstmt->utilityStmt;

	if (IsA(node, DropStmt) &&
		(castNode(DropStmt, node)->removeType == OBJECT_EXTENSION ||
		 castNode(DropStmt, node)->removeType == OBJECT_FOREIGN_SERVER))
		check_drop(castNode(DropStmt, node));
	if (IsA(node, RenameStmt) &&
		castNode(RenameStmt, node)->renameType == OBJECT_FOREIGN_SERVER)
		check_rename(castNode(RenameStmt, node));
	if (prev_utility)
		prev_utility(pstmt, query, read_only_tree, context, params, env, dest, qc);
	else
		standard_ProcessUtility(pstmt, query, read_only_tree, context, params,
								env, dest, qc);
}

void
sl_hooks_init(void)
{
	prev_utility = ProcessUtility_hook;
	ProcessUtility_hook = at_utility;
	prev_hook = object_access_hook;
	object_access_hook = at_object_access;
}
