/*
 * codec_case.c
 *	  For tests of the codec: one value by both protocols, and what it must be.
 */
#include "codec_case.h"

const char *codec_charset = "utf8mb4";
int64		codec_srid = -1;
MyPolicy	codec_policy;

static int	codec_faults;

static void
complain(const CodecCase *k, const char *by, const char *got)
{
	codec_faults++;
	printf("# %s%s%s, %s: expected %s, got %s\n", k->type, k->override != NULL ? " as " : "",
		   k->override != NULL ? k->override : "", by, k->expected, got);
}

static size_t
from_hex(const char *hex, char **bytes)
{
	size_t		n = strlen(hex) / 2;

	*bytes = malloc(n > 0 ? n : 1);
	for (size_t i = 0; i < n; i++)
	{
		unsigned int b = 0;

		sscanf(hex + 2 * i, "%2x", &b);
		(*bytes)[i] = (char) b;
	}
	return n;
}

static void
to_hex(StringInfo s, const char *data, int len)
{
	for (int i = 0; i < len; i++)
		appendStringInfo(s, "%02x", (uint8) data[i]);
}

/* Is the outcome in out the one that k expects? */
static void
judge(const CodecCase *k, const char *by, MyResult r, const StringInfoData *out, const SlError *err)
{
	StringInfoData got;

	initStringInfo(&got);
	if (r == MY_FAULT)
		appendStringInfo(&got, "!%s", err->detail);
	else if (r == MY_NULL)
		appendStringInfoString(&got, "NULL");
	else if (k->expected[0] == '\'')
	{
		appendStringInfoChar(&got, '\'');
		appendBinaryStringInfo(&got, out->data + 1, out->len - 1);
	}
	else
		to_hex(&got, out->data + 1, out->len - 1);
	if (out->data[0] != '#' || (r != MY_VALUE && out->len != 1))
		complain(k, by, "output that is not appended");
	if (r == MY_FAULT && (err->code == SL_ERR_NONE || err->detail[0] == '\0'))
		complain(k, by, "a failure that says nothing");
	if (k->expected[0] == '!' ? r != MY_FAULT || strstr(got.data, k->expected + 1) == NULL :
		strcmp(got.data, k->expected) != 0)
		complain(k, by, got.data);
	pfree(got.data);
}

static void
check_log(const CodecCase *k, MyCodec *c)
{
	StringInfoData out;
	BlField		field;
	SlError		err = {0};
	char	   *meta;
	char	   *value;
	size_t		used;
	size_t		nmeta = from_hex(k->meta, &meta);
	size_t		n = from_hex(k->log, &value);

	initStringInfo(&out);
	appendStringInfoChar(&out, '#');
	if (!bl_field_read(k->field, meta, nmeta, &used, &field, &err) || used != nmeta)
		complain(k, "the field", err.detail);
	else if (!my_codec_bind(c, &field, &err))
		judge(k, "the field", MY_FAULT, &out, &err);
	else
	{
		MyResult	r = my_codec_binlog(c, value, n, &out, &err);

		judge(k, "the log", r, &out, &err);
	}
	pfree(out.data);
	free(meta);
	free(value);
}

static void
check_protocol(const CodecCase *k, MyCodec *c)
{
	StringInfoData out;
	SlError		err = {0};
	char	   *value;
	size_t		n = from_hex(k->protocol, &value);
	MyResult	r;

	initStringInfo(&out);
	appendStringInfoChar(&out, '#');
	r = my_codec_protocol(c, value, n, &out, &err);
	judge(k, "the protocol", r, &out, &err);
	pfree(out.data);
	free(value);
}

static void
check_case(const CodecCase *k)
{
	SlError		err = {0};
	MyTarget	target;
	MyCodec    *c;
	bool		is_json = strncmp(k->type, "longtext", 8) == 0;
	MyType	   *t = my_type_parse(k->type, codec_charset, NULL, NULL, codec_srid, is_json, &err);

	if (t == NULL || !my_type_target(t, k->override, "e", &target, &err))
	{
		complain(k, "the type", err.detail);
		my_type_free(t);
		return;
	}
	c = my_codec_create(t, &target, &codec_policy, &err);
	if (c == NULL)
		complain(k, "the codec", err.detail);
	else
	{
		if (k->log != NULL)
			check_log(k, c);
		if (k->protocol != NULL)
			check_protocol(k, c);
	}
	my_codec_free(c);
	my_type_free(t);
}

int
codec_faults_of(const CodecCase *cases, int n)
{
	codec_faults = 0;
	for (int i = 0; i < n; i++)
		check_case(&cases[i]);
	return codec_faults;
}
