/*
 * type_record.h
 *	  The types of the source that a stream's tables use, as last judged
 *	  (control table sluice.source_type).  In a transaction.
 */
#ifndef SL_TYPE_RECORD_H
#define SL_TYPE_RECORD_H

/* A type of users: enum, composite or domain. */
typedef struct SlTypeRecord
{
	Oid			source;			/* oid on the source */
	Oid			target;			/* … and here */
	char	   *schema;			/* on the source */
	char	   *name;
	char		kind;			/* typtype: e c d */
	char	   *definition;		/* of types_pg.c */
} SlTypeRecord;

/* All of a stream's; returns their number. */
extern int	sl_type_records(const char *stream_id, SlTypeRecord **types);

/* Insert, or replace the one of the oid. */
extern void sl_type_record_put(const char *stream_id, const SlTypeRecord *t);

extern void sl_type_record_delete(const char *stream_id, Oid source);

/* Forget all, as every table is copied anew. */
extern void sl_type_records_clear(const char *stream_id);

#endif							/* SL_TYPE_RECORD_H */
