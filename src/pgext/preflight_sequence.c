/*
 * preflight_sequence.c
 *	  Preflight: the source's sequences, whose values are read at the end of
 *	  the copy.
 */
#include "postgres.h"

#include "common/sl_shape.h"
#include "pgext/preflight_int.h"
#include "pgext/sequence_pg.h"
#include "pgext/pgcompat.h"

/* See preflight_int.h. */
void
sl_check_source_sequences(SlPreflight *p)
{
	SlSequence *seqs;
	int			n = sl_pg_sequences(p->conn, p->stream, p->tables, p->ntables, &seqs);
	StringInfoData names;
	int			closed = 0;

	initStringInfo(&names);
	for (int i = 0; i < n; i++)
		if (!seqs[i].has_value)
			appendStringInfo(&names, "%s%s", closed++ ? ", " : "",
							 sl_show_table(seqs[i].schema, seqs[i].name));
	if (closed == 0)
		sl_check_add(p, "source", "sequences", true, NULL, NULL);
	else
		sl_check_add(p, "source", "sequences", false,
					 psprintf("the role may not read %s", names.data),
					 sl_pg_sequence_grants(p->conn, seqs, n));
}
