/*
 * follow_int.h
 *	  Between the files that follow a binary log.
 *
 * follow_group, follow_row, follow_table and follow_check make records of
 * events and do no I/O: BrFlow is what they work on, and what they cannot go on
 * with is a BrStop.  follow_feed hands the records over, follow_start finds the
 * place to begin at, follow_catalog knows the source's tables (follow_layout.h),
 * and follow is the loop around them.
 */
#ifndef BR_FOLLOW_INT_H
#define BR_FOLLOW_INT_H

#include "bridge/binlog/decoder.h"
#include "bridge/catalog.h"
#include "bridge/position.h"
#include "bridge/stream.h"
#include "bridge/types/codec.h"
#include "common/sl_record.h"

/* ---------- why it cannot go on: follow_check.c ---------- */

typedef enum BrStopKind
{
	BR_STOP_NONE,
	BR_STOP_FAULT,				/* to be reported: the extension refuses */
	BR_STOP_FAILED,				/* passes by itself: fault.message says it */
	BR_STOP_AGAIN				/* begin at the last position, with what was
								 * learned */
} BrStopKind;

typedef struct BrStop
{
	BrStopKind	kind;
	SlFault		fault;			/* palloc'd texts */
} BrStop;

/* The first stop counts; false, so that callers can return it.  marker NULL: BR_STOP_FAILED. */
extern bool br_stop(BrStop *stop, const char *marker, const char *fmt,...) pg_attribute_printf(3, 4);
extern void br_stop_table(BrStop *stop, const char *database, const char *table, const char *column);
extern void br_stop_hint(BrStop *stop, const char *hint);
extern void br_stop_detail(BrStop *stop, const char *detail);	/* a copy is kept */
extern void br_stop_remedy(BrStop *stop, const char *statement);

/* ---------- what holds of the source's server: follow_facts.c ---------- */

typedef struct BrCollation
{
	uint32		id;
	const char *name;
} BrCollation;

/* What a database gives to tables that say nothing. */
typedef struct BrDatabaseFacts
{
	const char *name;
	const char *charset;
	const char *collation;
} BrDatabaseFacts;

typedef struct BrFacts
{
	bool		mariadb;
	uint32		version;
	int			lower_case_table_names;
	bool		explicit_defaults_for_timestamp;
	const char *utf8mb4_collation;	/* MySQL's default; NULL = not told */
	const char *charset_collations; /* MariaDB's setting; NULL = not told */
	int			ncollations;	/* ordered by id */
	BrCollation *collations;
	int			ndatabases;
	BrDatabaseFacts *databases;
} BrFacts;

/* By questions to the source; NULL: *err.  palloc'd. */
extern BrFacts *br_facts_read(MxConn *c, MxError *err);

/* A collation's name by its number; NULL = it has none.  follow_table.c. */
extern const char *br_collation_name(const BrFacts *facts, uint32 id);

/* ---------- tables: follow_table.c ---------- */

typedef struct BrFlowColumn
{
	const BrColumn *def;
	int			cell;			/* place among the carried columns; -1 = not
								 * carried */
	bool		key;
	MyTarget	target;
	MyCodec    *codec;			/* NULL = not carried */
} BrFlowColumn;

typedef struct BrFlowTable
{
	const BrTable *def;
	SlShape    *shape;			/* of the carried columns, in order */
	bool		keyed;			/* rows are found by the key's columns */
	bool		inserts_only;	/* no key, and by option nothing but inserts */
	bool		transactional;	/* a rollback takes its rows back */
	int			ncols;			/* of the source */
	BrFlowColumn *cols;
	SlCell	   *oldcells;		/* as many as are carried */
	SlCell	   *newcells;
	BlCell	   *before;			/* as many as the source has */
	BlCell	   *after;
	uint64		from;			/* rows below are in the table's copy */
	uint64		window;			/* rows below may be, and may have another
								 * shape, of a table that was altered then */
	bool		unproven;		/* … whose rows are in no copy */
	bool		rows_before;	/* some below window were sent */
	const BrFacts *facts;		/* names of collations; NULL = not held
								 * against the log's */
	uint64		bound;			/* serial of the map that the codecs fit; 0 =
								 * none was seen */
	int64		announced;		/* where in all of the output; -1 = not */
} BrFlowTable;

