/*
 * key.h
 *	  The key by which a table is copied in pieces: its values as text that the
 *	  target keeps, and as conditions of the source.
 *
 * A key serves when the source orders it by an index, and when a value read
 * can be compared again exactly: no floating point, no prefixes of text, no
 * labels (which an index orders by number, a comparison by text).
 */
#ifndef BR_KEY_H
#define BR_KEY_H

#include "bridge/catalog.h"
#include "common/sl_record.h"

/* How a value is written. */
typedef enum BrKeyForm
{
	BR_KEY_INTEGER,				/* decimal digits */
	BR_KEY_DECIMAL,
	BR_KEY_DATE,				/* as the server prints it */
	BR_KEY_TIME,
	BR_KEY_DATETIME,
	BR_KEY_TEXT,				/* hexadecimal, in the column's character set */
	BR_KEY_BYTES,				/* hexadecimal */
	BR_KEY_WORD					/* UUID, addresses: as the server prints it */
} BrKeyForm;

typedef struct BrKeyPart
{
	const BrColumn *col;
	BrKeyForm	form;
} BrKeyPart;

typedef struct BrKey
{
	const BrTable *table;
	const char *index;			/* its name on the source */
	int			n;
	BrKeyPart  *parts;
} BrKey;

#define BR_KEY_MAX_PARTS	32	/* of an index; the servers allow 16 and 32 */

/* A key's values, or those of its first n parts: digits and words as above. */
typedef struct BrKeyValues
{
	int			n;
	char	   *values[BR_KEY_MAX_PARTS];
} BrKeyValues;

/* The key of a table by which it can be copied in pieces; NULL = there is none.  palloc'd. */
extern BrKey *br_key_find(const BrTable *t);

/* Values of a row as a JSON array of texts; cells as many as parts, in order.  False (err) for a value that is none. */
extern bool br_key_text(const BrKey *key, const MxCell *const *cells, StringInfo out, SlError *err);

/*
 * Back from that text, checked value by value: nothing else may come from the target into a statement of the source.
 * NULL is no value at all (n = 0).  Values are palloc'd.
 */
extern bool br_key_parse(const BrKey *key, const char *text, BrKeyValues *v, SlError *err);

/* Append names of the key's columns, quoted, comma separated. */
extern void br_key_columns(const BrKey *key, StringInfo sql);

/* Append " FORCE INDEX (…)" (or another hint), so that rows come by the index and not by a sort. */
extern void br_key_hint(const BrKey *key, const char *hint, StringInfo sql);

/* Append a condition: rows behind the values, or up to them inclusively; nothing for no values. */
extern void br_key_behind(const BrKey *key, const BrKeyValues *v, StringInfo sql);
extern void br_key_up_to(const BrKey *key, const BrKeyValues *v, StringInfo sql);

#endif							/* BR_KEY_H */
