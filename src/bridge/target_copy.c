/*
 * target_copy.c
 *	  COPY … TO STDOUT on a session on the target.
 */
#include "bridge/target_int.h"

/* See target.h. */
bool
br_target_copy_out(BrTarget *t, const char *sql, BrError *err)
{
	PGresult   *res;

	memset(err, 0, sizeof(*err));
	if (PQsendQuery(t->conn, sql) != 1)
		return br_target_failed(t, NULL, err);
	res = PQgetResult(t->conn);
	if (PQresultStatus(res) == PGRES_COPY_OUT)
	{
		PQclear(res);
		return true;
	}
	do
	{
		if (err->message[0] == '\0')
			br_target_failed(t, res, err);
		PQclear(res);
	} while ((res = PQgetResult(t->conn)) != NULL);
	return false;
}

static void
free_piece(BrTarget *t)
{
	if (t->piece != NULL)
		PQfreemem(t->piece);
	t->piece = NULL;
}

/* See target.h. */
int
br_target_copy_next(BrTarget *t, const char **data, size_t *len, BrError *err)
{
	PGresult   *res;
	int			rc = 0;
	int			n;

	free_piece(t);
	n = PQgetCopyData(t->conn, &t->piece, 0);
	if (n > 0)
	{
		*data = t->piece;
		*len = (size_t) n;
		return 1;
	}
	memset(err, 0, sizeof(*err));
	while ((res = PQgetResult(t->conn)) != NULL)
	{
		if (PQresultStatus(res) != PGRES_COMMAND_OK && rc == 0)
		{
			br_target_failed(t, res, err);
			rc = -1;
		}
		PQclear(res);
	}
	if (n == -2 && rc == 0)
	{
		br_target_failed(t, NULL, err);
		rc = -1;
	}
	return rc;
}
