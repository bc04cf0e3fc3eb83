/*
 * kind.h
 *	  The registry of event kinds: every kind that MySQL 5.7 to 9 and MariaDB
 *	  10.6 to 12 can write or send, and what each may hold.
 *
 * Rule: MySQL source "Log_event_type", MariaDB source "Log_event_type".  A
 * kind whose class is not BL_CLASS_INERT must be understood or stop the
 * stream; one that is not here at all likewise, unless its header says that
 * it may be ignored.
 */
#ifndef BL_KIND_H
#define BL_KIND_H

#include "bridge/binlog/event.h"

typedef enum BlClass
{
	BL_CLASS_CHANGES,			/* rows, or statements that change something */
	BL_CLASS_CONTROL,			/* of files, groups and their ends */
	BL_CLASS_STATEMENT,			/* what a logged statement needs beside its
								 * text */
	BL_CLASS_INERT				/* cannot hold changes: ignored by its name */
} BlClass;

/* BL_KIND(number, name, writers, class): writers are MYSQL, MARIADB or BOTH */
#define BL_KINDS(BL_KIND) \
	BL_KIND(1, START_V3, BOTH, CONTROL) \
	BL_KIND(2, QUERY, BOTH, CHANGES) \
	BL_KIND(3, STOP, BOTH, CONTROL) \
	BL_KIND(4, ROTATE, BOTH, CONTROL) \
	BL_KIND(5, INTVAR, BOTH, STATEMENT) \
	BL_KIND(6, LOAD, BOTH, CHANGES) \
	BL_KIND(7, SLAVE, BOTH, CONTROL) \
	BL_KIND(8, CREATE_FILE, BOTH, CHANGES) \
	BL_KIND(9, APPEND_BLOCK, BOTH, STATEMENT) \
	BL_KIND(10, EXEC_LOAD, BOTH, CHANGES) \
	BL_KIND(11, DELETE_FILE, BOTH, STATEMENT) \
	BL_KIND(12, NEW_LOAD, BOTH, CHANGES) \
	BL_KIND(13, RAND, BOTH, STATEMENT) \
	BL_KIND(14, USER_VAR, BOTH, STATEMENT) \
	BL_KIND(15, FORMAT_DESCRIPTION, BOTH, CONTROL) \
	BL_KIND(16, XID, BOTH, CONTROL) \
	BL_KIND(17, BEGIN_LOAD_QUERY, BOTH, STATEMENT) \
	BL_KIND(18, EXECUTE_LOAD_QUERY, BOTH, CHANGES) \
	BL_KIND(19, TABLE_MAP, BOTH, CHANGES) \
	BL_KIND(20, PRE_GA_WRITE_ROWS, BOTH, CHANGES) \
	BL_KIND(21, PRE_GA_UPDATE_ROWS, BOTH, CHANGES) \
	BL_KIND(22, PRE_GA_DELETE_ROWS, BOTH, CHANGES) \
	BL_KIND(23, WRITE_ROWS_V1, BOTH, CHANGES) \
	BL_KIND(24, UPDATE_ROWS_V1, BOTH, CHANGES) \
	BL_KIND(25, DELETE_ROWS_V1, BOTH, CHANGES) \
	BL_KIND(26, INCIDENT, BOTH, CONTROL) \
	BL_KIND(27, HEARTBEAT, BOTH, CONTROL) \
	BL_KIND(28, IGNORABLE, BOTH, INERT) \
	BL_KIND(29, ROWS_QUERY, BOTH, INERT) \
	BL_KIND(30, WRITE_ROWS_V2, BOTH, CHANGES) \
	BL_KIND(31, UPDATE_ROWS_V2, BOTH, CHANGES) \
	BL_KIND(32, DELETE_ROWS_V2, BOTH, CHANGES) \
	BL_KIND(33, GTID, MYSQL, CONTROL) \
	BL_KIND(34, ANONYMOUS_GTID, MYSQL, CONTROL) \
	BL_KIND(35, PREVIOUS_GTIDS, MYSQL, CONTROL) \
	BL_KIND(36, TRANSACTION_CONTEXT, MYSQL, INERT) \
	BL_KIND(37, VIEW_CHANGE, MYSQL, INERT) \
	BL_KIND(38, XA_PREPARE, BOTH, CONTROL) \
	BL_KIND(39, PARTIAL_UPDATE_ROWS, MYSQL, CHANGES) \
	BL_KIND(40, TRANSACTION_PAYLOAD, MYSQL, CHANGES) \
	BL_KIND(41, HEARTBEAT_V2, MYSQL, CONTROL) \
	BL_KIND(42, GTID_TAGGED, MYSQL, CONTROL) \
	BL_KIND(160, ANNOTATE_ROWS, MARIADB, INERT) \
	BL_KIND(161, BINLOG_CHECKPOINT, MARIADB, INERT) \
	BL_KIND(162, MARIADB_GTID, MARIADB, CONTROL) \
	BL_KIND(163, GTID_LIST, MARIADB, CONTROL) \
	BL_KIND(164, START_ENCRYPTION, MARIADB, CONTROL) \
	BL_KIND(165, QUERY_COMPRESSED, MARIADB, CHANGES) \
	BL_KIND(166, WRITE_ROWS_COMPRESSED_V1, MARIADB, CHANGES) \
	BL_KIND(167, UPDATE_ROWS_COMPRESSED_V1, MARIADB, CHANGES) \
	BL_KIND(168, DELETE_ROWS_COMPRESSED_V1, MARIADB, CHANGES) \
	BL_KIND(169, WRITE_ROWS_COMPRESSED_V2, MARIADB, CHANGES) \
	BL_KIND(170, UPDATE_ROWS_COMPRESSED_V2, MARIADB, CHANGES) \
	BL_KIND(171, DELETE_ROWS_COMPRESSED_V2, MARIADB, CHANGES) \
	BL_KIND(172, PARTIAL_ROW_DATA, MARIADB, CHANGES)

#define BL_KIND_NUMBER(number, name, writers, class) BL_EV_##name = (number),
typedef enum BlEventKind
{
	BL_KINDS(BL_KIND_NUMBER)
	BL_EV_COUNT					/* one past the highest */
} BlEventKind;

#undef BL_KIND_NUMBER

typedef struct BlKindInfo
{
	const char *name;			/* as "WRITE_ROWS_V2"; NULL = no such kind */
	BlClass		class;
	bool		mysql;			/* a MySQL server writes or sends it */
	bool		mariadb;
} BlKindInfo;

/* What is known of a kind in a log of that flavor; NULL = no server of it writes this. */
extern const BlKindInfo *bl_kind_info(BlFlavor flavor, uint8 kind);

#endif							/* BL_KIND_H */