/*
 * From its definition and the shape of its carried columns, by name.  NULL and
 * *stop where a column has no codec.  targets, policies: one for each column of def; those that are not carried are not looked at.
 */
extern BrFlowTable *br_flow_table(const BrTable *def, SlShape *shape, const MyTarget *targets,
								  const MyPolicy *policies, BrStop *stop);
extern void br_flow_table_free(BrFlowTable *t);

/* Does the map say what the definition says?  Binds the codecs.  *stop: what differs (DEFERRED-SCHEMA-CHANGE). */
extern bool br_flow_bind(BrFlowTable *t, const BlTableMap *map, BrStop *stop);

/* ---------- events to records ---------- */

/* An event: its offset, and within a payload its number. */
typedef struct BrPlace
{
	uint64		pos;
	int			item;
} BrPlace;

/* A savepoint of the group in hand. */
typedef struct BrSavepoint
{
	char	   *name;
	char	   *file;
	int64		at;				/* in all of the output; -1 = before anything
								 * of the group */
	BrPlace		place;			/* of its event */
	int			nrows;			/* rows of tables without transactions before
								 * it */
} BrSavepoint;

/* The events of a file behind one and up to another were taken back later. */
typedef struct BrUndone
{
	char	   *file;
	BrPlace		from;
	BrPlace		to;
	struct BrUndone *next;
} BrUndone;

struct BrFlow;

/* A statement that may change tables. */
typedef struct BrStatement
{
	const BlQuery *query;
	const char *text;			/* in UTF-8, zero-terminated */
	size_t		len;
	bool		whole;			/* false: bytes that were no text are '?' */
} BrStatement;

/*
 * What the flow asks of its owner.  table: is it followed, and what is it; false at a
 * stop; *t NULL = not followed.
 */
typedef struct BrFlowOwner
{
	void	   *arg;
	bool		(*table) (void *arg, const char *database, const char *name, BrFlowTable **t, BrStop *stop);
	/* put what it does to followed tables; false: f->stop */
	bool		(*statement) (void *arg, struct BrFlow *f, const BrStatement *st);
	/* may a statement with that default database change a followed table? */
	bool		(*touches) (void *arg, const char *database, const char *sql, size_t len);
} BrFlowOwner;

typedef enum BrGroupKind
{
	BR_GROUP_NONE,
	BR_GROUP_OPEN,				/* its first statement decides */
	BR_GROUP_TRANSACTION,
	BR_GROUP_SINGLE,			/* ends with its statement */
	BR_GROUP_XA
} BrGroupKind;

typedef struct BrGroup
{
	BrGroupKind kind;
	uint64		lsn;			/* of its first event */
	bool		has_gtid;
	BlGtid		gtid;
	int64		stamp;			/* as BrPosition has it */
	uint8		alter;			/* BlAlter */
	int64		time;			/* of the commit, microseconds since 2000; 0 =
								 * not known yet */
	int64		at;				/* where its begin record is in all of the
								 * output; -1 = none */
	int			nrows;			/* of tables without transactions */
	bool		touched;		/* it has rows of a followed table, be they
								 * passed over */
	int			nsavepoints;
	BrSavepoint *savepoints;
} BrGroup;

/* An XA transaction that is prepared: follow_xa.c. */
typedef struct BrPrepared
{
	char	   *name;			/* br_xa_name */
	char	   *file;			/* where its group begins */
	uint64		pos;
	bool		ours;			/* it may change followed tables */
} BrPrepared;

/* While a prepared group is read again: what the flow goes back to. */
typedef struct BrReplay
{
	BlDecoder  *decoder;
	char		file[BR_LOG_NAME];
	uint64		pos;
	uint64		event_pos;
	int			item;
	int64		time;
	bool		begun;			/* its first event was read */
	bool		ended;			/* … and its last */
} BrReplay;

#define BR_MAP_SLOTS	256

typedef struct BrMapSlot
{
	uint64		serial;			/* of the map; 0 = none */
	BrFlowTable *table;			/* NULL = not followed */
} BrMapSlot;

