/*
 * careful_in.h
 *	  Input by text, also for the types whose input function would take a changed
 *	  value without a word.
 *
 * name		cuts what is longer than 63 bytes, as a name of 63 bytes may be
 *			once it is converted to another encoding
 * "char"	takes the first of several bytes.  A byte above 127 comes as \ooo
 *			from 15 and later; from before as itself, and converted to several
 *			bytes where the encodings differ.
 */
#ifndef SL_CAREFUL_IN_H
#define SL_CAREFUL_IN_H

#include "access/tupdesc.h"
#include "fmgr.h"

typedef enum SlCare
{
	SL_CARE_NONE,
	SL_CARE_CHAR,				/* "char", or a domain over it */
	SL_CARE_NAME,				/* name, or a domain over it */
	SL_CARE_INSIDE				/* has one of them inside */
} SlCare;

extern SlCare sl_care_of(Oid type);

/*
 * Input of a type with care: text has len bytes, a zero behind them, and is
 * in the database's encoding except for a lone byte of "char".  Raises
 * 22001 or 22P05 where the value would not be the one meant.
 */
extern Datum sl_careful_in(SlCare care, Oid type, FmgrInfo *in, char *text,
						   size_t len, Oid param, int32 typmod);

/*
 * Put it in place of the input functions of a copy in text form, one for each
 * attribute of desc.  "char" is expected as the number that a cast to integer
 * gives: from a source before 15 a byte above 127 has no text in a copy.
 */
extern void sl_careful_copy(FmgrInfo *in, TupleDesc desc);

/*
 * Put it in place of the receive function of a copy in binary form, for a column
 * whose values come otherwise than as its own type's: as text in the database's
 * encoding, or in the send form of another type, whose text is read then.
 * typid: that built-in type; 0 = text.
 */
extern void sl_careful_receive(FmgrInfo *recv, Oid * param, Form_pg_attribute att, Oid typid);

#endif							/* SL_CAREFUL_IN_H */
