/*
 * error.c
 *	  What failed: by the error's number, whether to try again.
 *
 * Rule: the servers' and the client library's error references (mysqld_error.h,
 * errmsg.h).
 */
#include "common/sl_common.h"
#include "mb/pg_wchar.h"

#include "bridge/mysql/conn_int.h"

/* The connection is gone, or there was no room for one: another may do. */
static const unsigned int lost_numbers[] = {
	1040,						/* too many connections */
	1053,						/* server shutdown in progress */
	1080,						/* forced close of a thread */
	1152, 1158, 1159, 1160, 1161, 1184, /* aborted; reading or writing packets */
	1203,						/* this account's connections */
	1927,						/* MariaDB: connection was killed */
	2002, 2003,					/* no connection to socket, host */
	2005,						/* unknown host: a resolver may be away */
	2006, 2013, 2055,			/* gone, lost */
	3032,						/* server is offline for accounts like this */
	3058, 3168, 3169,			/* session was killed; server is not ready */
	4031,						/* ended by the server for inactivity */
};

/* A login that this account, from here, will not get without somebody's doing. */
static const unsigned int denied_numbers[] = {
	1044, 1045, 1049,			/* access denied, to a database; no such
								 * database */
	1129, 1130,					/* this host is blocked, or not allowed */
	1698,						/* access denied to an account without a
								 * password */
	1820, 1862,					/* the password expired */
	1251, 2049, 2054, 2059, 2061,	/* no login method in common */
	3118, 4151,					/* account locked */
	3159,						/* encryption is required */
	3955,						/* blocked after wrong passwords */
	5023,						/* login method not allowed here */
};

static bool
among(unsigned int number, const unsigned int *numbers, int n)
{
	for (int i = 0; i < n; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/*
 * Text from outside to one printable line of valid UTF-8 that fits: what is
 * neither becomes a space or a question mark, a cut falls between characters.
 */
static void
clean_text(char *out, size_t size, const char *in)
{
	size_t		left = strlen(in);
	size_t		n = 0;

	while (left > 0)
	{
		size_t		len = (size_t) pg_utf_mblen((const unsigned char *) in);
		bool		legal = len <= left && pg_utf8_islegal((const unsigned char *) in, (int) len);

		if (!legal)
			len = 1;
		if (n + len >= size)
			break;
		if (!legal)
			out[n] = '?';
		else if (len == 1 && ((uint8) *in < 0x20 || *in == 0x7f))
			out[n] = ' ';
		else
			memcpy(out + n, in, len);
		n += len;
		in += len;
		left -= len;
	}
	out[n] = '\0';
}

static void
set_state(MxError *err, const char *sqlstate)
{
	snprintf(err->sqlstate, sizeof(err->sqlstate), "%s",
			 sqlstate != NULL && strlen(sqlstate) == 5 ? sqlstate : "HY000");
}

bool
mx_fail(MxError *err, const char *fmt,...)
{
	char		text[1024];
	va_list		args;

	memset(err, 0, sizeof(*err));
	set_state(err, NULL);
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	clean_text(err->message, sizeof(err->message), text);
	return false;
}

/*
 * An error of TLS.  Once logged in, it is how a connection's end looks.
 * Before, a peer that broke off is not one whose certificate is refused; only
 * the text tells them apart.
 */
static bool
tls_was_cut(const MxConn *c, const char *text)
{
	static const char *const cut[] = {"eof", "EOF", "reset", "timed out", "timeout", "syscall"};

	if (c->ready)
		return true;
	for (int i = 0; i < lengthof(cut); i++)
		if (strstr(text, cut[i]) != NULL)
			return true;
	return false;
}

bool
mx_fail_with(MxConn *c, MxError *err, const char *what, unsigned int number,
			 const char *sqlstate, const char *text)
{
	mx_fail(err, "%s: %s (error %u)", what, text, number);
	err->number = number;
	set_state(err, sqlstate);
	err->lost = c->woken || among(number, lost_numbers, lengthof(lost_numbers)) ||
		(number == MX_CR_SSL && tls_was_cut(c, text));
	err->denied = !c->ready && among(number, denied_numbers, lengthof(denied_numbers));
	if (err->lost || (number >= 2000 && number < 3000 && c->ready))
		c->lost = true;
	return false;
}

bool
mx_usable(MxConn *c, const char *what, MxError *err)
{
	if (c->woken || c->lost)
	{
		mx_fail(err, "%s: the connection to the source is closed", what);
		err->number = MX_CR_GONE;
		err->lost = true;
		return false;
	}
	if (c->busy)
		return mx_fail(err, "%s: the connection to the source is still being read from", what);
	return true;
}

bool
mx_malformed(MxConn *c, MxError *err, const char *what)
{
	mx_fail(err, "the source sent what is no packet of its protocol: %s", what);
	err->number = MX_CR_MALFORMED;
	c->lost = true;
	return false;
}