typedef struct BrFlow
{
	BrFlowOwner owner;
	bool		mariadb;
	bool		verify;			/* checksums */
	BlDecoder  *decoder;
	BrPosition	at;				/* behind the last whole group */
	uint64		start;			/* lsn: groups below it were not to come */
	bool		moved;			/* at is behind what the output says */
	char		file[BR_LOG_NAME];	/* that is read */
	uint64		pos;			/* behind the event in hand */
	uint64		event_pos;		/* of the event in hand */
	int			item;			/* of the items of the event in hand, the last */
	BrGroup		group;
	StringInfo	out;			/* records: whole groups, then the one in hand */
	int			whole;			/* bytes of out that are whole groups */
	int64		base;			/* bytes of output before out */
	int64		settled;		/* output up to there cannot be taken back */
	int			commit;			/* where the last commit record begins in out;
								 * -1 = none */
	SlCommit	committed;		/* that record, without its position */
	uint64		lsn;			/* of the stream once out is applied */
	int64		time;			/* of the last event, microseconds since 2000 */
	bool		discarded;		/* settled output of a group is void: roll
								 * back */
	bool		relayed;		/* the output has a layout that a statement
								 * made: its answer is waited for */
	BrMapSlot	maps[BR_MAP_SLOTS];
	BrFlowTable **announced;	/* tables whose shape is in the output */
	int			nannounced;
	int			room_announced;
	StringInfoData scratch;		/* values of the row in hand */
	BrUndone   *undone;			/* learned before; outlives the flow */
	const struct BrWatch *watch;	/* watch.h; NULL = nothing */
	int			nprepared;
	int			room_prepared;
	BrPrepared *prepared;		/* XA transactions */
	char	   *due;			/* the one that the group in hand commits, and
								 * that is to be read again; NULL = none */
	BrReplay   *replay;			/* while it is */
	uint64		copied;			/* end of the log when the copy was complete;
								 * 0 = long ago */
	BrStop		stop;
	uint64		nrows;			/* counted */
	uint64		ngroups;
} BrFlow;

/* ---------- follow_group.c ---------- */

/* at is copied; verify: checksums. */
extern BrFlow *br_flow_create(const BrFlowOwner *owner, bool mariadb, bool verify,
							  const BrPosition *at, uint64 start);
extern void br_flow_free(BrFlow *f);

/* One event.  False: f->stop. */
extern bool br_flow_event(BrFlow *f, const char *data, size_t len);

/* Between groups? */
extern bool br_flow_is_between(const BrFlow *f);

/* ---------- follow_output.c ---------- */

/* A place in the log as a number (0 = none), that of the position, and the end of all output. */
extern uint64 br_flow_lsn_of(const BrFlow *f, const char *file, uint64 pos);
extern uint64 br_flow_lsn(const BrFlow *f);
extern int64 br_flow_end(const BrFlow *f);

/* Complete the last commit record of out with its position: before it is handed over.  False at a stop. */
extern bool br_flow_seal(BrFlow *f);

/*
 * A heartbeat with the position, where it has moved since out said one; again: also where it has not, as a
 * sign that the source is quiet.  Between groups only.
 */
extern bool br_flow_heartbeat(BrFlow *f, bool again);

/* Another batch begins: the first n bytes of out were handed over, and this stands before the rest. */
extern void br_flow_handed(BrFlow *f, int n, const char *head, int len);

/* The target forgot the shapes that were announced. */
extern void br_flow_forget_shapes(BrFlow *f);

extern bool br_flow_put(BrFlow *f, const SlRecord *rec);

/* Make sure that the group in hand has begun in the output, and the table's shape is there. */
extern bool br_flow_begin(BrFlow *f, BrFlowTable *t);

/* All of the output from at on is void. */
extern void br_flow_cut(BrFlow *f, int64 at);

/* "binlog.000003:4711" of the event in hand. */
extern char *br_flow_place(const BrFlow *f);

/* follow_row.c: the rows of an event. */
extern bool br_flow_rows(BrFlow *f, BrFlowTable *t, BlRows *rows, const BlTableMap *map);

/* follow_statement.c: a QUERY event. */
extern bool br_flow_statement(BrFlow *f, const BlQuery *q);
extern bool br_flow_load(BrFlow *f, const char *database, const char *sql, size_t len);

/* ---------- follow_group.c, for statements: the group in hand ends, or goes back ---------- */

