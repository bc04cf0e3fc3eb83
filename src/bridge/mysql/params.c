/*
 * params.c
 *	  Connection parameters by name: libpq's names, as a server's options and
 *	  a user mapping have them.
 */
#include "bridge/mysql/conn_int.h"

static const struct
{
	const char *name;
	MxTls		tls;
}			modes[] = {
	{"verify-full", MX_TLS_VERIFY_FULL},
	{"verify-ca", MX_TLS_VERIFY_CA},
	{"require", MX_TLS_REQUIRE},
	{"disable", MX_TLS_DISABLE},
};

static bool
set_mode(MxParams *p, const char *value, MxError *err)
{
	for (int i = 0; i < lengthof(modes); i++)
	{
		if (strcmp(value, modes[i].name) == 0)
		{
			p->tls = modes[i].tls;
			return true;
		}
	}
	return mx_fail(err, "sslmode \"%s\" is not known for this kind of source: give verify-full, "
				   "verify-ca, require or disable", value);
}

static bool
set_number(int *to, const char *key, const char *value, int max, MxError *err)
{
	char	   *end;
	long		n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || n < 0 || n > max)
		return mx_fail(err, "%s must be a number from 0 to %d", key, max);
	*to = (int) n;
	return true;
}

static bool
set_host(MxParams *p, const char *value)
{
	p->host = p->socket = NULL;
	if (value[0] == '/')
		p->socket = value;
	else
		p->host = value;
	return true;
}

bool
mx_params_set(MxParams *p, const char *key, const char *value, MxError *err)
{
	const struct
	{
		const char *key;
		const char **to;
	}			texts[] = {
		{"user", &p->user},
		{"password", &p->password},
		{"dbname", &p->database},
		{"sslrootcert", &p->tls_ca},
		{"sslcert", &p->tls_cert},
		{"sslkey", &p->tls_key},
	};

	for (int i = 0; i < lengthof(texts); i++)
	{
		if (strcmp(key, texts[i].key) == 0)
		{
			*texts[i].to = value;
			return true;
		}
	}
	if (strcmp(key, "host") == 0)
		return set_host(p, value);
	if (strcmp(key, "port") == 0)
		return set_number(&p->port, key, value, 65535, err);
	if (strcmp(key, "connect_timeout") == 0)
		return set_number(&p->connect_timeout, key, value, 86400, err);
	if (strcmp(key, "read_timeout") == 0)
		return set_number(&p->read_timeout, key, value, 86400, err);
	if (strcmp(key, "sslmode") == 0)
		return set_mode(p, value, err);
	return mx_fail(err, "\"%s\" is no parameter of a connection to this kind of source", key);
}
