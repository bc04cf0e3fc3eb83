/*
 * nameindex.h
 *	  Find one of many tables by name or oid, without looking at all of them.
 */
#ifndef SL_NAMEINDEX_H
#define SL_NAMEINDEX_H

typedef struct SlNameIndex SlNameIndex;

/*
 * For about n entries, in the current memory context.  Names are not copied:
 * they must live as long as the index.
 */
extern SlNameIndex *sl_name_index_create(int n);

/*
 * Entry i (of the caller's array, 0 or more).  Of two entries of one name, or
 * of one oid, the first counts.  InvalidOid, or a NULL name, is no key.
 */
extern void sl_name_index_add(SlNameIndex *x, const char *schema, const char *name,
							  Oid relid, int i);

/* The entry, or -1. */
extern int	sl_name_index_find(const SlNameIndex *x, const char *schema,
							   const char *name);
extern int	sl_name_index_find_oid(const SlNameIndex *x, Oid relid);

#endif							/* SL_NAMEINDEX_H */
