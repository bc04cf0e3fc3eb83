/*
 * conn.c
 *	  The client library's handle: connecting, statements, packets.
 *
 * Rule: MariaDB Connector/C, "API functions"; the raw command and the raw
 * packet are its st_mariadb_methods.db_command and mysql_net_read_packet.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "bridge/mysql/conn_int.h"
#include "bridge/mysql/library.h"

#include <ma_pvio.h>

#define DEFAULT_PORT			3306
#define DEFAULT_CONNECT_TIMEOUT	10	/* seconds */

static bool
fail_from_library(MxConn *c, MxError *err, const char *what)
{
	unsigned int number = mysql_errno(c->my);

	return mx_fail_with(c, err, what, number != 0 ? number : MX_CR_LOST,
						mysql_sqlstate(c->my),
						number != 0 ? mysql_error(c->my) : "the connection ended");
}

/* ---------- connecting ---------- */

/*
 * A host's name or address.  Others have a meaning of their own to the
 * library: "=" a list of options, "," a list of hosts.
 */
static bool
is_host(const char *s)
{
	if (*s == '\0')
		return false;
	for (; *s != '\0'; s++)
		if (strchr(",=;/@ ", *s) != NULL || (uint8) *s < 0x21 || *s == 0x7f)
			return false;
	return true;
}

static bool
check_params(const MxParams *p, MxError *err)
{
	if (p->socket == NULL && p->host == NULL)
		return mx_fail(err, "neither a host nor a socket of the source is given");
	if (p->socket != NULL && p->host != NULL)
		return mx_fail(err, "both a host and a socket of the source are given: give one");
	if (p->host != NULL && !is_host(p->host))
		return mx_fail(err, "\"%s\" is no name or address of one host", p->host);
	if (p->port < 0 || p->port > 65535)
		return mx_fail(err, "%d is no port: give 1 to 65535", p->port);
	if (p->user == NULL || *p->user == '\0')
		return mx_fail(err, "no user is given to log in as");
	if (p->connect_timeout < 0 || p->read_timeout < 0)
		return mx_fail(err, "a time limit is below 0 seconds");
	if (p->tls == MX_TLS_VERIFY_CA && p->socket == NULL && p->tls_ca == NULL)
		return mx_fail(err, "verify-ca needs sslrootcert, the file of the CA's certificate: "
					   "any CA of the system would do otherwise");
	return true;
}

/*
 * With a CA's file the library checks the chain, and with the option also the
 * host's name.  (Releases from 3.4 on check the name in both cases.)
 */
