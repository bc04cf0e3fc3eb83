/*
 * result.c
 *	  Small results in memory, and SQL text with names and literals in it.
 */
#include "bridge/mysql/conn_int.h"

const char *
mx_value(const MxResult *r, int row, int col)
{
	if (row < 0 || row >= r->nrows || col < 0 || col >= r->ncols)
		return NULL;
	return r->values[(size_t) row * r->ncols + col];
}

int
mx_column(const MxResult *r, const char *name)
{
	for (int i = 0; i < r->ncols; i++)
		if (pg_strcasecmp(r->names[i], name) == 0)
			return i;
	return -1;
}

void
mx_result_free(MxResult *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < (size_t) r->nrows * r->ncols; i++)
		if (r->values[i] != NULL)
			pfree(r->values[i]);
	for (int i = 0; i < r->ncols; i++)
		pfree(r->names[i]);
	pfree(r->values);
	pfree(r->lens);
	pfree(r->names);
	pfree(r);
}
