/*
 * registry_test.c
 *	  Markers, options and error codes: unique, complete, in style.
 */
#include "common/sl_error.h"
#include "common/sl_marker.h"
#include "common/sl_option.h"
#include "unit.h"

static bool
is_marker_text(const char *s)
{
	return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == strlen(s) && s[0] != '-';
}

static void
markers(void)
{
	for (int m = SL_M_NONE + 1; m < SL_M_COUNT; m++)
	{
		const SlMarkerInfo *info = sl_marker_info((SlMarker) m);

		CHECK(info != NULL);
		CHECK_AT(strlen(info->sqlstate) == 5 && strncmp(info->sqlstate, "SL", 2) == 0,
				 "%s", info->text);
		CHECK_AT(strspn(info->sqlstate + 2, "0123456789") == 3, "%s", info->text);
		CHECK_AT(is_marker_text(info->text), "%s", info->text);
		CHECK_AT(info->remedy[0] >= 'a' && info->remedy[0] <= 'z' &&
				 info->remedy[strlen(info->remedy) - 1] != '.', "%s", info->text);

		/* First of its name and code, or it is there twice. */
		CHECK_AT((int) sl_marker_by_text(info->text) == m, "%s", info->text);
		CHECK_AT((int) sl_marker_by_sqlstate(info->sqlstate) == m, "%s", info->text);
	}
	CHECK(sl_marker_info(SL_M_NONE) == NULL);
	CHECK(sl_marker_info(SL_M_COUNT) == NULL);
	CHECK(sl_marker_by_text("slot-lost") == SL_M_NONE);
	CHECK(sl_marker_by_text("") == SL_M_NONE);
	CHECK(sl_marker_by_sqlstate("00000") == SL_M_NONE);
	CHECK(sl_marker_by_sqlstate("SL") == SL_M_NONE);
}

static void
options(void)
{
	for (int o = 0; o < SL_O_COUNT; o++)
	{
		const SlOptionInfo *info = sl_option_info((SlOption) o);

		CHECK(info != NULL);
		CHECK_AT(strspn(info->key, "abcdefghijklmnopqrstuvwxyz_") == strlen(info->key),
				 "%s", info->key);
		CHECK_AT((int) sl_option_by_key(info->key) == o, "%s", info->key);
		CHECK_AT(o == 0 || strcmp(sl_option_info((SlOption) (o - 1))->key, info->key) < 0,
				 "%s is not in order", info->key);
		CHECK_AT(strlen(info->meaning) > 0, "%s", info->key);
		if (info->kind == SL_OPT_BOOL)
			CHECK_AT(info->dflt != NULL && (strcmp(info->dflt, "true") == 0 ||
											strcmp(info->dflt, "false") == 0), "%s", info->key);
	}
	CHECK(sl_option_info(SL_O_COUNT) == NULL);
	CHECK(sl_option_by_key("Feed") == SL_O_COUNT);
	CHECK(sl_option_by_key("") == SL_O_COUNT);
}

static void
errors(void)
{
	SlError		err;
	char		many[400];

	CHECK(!sl_error_set(&err, SL_ERR_LIMIT, 7, "a %s of %d", "thing", 5));
	CHECK(err.code == SL_ERR_LIMIT && err.offset == 7);
	CHECK(strcmp(err.detail, "a thing of 5") == 0);
	memset(many, 'x', sizeof(many));
	many[sizeof(many) - 1] = '\0';
	sl_error_set(&err, SL_ERR_MALFORMED, 0, "%s", many);
	CHECK(strlen(err.detail) == sizeof(err.detail) - 1);
	CHECK(strcmp(sl_error_code_name(SL_ERR_NONE), "none") == 0);
	CHECK(strcmp(sl_error_code_name(SL_ERR_TRUNCATED), "truncated") == 0);
	CHECK(strcmp(sl_error_code_name(SL_ERR_MALFORMED), "malformed") == 0);
	CHECK(strcmp(sl_error_code_name(SL_ERR_UNSUPPORTED), "unsupported") == 0);
	CHECK(strcmp(sl_error_code_name(SL_ERR_LIMIT), "limit") == 0);
	CHECK(strcmp(sl_error_code_name((SlErrorCode) 99), "unrecognized") == 0);
}

int
main(void)
{
	RUN(markers);
	RUN(options);
	RUN(errors);
	return UNIT_END();
}
