/*
 * follow_check.c
 *	  Why a binary log cannot be followed further, as a fault for the target.
 */
#include "bridge/follow_int.h"

/* See follow_int.h. */
bool
br_stop(BrStop *stop, const char *marker, const char *fmt,...)
{
	char		text[1024];
	va_list		args;

	if (stop->kind != BR_STOP_NONE)
		return false;
	memset(stop, 0, sizeof(*stop));
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	stop->kind = marker != NULL ? BR_STOP_FAULT : BR_STOP_FAILED;
	stop->fault.marker = marker;
	stop->fault.message = pstrdup(text);
	return false;
}

/* Each of these keeps what was said before: the one who knows most comes first. */

void
br_stop_table(BrStop *stop, const char *database, const char *table, const char *column)
{
	SlFault    *f = &stop->fault;

	if (f->schema == NULL && database != NULL)
		f->schema = pstrdup(database);
	if (f->table == NULL && table != NULL)
		f->table = pstrdup(table);
	if (f->column == NULL && column != NULL)
		f->column = pstrdup(column);
}

void
br_stop_hint(BrStop *stop, const char *hint)
{
	if (stop->fault.hint == NULL)
		stop->fault.hint = pstrdup(hint);
}

void
br_stop_detail(BrStop *stop, const char *detail)
{
	if (stop->fault.detail == NULL)
		stop->fault.detail = pstrdup(detail);
}

void
br_stop_remedy(BrStop *stop, const char *statement)
{
	SlFault    *f = &stop->fault;

	if (f->nremedies == SL_MAX_REMEDIES)
		return;
	f->remedies = f->nremedies == 0 ? palloc(sizeof(char *)) :
		repalloc(f->remedies, sizeof(char *) * (f->nremedies + 1));
	f->remedies[f->nremedies++] = pstrdup(statement);
}
