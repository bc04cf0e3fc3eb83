/*
 * apply_row.h
 *	  The steps of one row change, shared by apply_row.c and apply_window.c.
 *
 * root: of the table that the map names; leaf: of the partition that has the
 * row, or root itself.  In the row's memory context.
 */
#ifndef SL_APPLY_ROW_H
#define SL_APPLY_ROW_H

#include "pgext/apply_int.h"

/* Set root->row, and root->sent, to a change's new row; root->want to the row to look for. */
extern void sl_row_read_new(SlRelState *root, const SlRow *row);
extern void sl_row_read_want(SlRelState *root, const SlRow *row, bool keys_only);

/* want := row, for a change that sends no old row: the key did not change. */
extern void sl_row_want_new(SlRelState *root);

/* Does root->row lack values that were not sent because they did not change? */
extern bool sl_row_has_unchanged(SlRelState *root);

/* The leaves that may have root->want. */
extern List *sl_row_leaves_of(SlRelState *root);

/* Find by the root's want row in one leaf; the row is in leaf->found, locked, then. */
extern SlFound sl_row_find_in(SlRelState *leaf, TupleTableSlot *rootwant,
							  const AttrNumber *atts, int natts, bool sure);

/* Columns that the source does not send: their defaults; or what leaf->found has. */
extern void sl_row_fill_defaults(SlRelState *root, TupleTableSlot *slot);
extern void sl_row_keep_stored(SlRelState *leaf, TupleTableSlot *slot, const uint8 *sent);

/* Store root->row as a new row, or over the row found in from; remove the found one. */
extern void sl_row_store_new(SlRelState *root);
extern void sl_row_store_over(SlRelState *root, SlRelState *from);
extern void sl_row_remove(SlRelState *leaf);

/*
 * apply_window.c: the change may have been in what was copied already.  A row
 * is as the change says afterwards, whatever was there; nothing is a conflict.
 * Rule: docs/internals/bridge.md, "The window".
 */
extern void sl_window_insert(SlRelState *root);
extern void sl_window_update(SlRelState *root);

/* The leaf that has root->want, as find_old; equal is the same here. */
extern SlRelState *sl_window_find(SlRelState *root);

#endif							/* SL_APPLY_ROW_H */
