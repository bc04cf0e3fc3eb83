/*
 * gate_int.h
 *	  What the files of the gate share.
 */
#ifndef SL_GATE_INT_H
#define SL_GATE_INT_H

#include "catalog/pg_proc.h"
#include "nodes/parsenodes.h"
#include "utils/hsearch.h"

#include "pgext/gate.h"

/* Bytes [start, end) of the text that was parsed. */
typedef struct SlGateToken
{
	int			start;
	int			end;
} SlGateToken;

typedef struct SlGateEdit
{
	int			start;
	int			end;
	char	   *text;
} SlGateEdit;

/* One text on its way through the gate. */
typedef struct SlGateText
{
	const char *text;			/* as parsed: prefix and the source's text */
	int			prefix;			/* bytes of ours before it */
	SlGateToken *tokens;
	int			ntokens;
	List	   *edits;			/* of SlGateEdit *, by no order */
} SlGateText;

struct SlGate
{
	const SlStream *s;
	HTAB	   *allowed;		/* of AllowedKey, gate.c */
	bool		existing;		/* what the target has is allowed too */

	/* of the text at hand */
	SlGateText *t;
	bool		subqueries;		/* policies may look into tables */
	char	   *fault;			/* the first one */
	char		missing;		/* kind of what it misses, 0 = nothing */
	char	   *missing_schema; /* on the target */
	char	   *missing_name;
};

/*
 * Note what is not allowed, unless something was noted before.  Always true,
 * which is what a walker returns to stop.
 */
extern bool sl_gate_fault(SlGate *g, const char *fmt,...) pg_attribute_printf(2, 3);

/* Quoted name of one or two parts, for a fault. */
extern char *sl_gate_show(const char *schema, const char *name);

/* Was the object announced by sl_gate_allow, or may it be named all the same? */
extern bool sl_gate_is_allowed(const SlGate *g, char kind, const char *schema,
							   const char *name);

/* gate_existing.c: has the target it, of an owner that is trusted? */
extern bool sl_gate_exists(const SlGate *g, char kind, const char *schema,
						   const char *name);

/*
 * Why an object that is not allowed is not: "which is not part of the stream".
 * Notes what is missing.
 */
extern const char *sl_gate_why(SlGate *g, char kind, const char *schema,
							   const char *name);

/* Errors that are not the text's: out of memory, cancelled … */
extern bool sl_gate_error_is_ours(int sqlerrcode);

/* gate_text.c: each sets a fault and returns true when it cannot. */
extern bool sl_gate_scan(SlGate *g);
extern bool sl_gate_edit_name(SlGate *g, int location, const char *schema,
							  const char *name, const char *target);
extern bool sl_gate_edit_literal(SlGate *g, int location, const char *value);

/*
 * Rewrite schema.name wherever it stands after the token given (NULL: after
 * any but a dot), for names whose node has no location.
 */
extern void sl_gate_edit_every(SlGate *g, const char *after, const char *schema,
							   const char *name, const char *target);
extern char *sl_gate_edited(const SlGate *g);

/* gate_name.c: true with a fault when the name is not allowed. */
extern bool sl_gate_function(SlGate *g, List *names, int location);
extern bool sl_gate_field(SlGate *g, const char *name);
extern bool sl_gate_operator(SlGate *g, List *names);
extern bool sl_gate_collation(SlGate *g, List *names);
extern bool sl_gate_opclass(SlGate *g, List *names, const char *method);
extern bool sl_gate_type_name(SlGate *g, const TypeName * type);
extern bool sl_gate_relation(SlGate *g, const RangeVar * rv);

/* gate_const.c: constants that name objects, and nextval. */
extern bool sl_gate_reg_cast(SlGate *g, const TypeCast * cast);
extern bool sl_gate_nextval(SlGate *g, const FuncCall * call);

/* gate_member.c: objects of the listed extensions. */

/*
 * Schema on this server in which an extension of the list has an object of
 * that name: src_schema where it has it there.  NULL with *why set (a clause)
 * when there is none, or when somebody else's stands beside it.
 */
typedef enum SlMemberKind
{
	SL_MEMBER_FUNCTION, SL_MEMBER_OPERATOR, SL_MEMBER_TYPE
} SlMemberKind;
extern char *sl_gate_member(SlGate *g, SlMemberKind kind, const char *src_schema,
							const char *name, const char **why);

/* Is the object of a listed extension, and its owner trusted? */
extern bool sl_gate_is_member(SlGate *g, Oid classid, Oid objid, Oid owner);

/* May PUBLIC execute it? */
extern bool sl_gate_proc_public(HeapTuple tup);

/* Volatile functions that are allowed all the same. */
extern bool sl_gate_volatile_ok(const char *name);

/* gate_walk.c: an expression or list of them. */
extern bool sl_gate_walk(Node *node, SlGate *g);

/* gate_statement.c */
extern bool sl_gate_walk_statement(SlGate *g, Node *stmt);
extern bool sl_gate_walk_bound(SlGate *g, PartitionBoundSpec * bound);

#endif							/* SL_GATE_INT_H */
