/*
 * gate.c
 *	  The gate for text of a source's catalog: parsing, and its entry points.
 *
 * NOTES
 *	  A text is read three times: its encoding is verified, it is split into
 *	  tokens, and it is parsed by this server's parser as exactly one
 *	  expression, type or statement.  Then the tree is walked by a list of what
 *	  may be in it; a node that is not on the list is a fault.  Parsing and
 *	  walking take no lock and no resource that outlives an error, so an error
 *	  of theirs is caught without a subtransaction.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

/* Longer texts are no expressions that a person wrote. */
#define MAX_TEXT (1024 * 1024)

typedef struct AllowedKey
{
	char		kind;			/* of sl_gate_allow; 'n' a schema */
	NameData	schema;
	NameData	name;
} AllowedKey;

static AllowedKey
allowed_key(char kind, const char *schema, const char *name)
{
	AllowedKey	key;

	memset(&key, 0, sizeof(key));
	key.kind = kind;
	namestrcpy(&key.schema, schema);
	namestrcpy(&key.name, name);
	return key;
}

/* See gate.h. */
SlGate *
sl_gate_create(const SlStream *s)
{
	SlGate	   *g = palloc0(sizeof(SlGate));
	HASHCTL		ctl = {0};

	g->s = s;
	ctl.keysize = sizeof(AllowedKey);
	ctl.entrysize = sizeof(AllowedKey);
	ctl.hcxt = CurrentMemoryContext;
	g->allowed = hash_create("sluice allowed names", 256, &ctl,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return g;
}

/* See gate.h. */
void
sl_gate_allow(SlGate *g, char kind, const char *src_schema, const char *name)
{
	AllowedKey	key = allowed_key(kind, src_schema, name);
	AllowedKey	nsp = allowed_key('n', src_schema, "");

	/* a longer name would be cut off, and so be another's */
	if (strlen(src_schema) >= NAMEDATALEN || strlen(name) >= NAMEDATALEN)
		return;
	hash_search(g->allowed, &key, HASH_ENTER, NULL);
	hash_search(g->allowed, &nsp, HASH_ENTER, NULL);
}

/* See gate.h. */
void
sl_gate_allow_existing(SlGate *g)
{
	g->existing = true;
}

/* See gate.h. */
bool
sl_gate_missing(const SlGate *g, char *kind, char **schema, char **name)
{
	*kind = g->missing;
	*schema = g->missing_schema;
	*name = g->missing_name;
	return g->missing != 0;
}

/* See gate_int.h. */
bool
sl_gate_is_allowed(const SlGate *g, char kind, const char *schema, const char *name)
{
	AllowedKey	key = allowed_key(kind, schema, name);

	return hash_search(g->allowed, &key, HASH_FIND, NULL) != NULL ||
		(g->existing && sl_gate_exists(g, kind, schema, name));
}

/* See gate_int.h. */
char *
sl_gate_show(const char *schema, const char *name)
{
	StringInfoData buf;

	initStringInfo(&buf);
	if (schema)
	{
		sl_append_ident(&buf, schema);
		appendStringInfoChar(&buf, '.');
	}
	sl_append_ident(&buf, name);
	return buf.data;
}

/* See gate_int.h. */
bool
sl_gate_fault(SlGate *g, const char *fmt,...)
{
	char	   *msg;
	va_list		args;

	if (g->fault)
		return true;
	va_start(args, fmt);
	msg = sl_vpsprintf(fmt, args);
	va_end(args);
	/* a parser's message quotes the text */
	for (char *c = msg; *c; c++)
		if ((unsigned char) *c < 0x20 || *c == 0x7f)
			*c = '?';
	g->fault = msg;
	return true;
}

/* See gate_int.h. */
bool
sl_gate_error_is_ours(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case MAKE_SQLSTATE('5', '3', '0', '0', '0'):	/* resources */
		case MAKE_SQLSTATE('5', '7', '0', '0', '0'):	/* cancelled */
		case MAKE_SQLSTATE('5', '8', '0', '0', '0'):	/* system */
		case MAKE_SQLSTATE('X', 'X', '0', '0', '0'):	/* internal */
			return true;
		default:
			return false;
	}
}

typedef bool (*WalkFn) (SlGate *g, List *raw, void *arg);

/* Everything that may raise an error because of the text. */
static void
parse_and_walk(SlGate *g, RawParseMode mode, WalkFn walk, void *arg)
{
	List	   *raw;

	if (sl_gate_scan(g))
		return;
	raw = raw_parser(g->t->text, mode);
	if (list_length(raw) != 1)
		sl_gate_fault(g, "is not one statement");
	else
		walk(g, raw, arg);
}

/*
 * One text through the gate.  What it says of itself must hold whatever this
 * session has set.
 */
