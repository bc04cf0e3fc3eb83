/*
 * arena.h
 *	  The frontend's allocation functions for a target whose code frees nothing:
 *	  what one input was given is freed behind it, each piece by itself, so that
 *	  a sanitizer sees every step past one.
 */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

#include <stdlib.h>

#include "common/sl_common.h"

typedef struct Piece
{
	struct Piece *prev;
	struct Piece *next;
} Piece;

static Piece arena =
{
	&arena, &arena
};

static inline void
arena_free_all(void)
{
	while (arena.next != &arena)
	{
		Piece	   *p = arena.next;

		arena.next = p->next;
		free(p);
	}
	arena.prev = &arena;
}

/* What was given so far stays: tables that are made once and for all. */
static inline void
arena_keep(void)
{
	arena.next = arena.prev = &arena;
}

void *
palloc_extended(Size size, int flags)
{
	Piece	   *p = malloc(sizeof(Piece) + size);

	if (p == NULL)
		abort();
	if (flags & MCXT_ALLOC_ZERO)
		memset(p + 1, 0, size);
	p->next = arena.next;
	p->prev = &arena;
	arena.next->prev = p;
	arena.next = p;
	return p + 1;
}

void
pfree(void *pointer)
{
	Piece	   *p = (Piece *) pointer - 1;

	p->prev->next = p->next;
	p->next->prev = p->prev;
	free(p);
}

void *
repalloc(void *pointer, Size size)
{
	Piece	   *p = realloc((Piece *) pointer - 1, sizeof(Piece) + size);

	if (p == NULL)
		abort();
	p->prev->next = p;
	p->next->prev = p;
	return p + 1;
}

char *
pnstrdup(const char *in, Size size)
{
	Size		len = strnlen(in, size);
	char	   *out = palloc_extended(len + 1, 0);

	memcpy(out, in, len);
	out[len] = '\0';
	return out;
}

void *
palloc(Size size)
{
	return palloc_extended(size, 0);
}
void *
palloc0(Size size)
{
	return palloc_extended(size, MCXT_ALLOC_ZERO);
}
char *
pstrdup(const char *in)
{
	return pnstrdup(in, strlen(in));
}
void *
pg_malloc(size_t size)
{
	return palloc_extended(size, 0);
}
void *
pg_malloc0(size_t size)
{
	return palloc_extended(size, MCXT_ALLOC_ZERO);
}
void *
pg_malloc_extended(size_t size, int flags)
{
	return palloc_extended(size, flags);
}
void *
pg_realloc(void *pointer, size_t size)
{
	return pointer ? repalloc(pointer, size) : palloc(size);
}
char *
pg_strdup(const char *in)
{
	return pstrdup(in);
}
void
pg_free(void *pointer)
{
	if (pointer)
		pfree(pointer);
}

#endif							/* FUZZ_ARENA_H */
