/*
 * feed_answer.h
 *	  What feed_open tells a feeder besides its token.
 */
#ifndef SL_FEED_ANSWER_H
#define SL_FEED_ANSWER_H

#include "pgext/source.h"

/* Recorded tables with their shapes, as a jsonb array. */
extern Datum sl_feed_tables(const char *stream_id);

/* Keywords and values of a source, a jsonb object that holds the secret. */
extern Datum sl_feed_connection_of(const SlSource *src);

/* Those of the source's server and the owner's mapping, a jsonb object that holds the secret. */
extern Datum sl_feed_connection(const SlStream *s);

/* Scope, schemas and options of the stream, a jsonb object. */
extern Datum sl_feed_configuration(const SlStream *s);

/*
 * ERROR 55000 unless nobody can listen to this session's connection: a unix
 * socket, the machine itself, TLS, or encryption by GSSAPI.  Rule: sql-api, "What
 * the bridge calls": a secret goes over it.
 */
extern void sl_feed_require_private(void);

#endif							/* SL_FEED_ANSWER_H */
