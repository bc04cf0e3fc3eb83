/*
 * gtid_int.h
 *	  What a set of GTIDs is made of; for the files gtid*.c.
 */
#ifndef BL_GTID_INT_H
#define BL_GTID_INT_H

#include "bridge/binlog/gtid.h"

/* Numbers from start up to but not including end, as in the binary form. */
typedef struct GtidInterval
{
	int64		start;
	int64		end;
} GtidInterval;

#define GTID_MAX_NUMBER (PG_INT64_MAX - 1)	/* so that an end fits */

/* MySQL: one uuid and tag; intervals ascend, with gaps between them. */
typedef struct GtidSource
{
	uint8		uuid[16];
	char		tag[BL_TAG_MAX + 1];
	GtidInterval *intervals;
	int			nintervals;
	int			max_intervals;
} GtidSource;

typedef struct GtidServer
{
	uint32		server_id;
	uint64		seqno;
} GtidServer;

/* MariaDB: one domain; its position is the last server's. */
typedef struct GtidDomain
{
	uint32		id;
	GtidServer *servers;
	int			nservers;		/* from 1 */
	int			max_servers;
} GtidDomain;

struct BlGtidSet
{
	bool		mariadb;
	GtidSource *sources;		/* ordered by uuid, then tag; none is empty */
	int			nsources;
	int			max_sources;
	GtidDomain *domains;		/* ordered by id */
	int			ndomains;
	int			max_domains;
};

/* Room for one more at place at of an array of *n; returns the array. */
extern void *gtid_insert(void *array, size_t size, int *n, int *max, int at);

/* gtid_interval.c */
extern void gtid_interval_add(GtidSource *s, int64 start, int64 end);
extern bool gtid_interval_has(const GtidSource *s, int64 start, int64 end);
extern void gtid_interval_minus(const GtidSource *a, const GtidSource *b, GtidSource *out);

/* gtid.c: NULL when it is not there */
extern GtidSource *gtid_find_source(const BlGtidSet *set, const uint8 *uuid, const char *tag);

/* The same, made (without intervals, which the caller adds) when it is not there. */
extern GtidSource *gtid_get_source(BlGtidSet *set, const uint8 *uuid, const char *tag);

/* gtid_domain.c */
extern GtidDomain *gtid_find_domain(const BlGtidSet *set, uint32 id);
extern void gtid_domain_position(const GtidDomain *d, BlGtid *gtid);
extern bool gtid_domain_add(BlGtidSet *set, const BlGtid *gtid, SlError *err);
extern bool gtid_domain_contains(const BlGtidSet *set, const BlGtid *gtid);
extern void gtid_domain_merge(BlGtidSet *set, const GtidDomain *d);

#endif							/* BL_GTID_INT_H */