static char *
pass(SlGate *g, const char *prefix, const char *text, RawParseMode mode,
	 WalkFn walk, void *arg, char **fault)
{
	MemoryContext cxt = CurrentMemoryContext;
	bool		strings = standard_conforming_strings;
	SlGateText	t = {0};

	*fault = NULL;
	g->t = &t;
	g->fault = NULL;
	g->missing = 0;
	if (strlen(text) > MAX_TEXT)
		sl_gate_fault(g, "is longer than %d bytes", MAX_TEXT);
	else if (!pg_verifymbstr(text, strlen(text), true))
		sl_gate_fault(g, "is not valid in encoding %s", GetDatabaseEncodingName());
	if (g->fault == NULL)
	{
		t.prefix = strlen(prefix);
		t.text = psprintf("%s%s", prefix, text);
		PG_TRY();
		{
			standard_conforming_strings = true;
			parse_and_walk(g, mode, walk, arg);
			standard_conforming_strings = strings;
		}
		PG_CATCH();
		{
			ErrorData  *edata;

			standard_conforming_strings = strings;
			MemoryContextSwitchTo(cxt);
			edata = CopyErrorData();
			if (sl_gate_error_is_ours(edata->sqlerrcode))
				PG_RE_THROW();
			FlushErrorState();
			sl_gate_fault(g, "cannot be read by this server: %s", edata->message);
		}
		PG_END_TRY();
	}
	g->t = NULL;
	*fault = g->fault;
	if (g->fault)
		return NULL;
	g->t = &t;
	text = sl_gate_edited(g);
	g->t = NULL;
	return unconstify(char *, text);
}

/* A SELECT list of one column without a name, and nothing else. */
static bool
walk_expr(SlGate *g, List *raw, void *arg)
{
	RawStmt    *stmt = linitial_node(RawStmt, raw);
	SelectStmt *select = (SelectStmt *) stmt->stmt;
	ResTarget  *target;

	if (!IsA(select, SelectStmt) || select->op != SETOP_NONE ||
		list_length(select->targetList) != 1 || select->distinctClause ||
		select->intoClause || select->fromClause || select->whereClause ||
		select->groupClause || select->havingClause || select->windowClause ||
		select->valuesLists || select->sortClause || select->limitOffset ||
		select->limitCount || select->lockingClause || select->withClause)
		return sl_gate_fault(g, "is not one expression");
	target = linitial_node(ResTarget, select->targetList);
	if (target->name || target->indirection)
		return sl_gate_fault(g, "is not one expression");
	return sl_gate_walk(target->val, g);
}

/* See gate.h. */
char *
sl_gate_expr(SlGate *g, const char *expr, char **fault)
{
	g->subqueries = false;
	return pass(g, "", expr, RAW_PARSE_PLPGSQL_EXPR, walk_expr, NULL, fault);
}

static bool
walk_type(SlGate *g, List *raw, void *arg)
{
	return sl_gate_walk((Node *) linitial_node(TypeName, raw), g);
}

/* See gate.h. */
char *
sl_gate_type(SlGate *g, const char *type, char **fault)
{
	g->subqueries = false;
	return pass(g, "", type, RAW_PARSE_TYPE_NAME, walk_type, NULL, fault);
}

static bool
walk_statement(SlGate *g, List *raw, void *arg)
{
	Node	   *stmt = linitial_node(RawStmt, raw)->stmt;

	if (nodeTag(stmt) != *(NodeTag *) arg)
		return sl_gate_fault(g, "is another kind of statement");
	return sl_gate_walk_statement(g, stmt);
}

/* See gate.h. */
char *
sl_gate_statement(SlGate *g, NodeTag tag, const char *sql, char **fault)
{
	char	   *result;

	g->subqueries = tag == T_CreatePolicyStmt;
	result = pass(g, "", sql, RAW_PARSE_DEFAULT, walk_statement, &tag, fault);
	g->subqueries = false;
	return result;
}

/* ALTER TABLE ... ATTACH PARTITION ... with the bound, and nothing else. */
static bool
walk_bound(SlGate *g, List *raw, void *arg)
{
	AlterTableStmt *stmt = (AlterTableStmt *) linitial_node(RawStmt, raw)->stmt;
	AlterTableCmd *cmd;

	if (!IsA(stmt, AlterTableStmt) || list_length(stmt->cmds) != 1)
		return sl_gate_fault(g, "is not one partition bound");
	cmd = linitial_node(AlterTableCmd, stmt->cmds);
	if (cmd->subtype != AT_AttachPartition || cmd->def == NULL ||
		!IsA(cmd->def, PartitionCmd))
		return sl_gate_fault(g, "is not one partition bound");
	return sl_gate_walk_bound(g, ((PartitionCmd *) cmd->def)->bound);
}

/* See gate.h. */
char *
sl_gate_bound(SlGate *g, const char *bound, char **fault)
{
	g->subqueries = false;
	return pass(g, "ALTER TABLE a ATTACH PARTITION b ", bound, RAW_PARSE_DEFAULT,
				walk_bound, NULL, fault);
}

/* See gate.h. */
bool
sl_gate_trusts_owner(const SlStream *s, Oid owner)
{
	return owner == s->owner || superuser_arg(owner) ||
		is_member_of_role_nosuper(s->owner, owner);
}

/* See gate.h. */
bool
sl_gate_trusts_schema(const SlStream *s, Oid nsp)
{
	HeapTuple	tup = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(nsp));
	HeapTuple	db;
	Oid			owner;
	Oid			dba;

	if (!HeapTupleIsValid(tup))
		return false;
	owner = ((Form_pg_namespace) GETSTRUCT(tup))->nspowner;
	ReleaseSysCache(tup);
	db = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (!HeapTupleIsValid(db))
		return false;
	dba = ((Form_pg_database) GETSTRUCT(db))->datdba;
	ReleaseSysCache(db);
	return owner == dba || owner == ROLE_PG_DATABASE_OWNER ||
		sl_gate_trusts_owner(s, owner);
}
