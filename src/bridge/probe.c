/*
 * probe.c
 *	  sluice-bridge probe: connects to a source and says what is there.
 *
 * For support: what the bridge would see, without a target.  Parameters come
 * from a file that only its owner may read, or from standard input: argv is
 * for everybody to see.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sl_sha256.h"
#include "getopt_long.h"

#include "bridge/binlog/gtid.h"
#include "bridge/binlog/kind.h"
#include "bridge/binlog/le.h"
#include "bridge/catalog.h"
#include "bridge/command.h"
#include "bridge/json_out.h"
#include "bridge/mysql/server.h"
#include "bridge/preflight.h"
#include "bridge/probe_plan.h"

#define MAX_FILE	65536		/* bytes of parameters */
#define SHORT_CELL	256			/* bytes of a value that are shown */
#define HEARTBEAT	10			/* seconds, unless --heartbeat says */

typedef struct Probe
{
	const char *file;			/* of parameters; NULL = standard input */
	bool		check;
	long		values;			/* seconds to check a table's rows; 0 = not */
	const char *query;
	const char *rows;
	const char *catalog;		/* a database's name */
	BrPlanOptions plan;			/* database NULL = no plan */
	bool		step;			/* wait for a line of input after the first */
	int			dump;			/* events; 0 = no dump */
	bool		text_utf8;
	const char *gtid;
	char	   *log_file;
	uint64		log_pos;
	MxDump		d;
} Probe;

static MxConn *conn;

/* Its socket, for on_signal; -1 before and after. */
static volatile sig_atomic_t conn_socket = -1;
static volatile sig_atomic_t stopped = 0;

/* Whatever waits for the source fails as if it had gone. */
static void
on_signal(int sig)
{
	stopped = 1;
	if (conn_socket >= 0)
		(void) shutdown(conn_socket, SHUT_RDWR);
}

static int
complain(const MxError *err)
{
	fprintf(stderr, "sluice-bridge: %s\n", err->message);
	if (err->denied)
		fprintf(stderr, "sluice-bridge: the login was refused: check user, password and where the account may log in from\n");
	else if (err->lost)
		fprintf(stderr, "sluice-bridge: the connection is lost: try again when the source answers\n");
	return BR_FAILED;
}

/* ---------- parameters ---------- */