static void
set_tls(MYSQL * my, const MxParams *p)
{
	MxTls		tls = p->tls;
	my_bool		enforce;
	my_bool		verify;

	if (p->socket != NULL && tls != MX_TLS_REQUIRE)
		tls = MX_TLS_DISABLE;
	enforce = tls != MX_TLS_DISABLE;
	verify = tls == MX_TLS_VERIFY_FULL;
	mysql_optionsv(my, MYSQL_OPT_SSL_ENFORCE, &enforce);
	mysql_optionsv(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
	if (!enforce)
		return;
	mysql_optionsv(my, MARIADB_OPT_TLS_VERSION, "TLSv1.2,TLSv1.3");
	if (tls != MX_TLS_REQUIRE && p->tls_ca != NULL)
		mysql_optionsv(my, MYSQL_OPT_SSL_CA, p->tls_ca);
	if (p->tls_cert != NULL)
		mysql_optionsv(my, MYSQL_OPT_SSL_CERT, p->tls_cert);
	if (p->tls_key != NULL)
		mysql_optionsv(my, MYSQL_OPT_SSL_KEY, p->tls_key);
}

static void
set_options(MYSQL * my, const MxParams *p)
{
	unsigned int connect_timeout = p->connect_timeout > 0 ? p->connect_timeout : DEFAULT_CONNECT_TIMEOUT;
	unsigned int protocol = p->socket != NULL ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
	unsigned int off = 0;
	my_bool		no = 0;
	unsigned long max_packet = MX_PACKET_MAX;

	mysql_optionsv(my, MYSQL_OPT_PROTOCOL, &protocol);
	mysql_optionsv(my, MYSQL_OPT_CONNECT_TIMEOUT, &connect_timeout);
	/* a peer that says nothing during the login; see login() */
	mysql_optionsv(my, MYSQL_OPT_READ_TIMEOUT, &connect_timeout);
	mysql_optionsv(my, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	mysql_optionsv(my, MYSQL_OPT_MAX_ALLOWED_PACKET, &max_packet);
	mysql_optionsv(my, MYSQL_OPT_RECONNECT, &no);
	/* a server could ask for any file of ours */
	mysql_optionsv(my, MYSQL_OPT_LOCAL_INFILE, &off);
	/* a server could ask for the password in clear */
	mysql_optionsv(my, MARIADB_OPT_RESTRICTED_AUTH, MX_AUTH_METHODS);
	mysql_optionsv(my, MYSQL_DEFAULT_AUTH, "caching_sha2_password");
	mysql_optionsv(my, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "sluice-bridge");
	set_tls(my, p);
}

/* Notice a peer that is gone without a word, within two minutes. */
static void
keep_alive(int fd)
{
	int			on = 1;
	int			idle = 60;
	int			interval = 10;
	int			count = 6;

	(void) setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	(void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

static bool
login(MxConn *c, const MxParams *p, MxError *err)
{
	int			port = p->port > 0 ? p->port : DEFAULT_PORT;
	char	   *what;
	MARIADB_PVIO *io;

	if (p->socket != NULL)
		what = psprintf("could not connect to the source at \"%s\"", p->socket);
	else
		what = psprintf("could not connect to the source at \"%s\" port %d", p->host, port);
	if (mysql_real_connect(c->my, p->host, p->user, p->password != NULL ? p->password : "",
						   p->database, port, p->socket, 0) == NULL)
	{
		fail_from_library(c, err, what);
		pfree(what);
		return false;
	}
	pfree(what);
	c->fd = mysql_get_socket(c->my);
	c->thread_id = mysql_thread_id(c->my);
	c->mariadb = mariadb_connection(c->my);
	c->version = (uint32) mysql_get_server_version(c->my);
	c->version_text = mysql_get_server_info(c->my);
	c->cipher = mysql_get_ssl_cipher(c->my);
	if (c->my->options.use_ssl && c->cipher == NULL)
		return mx_fail(err, "the connection to the source is not encrypted, although TLS is required");
	io = c->my->net.pvio;
	io->methods->set_timeout(io, PVIO_READ_TIMEOUT, p->read_timeout);
	c->read_timeout = p->read_timeout;
	if (p->socket == NULL)
		keep_alive(c->fd);
	c->ready = true;
	return true;
}

MxConn *
mx_connect(const MxParams *p, bool text_utf8, MxError *err)
{
	MxConn	   *c;

	if (!check_params(p, err))
		return NULL;
	c = palloc0(sizeof(MxConn));
	c->fd = -1;
	c->my = mysql_init(NULL);
	if (c->my == NULL)
		mx_fail(err, "out of memory");
	else if (!mx_auth_register(c->my))
		mx_fail(err, "the MySQL client library has login methods built in that take keys from "
				"unknown peers; use one whose login methods are loaded as plugins");
	else
	{
		set_options(c->my, p);
		if (login(c, p, err) && mx_session_pin(c, text_utf8, err))
			return c;
	}
	mx_close(c);
	return NULL;
}

void
mx_close(MxConn *c)
{
	if (c == NULL)
		return;
	c->fd = -1;
	if (c->my != NULL)
		mysql_close(c->my);
	pfree(c);
}

void
mx_wake(MxConn *c)
{
	int			fd = c->fd;

	c->woken = true;
	if (fd >= 0)
		(void) shutdown(fd, SHUT_RDWR);
}

int
mx_socket(const MxConn *c)
{
	return c->fd;
}

bool
mx_is_mariadb(const MxConn *c)
{
	return c->mariadb;
}

uint32
mx_version(const MxConn *c)
{
	return c->version;
}

const char *
mx_version_text(const MxConn *c)
{
	return c->version_text;
}

bool
mx_is_encrypted(const MxConn *c)
{
	return c->cipher != NULL;
}

const char *
mx_cipher(const MxConn *c)
{
	return c->cipher;
}

unsigned long
mx_thread_id(const MxConn *c)
{
	return c->thread_id;
}

/* ---------- statements ---------- */

static bool
send_query(MxConn *c, const char *sql, MxError *err)
{
	if (!mx_usable(c, "a statement for the source", err))
		return false;
	if (mysql_real_query(c->my, sql, strlen(sql)) != 0)
		return fail_from_library(c, err, "the source refuses a statement");
	return true;
}

bool
mx_exec(MxConn *c, const char *sql, MxError *err)
{
	if (!send_query(c, sql, err))
		return false;
	if (mysql_field_count(c->my) != 0)
	{
		c->lost = true;
		return mx_fail(err, "the source answers a statement that has no result with one");
	}
	return true;
}

static MxResult *
make_result(MYSQL_RES * res)
{
	MxResult   *r = palloc0(sizeof(MxResult));
	MYSQL_FIELD *fields = mysql_fetch_fields(res);

	r->ncols = (int) mysql_num_fields(res);
	r->names = palloc0(sizeof(char *) * Max(r->ncols, 1));
	for (int i = 0; i < r->ncols; i++)
		r->names[i] = pstrdup(fields[i].name != NULL ? fields[i].name : "");
	r->values = palloc(1);
	r->lens = palloc(1);
	return r;
}

/* Add a row; *room: rows that there is room for, *bytes: of the result so far. */
static bool
add_row(MxResult *r, MYSQL_ROW row, const unsigned long *lens, int *room, size_t *bytes)
{
	size_t		at = (size_t) r->nrows * r->ncols;

	for (int i = 0; i < r->ncols; i++)
	{
		if (lens[i] > MX_RESULT_MAX || *bytes > MX_RESULT_MAX)
			return false;
		*bytes += lens[i] + sizeof(char *) + sizeof(size_t);
	}
	if (*bytes > MX_RESULT_MAX)
		return false;
	if (r->nrows == *room)
	{
		*room = Max(*room * 2, 16);
		r->values = repalloc(r->values, sizeof(char *) * *room * r->ncols);
		r->lens = repalloc(r->lens, sizeof(size_t) * *room * r->ncols);
	}
	for (int i = 0; i < r->ncols; i++)
	{
		r->values[at + i] = NULL;
		r->lens[at + i] = row[i] != NULL ? lens[i] : 0;
		if (row[i] != NULL)
		{
			r->values[at + i] = palloc(lens[i] + 1);
			memcpy(r->values[at + i], row[i], lens[i]);
			r->values[at + i][lens[i]] = '\0';
		}
	}
	r->nrows++;
	return true;
}

MxResult *
mx_query(MxConn *c, const char *sql, MxError *err)
{
	MYSQL_RES  *res;
	MYSQL_ROW	row;
	MxResult   *r;
	int			room = 0;
	size_t		bytes = 0;

	if (!send_query(c, sql, err))
		return NULL;
	res = mysql_use_result(c->my);
	if (res == NULL)
	{
		if (mysql_errno(c->my) != 0)
			fail_from_library(c, err, "the source's answer cannot be read");
		else
			mx_fail(err, "the source answers a query without a result");
		return NULL;
	}
	r = make_result(res);
	while ((row = mysql_fetch_row(res)) != NULL)
	{
		if (!add_row(r, row, mysql_fetch_lengths(res), &room, &bytes))
		{
			mx_fail(err, "the source's answer has more than %d bytes", MX_RESULT_MAX);
			/* the library would read all the rest to free the result */
			mx_wake(c);
			break;
		}
	}
	if (row == NULL && mysql_errno(c->my) == 0)
	{
		mysql_free_result(res);
		return r;
	}
	if (row == NULL)
		fail_from_library(c, err, "the source's answer cannot be read");
	mysql_free_result(res);
	mx_result_free(r);
	return NULL;
}

/* ---------- the protocol itself ---------- */

bool
mx_command(MxConn *c, int command, const char *data, size_t len, const char *what, MxError *err)
{
	if (!mx_usable(c, what, err))
		return false;
	/* 1: the library reads no answer.  It takes a length of 0 for strlen(). */
	if (len == 0)
		return mx_fail(err, "%s: an empty command", what);
	if (c->my->methods->db_command(c->my, (enum enum_server_command) command, data, len, 1, NULL) != 0)
		return fail_from_library(c, err, what);
	return true;
}

bool
mx_packet(MxConn *c, const char **data, size_t *len, const char *what, MxError *err)
{
	unsigned long n;

	if (c->woken || c->lost)
		return mx_usable(c, what, err);
	n = mysql_net_read_packet(c->my);
	if (n == packet_error)
		return fail_from_library(c, err, what);
	*data = (const char *) c->my->net.read_pos;
	*len = n;
	c->last_packet = n;
	return true;
}

/*
 * What the library has read ahead, and what the kernel has.  A read of more
 * than the library's cache may leave a part of a TLS record in the TLS library.
 */
bool
mx_dump_ready(MxConn *c)
{
	MARIADB_PVIO *io = c->my->net.pvio;
	struct pollfd fd = {.fd = c->fd, .events = POLLIN};

	if (c->woken || c->lost || io == NULL || io->cache_pos < io->cache + io->cache_size)
		return true;
	if (c->cipher != NULL && c->last_packet >= PVIO_READ_AHEAD_CACHE_SIZE)
		return true;
	return poll(&fd, 1, 0) > 0;
}

bool
mx_packet_is_end(const char *data, size_t len)
{
	return len > 0 && len < 9 && (uint8) data[0] == 0xfe;
}
