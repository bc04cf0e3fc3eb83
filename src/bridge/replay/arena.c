/*
 * arena.c
 *	  Memory that is freed whole.
 */
#include "bridge/replay/replay_int.h"

#define CHUNK	4096			/* bytes; what is larger has a chunk of its
								 * own */

typedef struct Chunk
{
	struct Chunk *next;
	size_t		used;
	size_t		room;
} Chunk;

struct BrArena
{
	Chunk	   *chunks;			/* the one in use first */
};

/* See replay_int.h. */
BrArena *
br_arena_new(void)
{
	return palloc0(sizeof(BrArena));
}

/* See replay_int.h. */
void
br_arena_free(BrArena *a)
{
	while (a->chunks != NULL)
	{
		Chunk	   *next = a->chunks->next;

		pfree(a->chunks);
		a->chunks = next;
	}
	pfree(a);
}

/* See replay_int.h. */
void *
br_arena_alloc(BrArena *a, size_t size)
{
	Chunk	   *c = a->chunks;
	char	   *at;

	size = MAXALIGN(Max(size, 1));
	if (c == NULL || c->room - c->used < size)
	{
		size_t		room = Max(size, CHUNK);

		c = palloc0(MAXALIGN(sizeof(Chunk)) + room);
		c->room = room;
		/* a large one is full at once: the one in use stays in front */
		if (a->chunks != NULL && size >= CHUNK)
		{
			c->next = a->chunks->next;
			a->chunks->next = c;
		}
		else
		{
			c->next = a->chunks;
			a->chunks = c;
		}
	}
	at = (char *) c + MAXALIGN(sizeof(Chunk)) + c->used;
	c->used += size;
	return at;
}

/* See replay_int.h. */
char *
br_arena_part(BrArena *a, const char *text, size_t len)
{
	char	   *copy = br_arena_alloc(a, len + 1);

	memcpy(copy, text, len);
	return copy;
}

/* See replay_int.h. */
char *
br_arena_text(BrArena *a, const char *text)
{
	return text == NULL ? NULL : br_arena_part(a, text, strlen(text));
}

/* See replay_int.h. */
char *
br_arena_printf(BrArena *a, const char *fmt,...)
{
	va_list		args;
	char	   *copy;
	int			len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	copy = br_arena_alloc(a, (size_t) len + 1);
	va_start(args, fmt);
	(void) vsnprintf(copy, (size_t) len + 1, fmt, args);
	va_end(args);
	return copy;
}

/* See replay_int.h. */
void *
br_arena_array(BrArena *a, const void *from, int n, size_t size)
{
	size_t		room = 1;
	void	   *array;

	while (room < (size_t) n)
		room *= 2;
	array = br_arena_alloc(a, room * size);
	if (n > 0)
		memcpy(array, from, n * size);
	return array;
}

/* See replay_int.h. */
void *
br_arena_grow(BrArena *a, void *array, int *n, size_t size)
{
	if ((*n & (*n - 1)) == 0)
	{
		void	   *larger = br_arena_alloc(a, Max(*n * 2, 4) * size);

		if (*n > 0)
			memcpy(larger, array, *n * size);
		array = larger;
	}
	memset((char *) array + *n * size, 0, size);
	(*n)++;
	return array;
}