/* All of fd, zero-terminated; NULL (and a message) when it cannot be had. */
static char *
read_all(int fd)
{
	char	   *text = palloc(MAX_FILE + 1);
	size_t		len = 0;
	ssize_t		n;

	while ((n = read(fd, text + len, MAX_FILE - len)) > 0)
		len += n;
	if (n < 0 || len == MAX_FILE || memchr(text, '\0', len) != NULL)
	{
		fprintf(stderr, "sluice-bridge: the parameters cannot be read: give lines of key=value, at most %d bytes\n", MAX_FILE);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

static char *
read_file(const char *path)
{
	struct stat st;
	char	   *text;
	int			fd = open(path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0 || fstat(fd, &st) != 0)
	{
		fprintf(stderr, "sluice-bridge: could not open \"%s\": %s\n", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077) != 0)
	{
		fprintf(stderr, "sluice-bridge: \"%s\" must be a file that its owner alone may read: chmod 600\n", path);
		close(fd);
		return NULL;
	}
	text = read_all(fd);
	close(fd);
	return text;
}

/* Lines of key=value; empty lines and those that begin with # are none. */
static bool
parse_params(char *text, MxParams *p)
{
	MxError		err;

	for (char *line = text, *next; line != NULL; line = next)
	{
		char	   *equals;

		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (*line == '\0' || *line == '#')
			continue;
		equals = strchr(line, '=');
		if (equals == NULL)
		{
			fprintf(stderr, "sluice-bridge: a line of the parameters is not key=value\n");
			return false;
		}
		*equals = '\0';
		if (!mx_params_set(p, line, equals + 1, &err))
		{
			complain(&err);
			return false;
		}
	}
	return true;
}

/* ---------- what is shown ---------- */

static void
print_bytes(const char *data, size_t len)
{
	uint8		digest[SL_SHA256_BYTES];

	if (data == NULL)
	{
		printf("\\N");
		return;
	}
	printf("%zu:", len);
	if (len > SHORT_CELL)
	{
		sl_sha256(data, len, digest);
		printf("sha256:");
		data = (const char *) digest;
		len = sizeof(digest);
	}
	for (size_t i = 0; i < len; i++)
		printf("%02x", (uint8) data[i]);
}

static int
show_server(MxError *err)
{
	MxServer	s;
	MxPosition	pos;

	printf("server: %s %s\n", mx_is_mariadb(conn) ? "mariadb" : "mysql", mx_version_text(conn));
	printf("version: %u\n", mx_version(conn));
	printf("tls: %s\n", mx_is_encrypted(conn) ? mx_cipher(conn) : "none");
	if (!mx_server_read(conn, &s, err))
		return complain(err);
	printf("server_id: %u\n", s.server_id);
	if (mx_is_mariadb(conn))
		printf("gtid_domain_id: %u\ngtid_binlog_state: %s\n", s.domain, s.gtid_state);
	else
		printf("server_uuid: %s\ngtid_purged: %s\n", s.uuid, s.gtid_purged);
	printf("log_bin: %s\n", s.log_bin ? "on" : "off");
	printf("gtid: %s\n", s.gtid);
	mx_server_free(&s);
	if (!mx_position_read(conn, &pos, err))
		return complain(err);
	printf("log_file: %s\nlog_pos: " UINT64_FORMAT "\n", pos.file, pos.pos);
	return BR_OK;
}

/* One line a check: verdict, name, detail; below it what cures it. */
static int
show_checks(Probe *o, const char *database, MxError *err)
{
	BrStream	s;
	BrSourceChecks checks = {0};
	int			code = BR_OK;

	br_probe_stream(conn, &o->plan, database != NULL ? database : "", &s);
	s.server_id = o->d.server_id;
	if (database == NULL ? !br_source_check(conn, NULL, o->d.server_id, &checks, err) :
		!br_preflight_run(&s, conn, (int) o->values, true, &checks, err))
		code = complain(err);
	for (int i = 0; i < checks.n; i++)
	{
		const BrSourceCheck *check = &checks.list[i];

		printf("%s\t%s\t%s\n", check->ok ? "ok" : check->required ? "not ok" : "advice",
			   check->name, check->detail);
		if (check->fix_sql != NULL)
			printf("\t%s\n", check->fix_sql);
		if (!check->ok && check->required)
			code = BR_FAILED;
	}
	br_source_checks_free(&checks);
	return code;
}

static int
show_catalog(const char *database, MxError *err)
{
	BrCatalog  *cat = br_catalog_read(conn, database, NULL, err);
	StringInfoData out;

	if (cat == NULL)
		return complain(err);
	for (int i = 0; i < cat->ntables; i++)
	{
		initStringInfo(&out);
		br_table_json(&out, &cat->tables[i]);
		printf("%s\n", out.data);
		pfree(out.data);
	}
	for (int i = 0; i < cat->nobjects; i++)
	{
		initStringInfo(&out);
		appendStringInfoChar(&out, '{');
		br_json_text(&out, "object", cat->objects[i].kind);
		br_json_text(&out, "name", cat->objects[i].name);
		printf("%s}\n", out.data);
		pfree(out.data);
	}
	return BR_OK;
}

static int
show_query(const char *sql, MxError *err)
{
	MxResult   *r = mx_query(conn, sql, err);

	if (r == NULL)
		return complain(err);
	for (int i = 0; i < r->nrows; i++)
	{
		for (int j = 0; j < r->ncols; j++)
		{
			printf("%s", j > 0 ? "\t" : "");
			print_bytes(mx_value(r, i, j), r->lens[i * r->ncols + j]);
		}
		printf("\n");
	}
	mx_result_free(r);
	return BR_OK;
}

/* With --step: what was read is shown, and nothing more is read until a line comes. */
static void
wait_for_line(const Probe *o)
{
	char		line[16];

	fflush(stdout);
	if (o->step)
		(void) !fgets(line, sizeof(line), stdin);
}

static int
show_rows(Probe *o, MxError *err)
{
	MxRows	   *r = mx_rows_open(conn, o->rows, err);
	const MxColumn *cols;
	const MxCell *cells;
	int			ncols;
	int			got;

	if (r == NULL)
		return complain(err);
	ncols = mx_rows_columns(r, &cols);
	for (int i = 0; i < ncols; i++)
		printf("%s%s:%u:%u:%u:%u", i > 0 ? "\t" : "# ", cols[i].name, cols[i].type, cols[i].flags,
			   cols[i].collation, cols[i].decimals);
	printf("\n");
	wait_for_line(o);
	while ((got = mx_rows_next(r, &cells, err)) == 1)
	{
		for (int i = 0; i < ncols; i++)
		{
			printf("%s", i > 0 ? "\t" : "");
			print_bytes(cells[i].is_null ? NULL : cells[i].data, cells[i].len);
		}
		printf("\n");
	}
	mx_rows_close(r);
	return got == 0 ? BR_OK : complain(err);
}

/* The head of an event: its kind is the fifth byte, the position after it is 4 bytes from the 14th on. */
static void
show_event(const char *data, size_t len)
{
	BlFlavor	flavor = mx_is_mariadb(conn) ? BL_MARIADB : BL_MYSQL;
	uint8		kind = (uint8) data[4];
	const BlKindInfo *info = bl_kind_info(flavor, kind);

	printf("%s kind %u length %zu next " UINT64_FORMAT "\n", info != NULL ? info->name : "unknown",
		   kind, len, bl_load_le(data + 13, 4));
	fflush(stdout);
}

static int
show_dump(Probe *o, MxError *err)
{
	const char *data;
	size_t		len;
	int			got = 1;

	if (!mx_dump_start(conn, &o->d, err))
		return complain(err);
	for (int i = 0; i < o->dump && (got = mx_dump_next(conn, &data, &len, err)) == 1; i++)
	{
		show_event(data, len);
		if (i == 0)
			wait_for_line(o);
	}
	if (got == 0)
		printf("end\n");
	return got < 0 ? complain(err) : BR_OK;
}

/* ---------- arguments ---------- */

enum
{
	OPT_FILE = 1, OPT_QUERY, OPT_ROWS, OPT_STEP, OPT_DUMP, OPT_FROM, OPT_GTID,
	OPT_STOP, OPT_CHECK, OPT_HEARTBEAT, OPT_SERVER_ID, OPT_UTF8, OPT_CATALOG,
	OPT_PLAN, OPT_INTO, OPT_OVERRIDE, OPT_ZERO, OPT_VALUES
};

static const struct option options[] = {
	{"file", required_argument, NULL, OPT_FILE},
	{"check", no_argument, NULL, OPT_CHECK},
	{"values", optional_argument, NULL, OPT_VALUES},
	{"query", required_argument, NULL, OPT_QUERY},
	{"rows", required_argument, NULL, OPT_ROWS},
	{"catalog", required_argument, NULL, OPT_CATALOG},
	{"plan", required_argument, NULL, OPT_PLAN},
	{"into", required_argument, NULL, OPT_INTO},
	{"override", required_argument, NULL, OPT_OVERRIDE},
	{"zero-dates", required_argument, NULL, OPT_ZERO},
	{"utf8", no_argument, NULL, OPT_UTF8},
	{"step", no_argument, NULL, OPT_STEP},
	{"dump", required_argument, NULL, OPT_DUMP},
	{"from", required_argument, NULL, OPT_FROM},
	{"gtid", required_argument, NULL, OPT_GTID},
	{"stop-at-end", no_argument, NULL, OPT_STOP},
	{"heartbeat", required_argument, NULL, OPT_HEARTBEAT},
	{"server-id", required_argument, NULL, OPT_SERVER_ID},
	{NULL, 0, NULL, 0}
};

static int
usage(void)
{
	fprintf(stderr, "sluice-bridge probe: connects to a MySQL or MariaDB source and says what is there\n\n"
			"  --file PATH        parameters, lines of key=value, mode 0600 (else from standard input):\n"
			"                     host, port, user, password, dbname, sslmode, sslrootcert, sslcert,\n"
			"                     sslkey, connect_timeout, read_timeout\n"
			"  --check            is the server set up so that its log can be followed? With dbname:\n"
			"                     can that database's tables be?\n"
			"    --values[=S]     look for values that the target cannot hold: reads each table, at most S seconds\n"
			"  --query SQL        a small result, by the text protocol\n"
			"  --rows SQL         rows, by the binary protocol\n"
			"  --catalog DATABASE its tables, a JSON object a line, then what else is there\n"
			"  --plan DATABASE    what would be made of it, a JSON object a line\n"
			"    --into SCHEMA    on the target (else public)\n"
			"    --override TABLE.COLUMN=TYPE (of --check too)\n"
			"    --zero-dates refuse|null (of --check too)\n"
			"  --utf8             text as utf8mb4 instead of each column's character set\n"
			"  --dump N           the next N events of the binary log\n"
			"    --from FILE:POS  from there (else from where the log stands)\n"
			"    --gtid GTIDS     after these\n"
			"    --stop-at-end    do not wait for more\n"
			"    --heartbeat S    seconds\n"
			"    --server-id N    of a replica that no other has\n"
			"  --step             with --file: wait for a line of input after the first row or event\n");
	return BR_USAGE;
}

/* A whole number of arg; false when it is none from min to max. */
static bool
whole(const char *arg, long min, long max, long *n)
{
	char	   *end;

	errno = 0;
	*n = strtol(arg, &end, 10);
	return errno == 0 && end != arg && *end == '\0' && *n >= min && *n <= max;
}

/* FILE:POS */
static bool
take_position(Probe *o, const char *arg)
{
	const char *colon = strrchr(arg, ':');
	long		pos;

	if (colon == NULL || !whole(colon + 1, 4, PG_UINT32_MAX, &pos))
		return false;
	o->log_file = pnstrdup(arg, colon - arg);
	o->log_pos = pos;
	return true;
}

static bool
take_option(Probe *o, int opt, const char *arg)
{
	long		n = 0;

	switch (opt)
	{
		case OPT_FILE:
			o->file = arg;
			return true;
		case OPT_CHECK:
			return o->check = true;
		case OPT_VALUES:
			o->check = true;
			o->values = BR_PREFLIGHT_SECONDS;
			return arg == NULL || whole(arg, 1, 86400, &o->values);
		case OPT_QUERY:
			o->query = arg;
			return true;
		case OPT_ROWS:
			o->rows = arg;
			return true;
		case OPT_CATALOG:
			o->catalog = arg;
			return o->text_utf8 = true;
		case OPT_PLAN:
			o->plan.database = arg;
			return o->text_utf8 = true;
		case OPT_INTO:
			o->plan.schema = arg;
			return true;
		case OPT_OVERRIDE:
			return br_probe_plan_override(&o->plan, arg);
		case OPT_ZERO:
			o->plan.null_dates = strcmp(arg, "null") == 0;
			return o->plan.null_dates || strcmp(arg, "refuse") == 0;
		case OPT_UTF8:
			return o->text_utf8 = true;
		case OPT_FROM:
			return take_position(o, arg);
		case OPT_GTID:
			o->gtid = arg;
			return true;
		case OPT_STOP:
			return o->d.stop_at_end = true;
		case OPT_STEP:
			return o->step = true;
		case OPT_DUMP:
			if (!whole(arg, 1, INT_MAX, &n))
				return false;
			o->dump = (int) n;
			return true;
		case OPT_HEARTBEAT:
			if (!whole(arg, 1, 86400, &n))
				return false;
			o->d.heartbeat = (int) n;
			return true;
		case OPT_SERVER_ID:
			if (!whole(arg, 1, PG_UINT32_MAX, &n))
				return false;
			o->d.server_id = (uint32) n;
			return true;
		default:
			return false;
	}
}

/* Where the dump starts: as asked for, or at the log's end now. */
static bool
place_dump(Probe *o, MxError *err)
{
	static MxPosition now;

	if (o->gtid != NULL)
	{
		o->d.by_gtid = true;
		if (mx_is_mariadb(conn))
			o->d.gtid_text = o->gtid;
		else
		{
			SlError		bad;
			BlGtidSet  *set = bl_gtid_set_parse(o->gtid, false, &bad);
			StringInfoData buf;

			if (set == NULL)
			{
				memset(err, 0, sizeof(*err));
				snprintf(err->message, sizeof(err->message), "not a GTID set: %s", bad.detail);
				return false;
			}
			initStringInfo(&buf);
			bl_gtid_set_encode(set, &buf);
			o->d.gtid_set = buf.data;
			o->d.gtid_set_len = buf.len;
		}
		return true;
	}
	if (o->log_file == NULL)
	{
		if (!mx_position_read(conn, &now, err))
			return false;
		o->log_file = now.file;
		o->log_pos = now.pos;
	}
	o->d.file = o->log_file;
	o->d.pos = o->log_pos;
	return true;
}

static int
probe(Probe *o)
{
	MxParams	p;
	MxError		err;
	const char *database;
	char	   *text = o->file != NULL ? read_file(o->file) : read_all(STDIN_FILENO);
	int			code = BR_OK;

	memset(&p, 0, sizeof(p));
	if (text == NULL || !parse_params(text, &p))
		return BR_USAGE;
	database = p.database;
	if (o->check)
		p.database = NULL;		/* an account without a right to it shall be
								 * told which */
	conn = mx_connect(&p, o->text_utf8, &err);
	if (conn == NULL)
		return complain(&err);
	conn_socket = mx_socket(conn);
	if (stopped)
		mx_wake(conn);
	if (!o->check && o->query == NULL && o->rows == NULL && o->catalog == NULL &&
		o->plan.database == NULL && o->dump == 0)
		code = show_server(&err);
	if (o->check)
		code = show_checks(o, database, &err);
	if (code == BR_OK && o->query != NULL)
		code = show_query(o->query, &err);
	if (code == BR_OK && o->catalog != NULL)
		code = show_catalog(o->catalog, &err);
	if (code == BR_OK && o->plan.database != NULL && !br_probe_plan(conn, &o->plan, &err))
		code = complain(&err);
	if (code == BR_OK && o->rows != NULL)
		code = show_rows(o, &err);
	if (code == BR_OK && o->dump > 0)
		code = place_dump(o, &err) ? show_dump(o, &err) : complain(&err);
	conn_socket = -1;
	mx_close(conn);
	return code;
}

int
br_probe(int argc, char **argv)
{
	Probe		o;
	int			opt;

	memset(&o, 0, sizeof(o));
	o.d.heartbeat = HEARTBEAT;
	o.d.server_id = 0x51000000 + (uint32) getpid() % 0x1000000;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!take_option(&o, opt, optarg))
			return usage();
	if (optind != argc)
		return usage();
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
	return probe(&o);
}
