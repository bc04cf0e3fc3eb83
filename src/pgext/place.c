/*
 * place.c
 *	  Is this the target a stream was started on, or a copy of it?
 *
 * NOTES
 *	  A stream's row records the system identifier, the oids of the database and
 *	  of the control table, and the inode of the data directory's PG_VERSION.
 *	  pg_basebackup, cp and a restore of a backup make a new inode.  So does a
 *	  standby, which is the stream's rightful place once it is promoted: a newer
 *	  timeline tells it apart.  A snapshot of the disk below the file system is
 *	  not told apart here; the slot's position and its user are what is left.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/xlog.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/stream.h"
#include "pgext/pgcompat.h"

typedef struct Place
{
	char	   *sysid;
	Oid			database;
	Oid			control;
	uint64		inode;			/* 0 = not known */
	TimeLineID	timeline;
} Place;

static void
place_here(Place *p)
{
	struct stat st;

	p->sysid = psprintf(UINT64_FORMAT, GetSystemIdentifier());
	p->database = MyDatabaseId;
	p->control = get_relname_relid("stream", get_namespace_oid("sluice", false));
	p->inode = stat("PG_VERSION", &st) == 0 ? (uint64) st.st_ino : 0;
	p->timeline = GetWALInsertionTimeLine();
}

static void
place_recorded(const SlStream *s, Place *p)
{
	const char *id = s->stream_id;
	SlUserSwitch sw;

	p->sysid = s->target_sysid;
	p->database = s->target_database;
	p->control = s->target_control;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("SELECT target_inode, target_timeline FROM sluice.stream"
				" WHERE stream_id = $1", SPI_OK_SELECT, 1, &id);
	p->inode = (uint64) sl_spi_int64(0, 1, NULL);
	p->timeline = (TimeLineID) sl_spi_int64(0, 2, NULL);
	sl_spi_leave();
	sl_become_back(&sw);
}

static void
record_place(const char *stream_id, const Place *p)
{
	const char *params[] = {stream_id, p->sysid,
		psprintf("%u", p->timeline), psprintf("%u", p->database),
		psprintf("%u", p->control), psprintf(INT64_FORMAT, (int64) p->inode)
	};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("UPDATE sluice.stream SET target_sysid = $2,"
				" target_timeline = $3::pg_catalog.int4,"
				" target_database = $4::pg_catalog.oid,"
				" target_control = $5::pg_catalog.oid,"
				" target_inode = $6::pg_catalog.int8,"
				" options = options - 'adopt' WHERE stream_id = $1",
				SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}

static bool
same_place(const Place *was, const Place *is)
{
	return strcmp(was->sysid, is->sysid) == 0 &&
		was->database == is->database && was->control == is->control &&
		(was->inode == is->inode || was->inode == 0 || is->inode == 0 ||
		 is->timeline > was->timeline);
}

void
sl_target_check_place(const SlStream *s)
{
	Place		was;
	Place		is;
	char		fingerprint[13];
	char	   *adopt;
	SlRefusal	r = {.marker = SL_M_TARGET_MOVED};

	place_recorded(s, &was);
	place_here(&is);
	if (same_place(&was, &is))
	{
		if (was.inode != is.inode || was.timeline != is.timeline)
			record_place(s->stream_id, &is);
		return;
	}
	r.detail = psprintf("Recorded: system %s, database %u, control table %u, inode " UINT64_FORMAT ".\n"
						"Here: system %s, database %u, control table %u, inode " UINT64_FORMAT ".",
						was.sysid, was.database, was.control, was.inode,
						is.sysid, is.database, is.control, is.inode);
	sl_refusal_fingerprint(SL_M_TARGET_MOVED, NULL, NULL, NULL, r.detail,
						   InvalidXLogRecPtr, fingerprint);
	adopt = sl_stream_opt_text(s, SL_O_ADOPT);
	if (adopt && strcmp(adopt, fingerprint) == 0)
	{
		record_place(s->stream_id, &is);
		ereport(LOG, (errmsg("stream \"%s\" was adopted by this target", s->stream_id)));
		return;
	}
	r.hint = psprintf("On a copy: SELECT sluice.sync_drop('%s', clean_source => false); "
					  "once the original is gone for good: SELECT sluice.sync_start('%s', options => '{\"adopt\": \"%s\"}');",
					  s->stream_id, s->stream_id, fingerprint);
	sl_refuse(&r, "stream \"%s\" was not started on this target", s->stream_id);
}
