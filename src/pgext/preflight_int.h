/*
 * preflight_int.h
 *	  What the files of preflight share.
 */
#ifndef SL_PREFLIGHT_INT_H
#define SL_PREFLIGHT_INT_H

#include "pgext/catalog_pg.h"
#include "pgext/plan.h"
#include "pgext/preflight.h"

typedef struct SlPreflight
{
	SlStream   *stream;
	const SlSource *src;
	bool		warm;
	MemoryContext cxt;			/* the caller's: checks and connections */
	List	   *checks;			/* of SlCheck * */

	/* the source, once it was reached */
	SlConn	   *conn;
	char	   *role;			/* current_user there */
	char	   *dbname;
	SlSourceTable *tables;		/* in scope */
	int			ntables;
	SlSourceTable *all;
	int			nall;

	/* the target */
	SlPlan	   *plan;			/* NULL until it was made */
	int			nnot_carried;	/* objects of it that stay behind */
	Oid		   *targets;		/* of tables, 0 = not there or refused */
} SlPreflight;

/* Add one check; detail and fix may be NULL. */
extern void sl_check_add(SlPreflight *p, const char *side, const char *name,
						 bool ok, char *detail, char *fix);

/*
 * Run fn in a subtransaction; the ERROR raised in it, or NULL.  A cancel goes
 * through.
 */
typedef void (*SlTryFn) (SlPreflight *p, void *arg);
extern ErrorData *sl_check_try(SlPreflight *p, SlTryFn fn, void *arg);

/* Same; an ERROR becomes a failed check of that side and name.  False then. */
typedef void (*SlCheckFn) (SlPreflight *p);
extern bool sl_check_run(SlPreflight *p, const char *side, const char *name,
						 SlCheckFn fn);

/* The message and detail of a caught error as one line. */
extern char *sl_check_error_text(const ErrorData *edata);

/* Name that may be pasted: quoted, control characters as U&"\000A". */
extern char *sl_paste_ident(const char *name);
extern char *sl_paste_table(const char *schema, const char *table);
extern char *sl_paste_literal(const char *text);

/* "{1,2,3}": the oids of the tables in scope, for one query on all of them. */
extern char *sl_table_oids(SlPreflight *p);

/* CREATE PUBLICATION for every table in scope, under the stream's name. */
extern char *sl_publication_sql(SlPreflight *p);

extern void sl_check_source_server(SlPreflight *p); /* preflight_source.c */
extern void sl_check_source_login(SlPreflight *p);
extern void sl_check_source_tables(SlPreflight *p); /* preflight_table.c */
extern void sl_check_source_sequences(SlPreflight *p);	/* preflight_sequence.c */
extern void sl_check_publication(SlPreflight *p);	/* preflight_publication.c */
extern void sl_check_target_server(SlPreflight *p); /* preflight_target.c */
extern void sl_check_target_fed(SlPreflight *p);	/* of a stream that no
													 * worker feeds */
extern void sl_check_target_tables(SlPreflight *p);

extern void sl_check_plan(SlPreflight *p);	/* preflight_plan.c */

/* Will the plan build the target of this table of the source, or say why not? */
extern bool sl_plan_has_table(const SlPreflight *p, const char *schema,
							  const char *name);

extern void sl_check_collations(SlPreflight *p);	/* preflight_text.c */
extern void sl_check_encoding(SlPreflight *p, const char *source);

#endif							/* SL_PREFLIGHT_INT_H */
