/*
 * stream.h
 *	  One stream as feed_open describes it.
 */
#ifndef BR_STREAM_H
#define BR_STREAM_H

#include "common/sl_record.h"
#include "bridge/catalog.h"
#include "bridge/mysql/server.h"
#include "bridge/position.h"
#include "bridge/target.h"
#include "bridge/types/mytype.h"

typedef struct BrStreamTable
{
	char	   *schema;			/* the source's database */
	char	   *table;
	char	   *state;
	uint32		relid;			/* its number; 0 = it has none yet */
	char	   *layout;			/* as the bridge has sent it; NULL = never */
	SlShape    *shape;			/* recorded last, names and types only; NULL =
								 * none */
	uint64		lsn;			/* what lies below is in its copy; 0 = nothing */
	uint64		window_lsn;		/* … below that, may be; 0 = lsn */
	bool		whole;			/* it is known that one snapshot gave all of
								 * it */
} BrStreamTable;

/* Of a column that an entry of option zero_date_columns names. */
typedef struct BrColumnPolicy
{
	char	   *column;			/* [database.]table.column, patterns */
	MyPolicy	policy;
} BrColumnPolicy;

typedef struct BrStream
{
	char	   *id;
	const char *conninfo;		/* of the target, for more sessions */
	char	   *token;
	char	   *position;		/* NULL = nothing was applied yet */
	bool		mariadb;		/* by its driver */
	MxParams	source;			/* with the secret: never printed */
	char	   *cluster;		/* which target database: system identifier
								 * and oid */
	uint32		server_id;		/* ours, as a replica of the source; 0 = not
								 * chosen yet */
	const char *server_kind;	/* of the source: "mysql" or "mariadb"; its
								 * driver's until it was reached */
	char	   *server_version; /* NULL until it was reached */
	char	   *server;			/* who the server is that was reached: MySQL's
								 * uuid, "server_id 7" of MariaDB; NULL = not
								 * reached */
	char	   *known;			/* who the target has on record as the source;
								 * NULL = nobody */
	int64		files;			/* of the position that is followed
								 * (position.h) */
	char	   *database;		/* NULL = those of the schema map */
	char	   *target_schema;
	int			nmap;			/* option schema_map */
	char	  **map_from;
	char	  **map_to;
	char	  **include;		/* patterns; NULL = the default */
	char	  **exclude;
	int			noverrides;		/* type_overrides: column pattern and type */
	char	  **override_of;
	char	  **override_to;
	MyPolicy	policy;			/* of columns that none of policies names */
	int			npolicies;
	BrColumnPolicy *policies;
	char	  **accept_cascades;	/* patterns of tables; NULL = none */
	char	  **accept_keyless; /* likewise */
	char	  **insert_only;	/* likewise */
	bool		check_values;	/* option check_values */
	bool		follows;		/* option follow */
	bool		on_update_triggers; /* option on_update_triggers */
	int			copy_workers;
	int64		copy_rate;		/* bytes per second; 0 = no limit */
	char	   *cold;			/* "schema" "data" "finish" "done"; NULL =
								 * none on record */
	bool		settled;		/* in "finish": the stream has passed all
								 * snapshots */
	int			ntables;
	BrStreamTable *tables;
	struct BrWatch *watch;		/* watch.h; NULL = no preflight was made */
	struct BrWarnings *warnings;	/* warning.h; NULL = there were none */
	volatile bool *stop;		/* set by a signal */
	volatile bool *advanced;	/* br_stream_advanced; NULL = nobody asks */
} BrStream;

/* Take the stream on that session.  NULL at a fault. */
extern BrStream *br_stream_open(BrTarget *t, const char *conninfo, const char *id, BrError *err);

/*
 * What the header of a batch says of the source: read them from c.  Nothing is
 * judged: that the kind is not the driver's is for the extension to say.
 */
extern bool br_stream_identify(BrStream *s, MxConn *c, MxError *err);

/*
 * A session of the source (p: s->source, or a copy with other limits), as mx_connect. Once br_stream_identify has said who that
 * is, another server that answers in its place is a failure that passes: what holds of one need not hold of the other.
 */
extern MxConn *br_stream_connect(const BrStream *s, const MxParams *p, bool text_utf8, MxError *err);

/* Append the header record that every batch begins with. */
extern void br_stream_header(const BrStream *s, StringInfo out);

/*
 * Our id among the source's replicas, from 2^31 on: the same each time for one stream of one target database, unless
 * another replica has it already, as far as c's account may look.
 */
extern bool br_stream_choose_id(BrStream *s, MxConn *c, MxError *err);

/* Is a table of the source the stream's?  Rule: sl_pattern.h. */
extern bool br_stream_has(const BrStream *s, const char *database, const char *table);

/* Do its options (accept_cascades) name the table? */
extern bool br_stream_accepts_cascades(const BrStream *s, const char *database, const char *table);

/* Likewise accept_keyless, and insert_only. */
extern bool br_stream_accepts_keyless(const BrStream *s, const char *database, const char *table);
extern bool br_stream_inserts_only(const BrStream *s, const char *database, const char *table);

/* The schema on the target of a database's tables; NULL = it is not the stream's. */
extern const char *br_stream_schema(const BrStream *s, const char *database);

/* The databases in scope, NULL-terminated. */
extern char **br_stream_databases(const BrStream *s);

/*
 * What each of those databases consists of, read from c; *n of them.  NULL at a fault (*err).  As of br_catalog_read, it is
 * freed at the process's end.
 */
extern const BrCatalog **br_stream_catalogs(const BrStream *s, MxConn *c, int *n, MxError *err);

/* Send a batch without changes but with what is to be warned of, and hear whether the stream is to stop.  False when the target did not take it. */
extern bool br_stream_ask(const BrStream *s, BrTarget *t, bool *stop, BrError *err);

/* Send a fault record in a batch of its own; false when the target did not take it (a refusal raised is success). */
extern bool br_stream_fault(BrStream *s, BrTarget *t, const SlFault *fault, BrError *err);

/* Something of the source's is on the target that was not there before: a failure behind it is the first in a row. */
extern void br_stream_advanced(const BrStream *s);

/* How a part ended. */
typedef enum BrEnd
{
	BR_END_STOP,				/* asked to: feed_close 'done' */
	BR_END_REFUSED,				/* feed() raised it: feed_close records it */
	BR_END_FAILED,				/* passes by itself: why says it */
	BR_END_COMPLETE				/* of a cold start: go on */
} BrEnd;

typedef struct BrOutcome
{
	BrEnd		end;
	char		why[1024];		/* a lower case fragment without secrets */
} BrOutcome;

/* How a part ended: the text, printf style. */
extern void br_outcome(BrOutcome *out, BrEnd end, const char *fmt,...) pg_attribute_printf(3, 4);

/* Is a fault of feed() and its like a marker's (sl_marker.h)?  Not where another session holds the stream. */
extern bool br_is_refusal(const BrError *err);

/* What such a fault ends in: BR_END_REFUSED or BR_END_FAILED. */
extern void br_outcome_of(BrOutcome *out, const BrError *err);

/* Release the stream: in whatever state the session is.  Logs how it ended; false when the target was not told. */
extern bool br_stream_close(BrStream *s, BrTarget *t, const BrOutcome *how);

/* Append a log line (printf style) to stderr: time, pid, stream. */
extern void br_log(const BrStream *s, const char *fmt,...) pg_attribute_printf(2, 3);

#endif							/* BR_STREAM_H */
