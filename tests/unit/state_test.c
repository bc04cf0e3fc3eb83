/*
 * state_test.c
 *	  The states of a stream and their transitions.
 */
#include "common/sl_state.h"
#include "unit.h"

static void
names_round_trip(void)
{
	SlState		s;

	for (int i = 0; i < SL_STATE_COUNT; i++)
	{
		CHECK(sl_state_parse(sl_state_name((SlState) i), &s) && (int) s == i);
		CHECK(strlen(sl_state_meaning((SlState) i)) > 0);
	}
	s = SL_STATE_COPYING;
	CHECK(!sl_state_parse("Streaming", &s));
	CHECK(!sl_state_parse("", &s));
	CHECK(!sl_state_parse("caught_up", &s));
	CHECK(s == SL_STATE_COPYING);
	CHECK(strcmp(sl_state_name(SL_STATE_COUNT), "unrecognized") == 0);
	CHECK(strcmp(sl_state_meaning((SlState) -1), "unrecognized") == 0);
}

/* The whole relation, one row per state: which may follow it. */
static void
transitions(void)
{
	static const struct
	{
		const char *from;
		const char *to;			/* besides itself */
	}			rows[] = {
		{"starting", " copying streaming stopping stopped retrying refused failed "},
		{"copying", " starting streaming stopping stopped retrying refused failed "},
		{"streaming", " starting stopping stopped retrying refused failed cut_over "},
		{"stopping", " starting stopped refused failed cut_over "},
		{"stopped", " starting cut_over "},
		{"retrying", " starting copying streaming stopping stopped refused failed "},
		{"refused", " starting stopped "},
		{"failed", " starting stopped "},
		{"cut_over", " starting "},
	};

	CHECK(lengthof(rows) == SL_STATE_COUNT);
	for (size_t i = 0; i < lengthof(rows); i++)
	{
		SlState		from;

		CHECK(sl_state_parse(rows[i].from, &from));
		for (int to = 0; to < SL_STATE_COUNT; to++)
		{
			char		word[32];
			bool		want;

			snprintf(word, sizeof(word), " %s ", sl_state_name((SlState) to));
			want = (int) from == to || strstr(rows[i].to, word) != NULL;
			CHECK_AT(sl_state_may_follow(from, (SlState) to) == want, "%s to%s",
					 rows[i].from, word);
		}
	}
	CHECK(!sl_state_may_follow(SL_STATE_COUNT, SL_STATE_COUNT));
	CHECK(!sl_state_may_follow(SL_STATE_STARTING, (SlState) -1));
}

static void
running(void)
{
	CHECK(sl_state_is_running(SL_STATE_STARTING));
	CHECK(sl_state_is_running(SL_STATE_COPYING));
	CHECK(sl_state_is_running(SL_STATE_STREAMING));
	CHECK(sl_state_is_running(SL_STATE_STOPPING));
	CHECK(sl_state_is_running(SL_STATE_RETRYING));
	CHECK(!sl_state_is_running(SL_STATE_STOPPED));
	CHECK(!sl_state_is_running(SL_STATE_REFUSED));
	CHECK(!sl_state_is_running(SL_STATE_FAILED));
	CHECK(!sl_state_is_running(SL_STATE_CUT_OVER));
}

/* Rest ends only through "starting"; a stop is never turned into a retry. */
static void
rest_ends_in_starting(void)
{
	for (int s = 0; s < SL_STATE_COUNT; s++)
		CHECK(sl_state_may_follow((SlState) s, SL_STATE_STARTING));
	CHECK(!sl_state_may_follow(SL_STATE_REFUSED, SL_STATE_STREAMING));
	CHECK(!sl_state_may_follow(SL_STATE_STOPPED, SL_STATE_STREAMING));
	CHECK(!sl_state_may_follow(SL_STATE_STOPPING, SL_STATE_RETRYING));
}

int
main(void)
{
	RUN(names_round_trip);
	RUN(transitions);
	RUN(running);
	RUN(rest_ends_in_starting);
	return UNIT_END();
}
