/*
 * pgtype.h
 *	  PostgreSQL's types by their names, as far as a column of MySQL may become
 *	  one: what type_overrides say.
 *
 * Rule: PostgreSQL documentation "Data Types", table of names and aliases;
 * typmods as the types' typmodin functions make them.
 */
#ifndef MY_PGTYPE_H
#define MY_PGTYPE_H

#include "bridge/types/mytype.h"

typedef enum PgKind
{
	PG_BOOL, PG_INT2, PG_INT4, PG_INT8, PG_NUMERIC, PG_FLOAT4, PG_FLOAT8,
	PG_TEXT, PG_VARCHAR, PG_BPCHAR, PG_BYTEA,
	PG_DATE, PG_TIME, PG_TIMESTAMP, PG_TIMESTAMPTZ, PG_INTERVAL,
	PG_UUID, PG_INET, PG_JSON, PG_JSONB, PG_BIT, PG_VARBIT,
	PG_TEXT_ARRAY, PG_FLOAT4_ARRAY, PG_FLOAT8_ARRAY,
	PG_NAMED					/* any other: an enum, an extension's */
} PgKind;

#define PG_BIT_OF(kind)	(UINT32CONST(1) << (kind))
#ifndef UINT32CONST
#define UINT32CONST(x)	((uint32) (x))
#endif

typedef struct PgType
{
	PgKind		kind;
	int			nargs;			/* numbers in parentheses */
	int32		args[2];
	const char *name;			/* PG_NAMED: as it was written */
} PgType;

/*
 * A type's name in any spelling that PostgreSQL takes ("int8", "TIMESTAMP (3)
 * WITH TIME ZONE", "text[]").  Numbers that such a type cannot have are
 * SL_ERR_UNSUPPORTED.  What is not built in is PG_NAMED and points into text.
 */
extern bool pg_type_parse(const char *text, PgType *type, SlError *err);

/* Its oid (0 = PG_NAMED), typmod and format_type()'s name. */
extern uint32 pg_type_oid(PgKind kind);
extern int32 pg_type_typmod(const PgType *type);
extern void pg_type_name(const PgType *type, char *name, size_t size);

/* The name without numbers, as "character varying". */
extern const char *pg_kind_name(PgKind kind);

/* Which kind a target of my_type_target is. */
extern PgKind pg_kind_of(const MyTarget *target);

#endif							/* MY_PGTYPE_H */
