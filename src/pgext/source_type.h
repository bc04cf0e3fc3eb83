/*
 * source_type.h
 *	  What the types of a source are made of.
 *
 * Oids below FirstGenbkiObjectId are assigned by hand in PostgreSQL's own
 * catalog data and mean the same on every server; every other type is known
 * by what the source's catalog says of it.
 */
#ifndef SL_SOURCE_TYPE_H
#define SL_SOURCE_TYPE_H

#include "access/transam.h"

#include "pgext/conn.h"

/* Does the oid name the same type on every server of every release? */
#define SL_TYPE_IS_FIXED(oid) ((oid) != InvalidOid && (oid) < FirstGenbkiObjectId)

typedef struct SlSourceType
{
	Oid			oid;
	char		kind;			/* typtype: b c d e m r */
	bool		array;			/* the array type of its one part */
	bool		sends;			/* has a binary form */
	char	   *schema;
	char	   *name;
	char	   *extension;		/* whose member it is, or NULL */

	/* base of a domain, element, subtype, live attributes in order */
	int			nparts;
	Oid		   *part;
	int32	   *part_typmod;
	char	  **part_name;		/* of attributes, else NULL */
	char	  **part_text;		/* type as format_type writes it */
} SlSourceType;

typedef struct SlSourceTypes
{
	int			n;
	SlSourceType *types;
} SlSourceTypes;

/*
 * The types of the shape's columns that are not fixed, and all that they are
 * made of; palloc'd.  c reads the source's catalog (an ordinary connection, in
 * any transaction); it is asked only where there is such a type.
 */
extern SlSourceTypes *sl_source_types(SlConn *c, const SlShape *shape);

/* NULL when the source has no such type any more, or its oid is fixed. */
extern const SlSourceType *sl_source_type(const SlSourceTypes *set, Oid oid);

#endif							/* SL_SOURCE_TYPE_H */
