/*
 * feedback.h
 *	  What is confirmed to a PostgreSQL source, and when.
 *
 * Law (design, "One commit"): what is confirmed is never ahead of what is
 * durable here.
 */
#ifndef SL_FEEDBACK_H
#define SL_FEEDBACK_H

#include "pgext/conn.h"

/* Commits of ours that are not known to be flushed yet. */
#define SL_FEEDBACK_PAIRS 1024

typedef struct SlCommitPair
{
	XLogRecPtr	remote_end;		/* source position that is safe with … */
	XLogRecPtr	local_end;		/* … this much of our WAL flushed */
} SlCommitPair;

typedef struct SlFeedback
{
	SlConn	   *repl;
	XLogRecPtr	received;		/* all of the source up to here has arrived */
	XLogRecPtr	applied;		/* committed here */
	XLogRecPtr	flushed;		/* durable here */
	TimestampTz sent_at;
	XLogRecPtr	sent_flushed;
	SlCommitPair pairs[SL_FEEDBACK_PAIRS];	/* ring, oldest at first */
	int			first;
	int			n;
} SlFeedback;

/* start: the stored position, durable by definition. */
extern void sl_feedback_init(SlFeedback *fb, SlConn *repl, XLogRecPtr start);

/* A transaction that carries the source up to remote_end committed locally. */
extern void sl_feedback_committed(SlFeedback *fb, XLogRecPtr remote_end,
								  XLogRecPtr local_end);

/* Look at how far our WAL is flushed; true when fb->flushed moved. */
extern bool sl_feedback_update(SlFeedback *fb);

/* Flush our WAL so that everything applied is durable. */
extern void sl_feedback_force(SlFeedback *fb);

/* Send a standby status update; reply asks the source for a keepalive. */
extern void sl_feedback_send(SlFeedback *fb, bool reply);

#endif							/* SL_FEEDBACK_H */