/* The time of a GTID's event that is the same in every server's log: BrPosition.stamp. */
extern int64 br_gtid_stamp(const BlItem *item);

extern bool br_flow_commit(BrFlow *f);
extern bool br_flow_rollback(BrFlow *f);
extern bool br_flow_savepoint(BrFlow *f, const char *name);
extern bool br_flow_rollback_to(BrFlow *f, const char *name);

/* Its changes are void, the log is passed: rolled back, or only prepared. */
extern bool br_flow_take_back(BrFlow *f);

/* ---------- XA transactions: follow_xa.c ---------- */

/* As the servers write it, X'gtrid',X'bqual',format: of an XA_PREPARE, and of XA COMMIT (NULL: there is none).  palloc'd. */
extern char *br_xa_name(const BlItem *item);
extern char *br_xa_name_of_statement(const char *sql, size_t len);

/* What is known of one; NULL = nothing.  Valid until another is added or forgotten. */
extern BrPrepared *br_flow_prepared(const BrFlow *f, const char *name);
extern void br_flow_add_prepared(BrFlow *f, const char *name, const char *file, uint64 pos, bool ours);
extern void br_flow_forget_prepared(BrFlow *f, const char *name);

/* The group in hand ends prepared; it is the one that commits one or rolls it back (then f->due may be set). */
extern bool br_flow_prepare(BrFlow *f, const BlItem *item);
extern bool br_flow_end_prepared(BrFlow *f, const BlQuery *q, bool commit);

/* f->due needs nothing more: commit the group in hand. */
extern bool br_flow_settle_due(BrFlow *f);

/*
 * The events that come next are those of the prepared group, as part of the one in hand, until f->replay->ended;
 * then br_flow_end_replay.
 */
extern void br_flow_replay(BrFlow *f, const BrPrepared *p);
extern void br_flow_end_replay(BrFlow *f);

/* For follow_group: a GTID, and what ends a group, while it is read. */
extern bool br_flow_replay_begins(BrFlow *f);
extern bool br_flow_replay_ends(BrFlow *f, const BlItem *item);

/* ---------- words of a statement: follow_words.c ---------- */

typedef struct BrWords
{
	const char *p;
	const char *end;
	bool		quoted;			/* the word was quoted */
	bool		dotted;			/* a point follows the word */
	char		word[256];		/* without quotes; cut where it is longer */
} BrWords;

extern void br_words_init(BrWords *w, const char *sql, size_t len);

/* Does the statement only begin or end a group? */
extern bool br_words_idle(const char *sql, size_t len);

/* The next word or name; false at the end.  Comments and strings are passed over. */
extern bool br_words_next(BrWords *w);
extern bool br_words_is(const BrWords *w, const char *keyword);

/* Is name (bytes, any case) a word of the statement? */
extern bool br_words_have(const char *sql, size_t len, const char *name);

/* ---------- the source's tables: follow_catalog.c ---------- */

typedef struct BrFollowed BrFollowed;

/* c (may be NULL) becomes its own. */
extern BrFollowed *br_followed_create(BrStream *s, MxConn *c);
extern void br_followed_free(BrFollowed *d);
extern BrFlowOwner br_followed_owner(BrFollowed *d);

/* flush hands over what is whole; false: why is the feed's. */
extern void br_followed_flushes(BrFollowed *d, bool (*flush) (void *arg), void *arg);

/*
 * Another flow begins: what the target has no layout of is read from the catalog and put.  Once f is where it begins.  False:
 * *stop.
 */
extern bool br_followed_begin(BrFollowed *d, BrFlow *f, BrStop *stop);

/*
 * Now and then, between groups: hold the layouts against the source's catalog, where that is due (from the beginning, and
 * behind a statement) and the flow has come as far as the log was when it was read.  False: *stop.
 */
extern bool br_followed_look(BrFollowed *d, BrStop *stop);

/* A session for questions to the source, connected anew where that is needed; NULL: *stop. */
extern MxConn *br_followed_source(BrFollowed *d, BrStop *stop);

/* The end of the source's log now, as a number; files: as in BrPosition.  False: *stop. */
extern bool br_log_end(MxConn *c, int64 files, uint64 *lsn, BrStop *stop);

