/*
 * preflight_cascade.c
 *	  Foreign keys that change rows of a table of the stream: are these changes
 *	  in the log?
 *
 * Rule: MariaDB's InnoDB, and MySQL's before 9.6 or with
 * innodb_native_foreign_keys, do them below the log.  MySQL 9.6 and later do
 * them as statements would, and say so of each rows event (MySQL manual
 * "Replication and Foreign Keys").
 */
#include "bridge/preflight_int.h"
#include "bridge/watch.h"

static void
append_columns(StringInfo buf, const char *const *columns, int n)
{
	appendStringInfoChar(buf, '(');
	for (int i = 0; i < n; i++)
	{
		if (i > 0)
			appendStringInfoString(buf, ", ");
		mx_append_ident(buf, columns[i]);
	}
	appendStringInfoChar(buf, ')');
}

/* The same foreign key, which refuses what would cascade. */
static char *
restrict_statements(const BrTable *t, const BrForeignKey *fk)
{
	char	   *name = br_preflight_name(t);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "ALTER TABLE %s DROP FOREIGN KEY ", name);
	mx_append_ident(&buf, fk->name);
	appendStringInfo(&buf, "; ALTER TABLE %s ADD CONSTRAINT ", name);
	mx_append_ident(&buf, fk->name);
	appendStringInfoString(&buf, " FOREIGN KEY ");
	append_columns(&buf, fk->columns, fk->ncols);
	appendStringInfoString(&buf, " REFERENCES ");
	mx_append_table(&buf, fk->ref_database, fk->ref_table);
	append_columns(&buf, fk->ref_columns, fk->ncols);
	appendStringInfoString(&buf, "; -- the application deletes and updates the referencing rows itself then; "
						   "or leave the table out by exclude_tables");
	return buf.data;
}

/* See preflight_int.h. */
void
br_preflight_cascade(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	for (int i = 0; i < t->nfks; i++)
	{
		const BrForeignKey *fk = &t->fks[i];
		bool		deletes = br_action_writes(fk->on_delete);
		bool		accepted = br_stream_accepts_cascades(p->s, t->database, t->name);

		if (!deletes && !br_action_writes(fk->on_update))
			continue;
		if (p->logs_cascades)
		{
			/* the log may have been written by a server that is set otherwise */
			if (p->s->watch != NULL && !accepted)
				br_watch_add(p->s->watch, t, fk, deletes, br_action_writes(fk->on_update));
			continue;
		}
		br_check_add(p->out, "foreign_key_cascade", !accepted, false,
					 psprintf("%s, foreign key \"%s\" is ON %s %s: this server's log does not have the rows that it changes%s",
							  br_preflight_name(t), fk->name, deletes ? "DELETE" : "UPDATE",
							  deletes ? fk->on_delete : fk->on_update,
							  accepted ? " (accepted: they stay as they are on the target)" : ""),
					 mx_is_mariadb(p->c) || mx_version(p->c) < 90600 ? restrict_statements(t, fk) :
					 pstrdup("-- in the server's option file, then restart it: innodb_native_foreign_keys = OFF"));
	}
}
