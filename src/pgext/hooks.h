/*
 * hooks.h
 *	  What would strand a stream is refused: DROP EXTENSION, DROP DATABASE,
 *	  DROP ROLE of an owner, DROP SERVER of a source.
 */
#ifndef SL_HOOKS_H
#define SL_HOOKS_H

extern void sl_hooks_init(void);

#endif							/* SL_HOOKS_H */