/* ---------- what the stream has not come to yet: follow_ahead.c ---------- */

typedef struct BrAhead BrAhead;

extern BrAhead *br_ahead_create(BrStream *s);
extern void br_ahead_free(BrAhead *a);

/*
 * Read the statements of the log from at, which is from as a number, up to to, unless they were read before.  What only begins or
 * ends a group is none.  False: *stop.
 */
extern bool br_ahead_read(BrAhead *a, const BrPosition *at, uint64 from, uint64 to, BrStop *stop);

/* Of those behind from and up to to, the end of the last one that has the table's name among its words; 0 = none has. */
extern uint64 br_ahead_names(const BrAhead *a, const char *table, uint64 from, uint64 to);

/* ---------- where to begin: follow_start.c ---------- */

/*
 * From the stream's position (NULL: the end of the log as it is) to a request for
 * the log, and at, which its caller frees.  False: *stop.
 */
extern bool br_start_find(BrStream *s, MxConn *c, BrPosition *at, MxDump *dump, BrStop *stop);

/* Stops with the markers of a log that is not what the stream needs. */
extern bool br_stop_purged(BrStop *stop, const char *what);
extern bool br_stop_behind(BrStop *stop, const char *what);

/* A set, and what of a is not in b, as texts that are cut where they are long. */
extern char *br_gtids_text(const BlGtidSet *set);
extern char *br_gtids_missing(const BlGtidSet *a, const BlGtidSet *b);

/* MySQL: the source must have all that was applied, and still hold all that was not. */
extern bool br_start_sets(const BrPosition *at, const MxServer *server, BrStop *stop);

/* MariaDB: the source must know each domain's position. */
extern bool br_start_known(const BrPosition *at, const MxServer *server, BrStop *stop);

/* What an error of the dump means. */
extern void br_start_refused(const BrStream *s, const MxError *err, BrStop *stop);

/* A failure of the source that passes by itself, or the account's. */
extern bool br_stop_source(BrStop *stop, const MxError *err);

/* ---------- batches: follow_feed.c ---------- */

#define BR_FEED_DEPTH	4		/* batches that are in flight at most */
#define BR_FEED_BATCH	(64 * 1024)
#define BR_FEED_LARGE	(4 * 1024 * 1024)	/* a source transaction of more is
											 * fed in parts */

typedef struct BrFeed
{
	BrStream   *s;
	BrTarget   *t;
	BrFlow	   *flow;
	StringInfoData head;		/* what a batch begins with */
	int			flying;
	bool		in_block;		/* a source transaction is fed in parts */
	bool		stop;			/* asked for */
	bool		owes;			/* values are to be copied (debt.h) */
	int64		catch_up;		/* ticket that is asked for; 0 = none */
	int64		answered;		/* the last one that was answered */
	int64		sent;			/* when a batch was sent last, milliseconds */
	bool		ended;			/* *out says how */
	BrOutcome  *out;
	struct BrVerifier *verifier;	/* gets requests of verify; NULL = nobody */
} BrFeed;

/* The first batch, with nothing but its header, is waited for.  False: *out. */
extern bool br_feed_init(BrFeed *fd, BrStream *s, BrTarget *t, BrFlow *flow, BrOutcome *out);

/* After an event: hand over what is enough for a batch.  False: *out. */
extern bool br_feed_event(BrFeed *fd);

/* Hand over what is whole, a batch with nothing else where there is nothing. */
extern bool br_feed_flush(BrFeed *fd);

/* Anything whole that was not handed over? */
extern bool br_feed_has_whole(const BrFeed *fd);

/* What is to be warned of goes behind what is whole: between groups, and sealed. */
extern void br_feed_warnings(BrFeed *fd);

/* Results that are there; with wait all that are to come. */
extern bool br_feed_results(BrFeed *fd, bool wait);

/* Answer a request of sync_wait. */
extern bool br_feed_answer(BrFeed *fd, int64 ticket);

/* follow_prepared.c: what the group in hand commits (f->due), from the log.  False: *stop, or fd->ended. */
extern bool br_feed_prepared(BrFeed *fd, BrStop *stop);

/* Leave the pipeline, and what was not committed behind. */
extern void br_feed_end(BrFeed *fd);

#endif							/* BR_FOLLOW_INT_H */
