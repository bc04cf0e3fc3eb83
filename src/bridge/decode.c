/*
 * decode.c
 *	  The command `decode`: a binary log file as text.
 *
 * For people who want to know what a log holds, and for the tests, which hold
 * what it prints against what the servers say.  It shows values: its output is
 * as confidential as the log.
 */
#include <errno.h>

#include "bridge/binlog/le.h"
#include "bridge/command.h"
#include "bridge/decode.h"

#define MAGIC_LEN	4
#define MAX_EVENT	((size_t) 1024 * 1024 * 1024)	/* the servers' own limit */
#define STEP		((size_t) 1024 * 1024)	/* memory grows by so much at a
											 * time */

typedef struct LogFile
{
	const char *path;
	FILE	   *f;
	uint64		pos;			/* of the event in hand */
	char	   *data;
	size_t		size;
} LogFile;

static int
complain(const LogFile *log, const char *what)
{
	fprintf(stderr, "sluice-bridge: %s, byte " UINT64_FORMAT ": %s\n", log->path, log->pos, what);
	return BR_FAILED;
}

/* Is it a binary log, and one that can be read? */
static bool
check_magic(const LogFile *log, const char *magic, size_t len)
{
	if (len == MAGIC_LEN && memcmp(magic, "\xfe" "bin", MAGIC_LEN) == 0)
		return true;
	if (len == MAGIC_LEN && memcmp(magic, "\xfd" "bin", MAGIC_LEN) == 0)
		complain(log, "the file is encrypted (binlog_encryption); only its server can read it: "
				 "read the log over a connection");
	else
		complain(log, "the file is no binary log: it does not begin with fe 62 69 6e");
	return false;
}

/* Read on to have bytes of the event; how many there are. */
static size_t
read_up_to(LogFile *log, size_t have, size_t to)
{
	while (have < to)
	{
		size_t		want = Min(to - have, STEP);
		size_t		got;

		if (log->size < have + want)
		{
			log->size = Max(have + want, log->size * 2);
			log->data = repalloc(log->data, log->size);
		}
		got = fread(log->data + have, 1, want, log->f);
		have += got;
		if (got < want)
			break;
	}
	return have;
}

/* 1 an event in log->data, 0 the end, -1 a fault, which was told. */
static int
next_event(LogFile *log, size_t *len)
{
	size_t		have = read_up_to(log, 0, BL_HEADER_LEN);

	if (ferror(log->f))
		complain(log, strerror(errno));
	else if (have == 0)
		return 0;
	else if (have < BL_HEADER_LEN)
		complain(log, "the file ends inside an event's header");
	else
	{
		*len = (size_t) bl_load_le(log->data + 9, 4);
		if (*len < BL_HEADER_LEN || *len > MAX_EVENT)
			complain(log, "an event states a length that it cannot have");
		else if (read_up_to(log, BL_HEADER_LEN, *len) < *len)
			complain(log, ferror(log->f) ? strerror(errno) : "the file ends inside an event");
		else
			return 1;
	}
	return -1;
}

/* All items of the event in hand, printed. */
static int
print_event(const DecodeOptions *opt, LogFile *log, size_t len, BlDecoder *d, bool *encrypted)
{
	StringInfoData out;
	BlItem		item;
	SlError		err;
	int			n = 0;
	bool		ok = bl_decoder_put(d, log->data, len, &err);

	initStringInfo(&out);
	while (ok && bl_decoder_next(d, &item, &err))
	{
		char		place[48];

		if (item.inner)
			snprintf(place, sizeof(place), UINT64_FORMAT ".%d", log->pos, ++n);
		else
			snprintf(place, sizeof(place), UINT64_FORMAT, log->pos);
		*encrypted = *encrypted || item.kind == BL_ITEM_ENCRYPTED;
		resetStringInfo(&out);
		ok = decode_item(opt, place, &item, &out, &err);
		fwrite(out.data, 1, out.len, stdout);
	}
	pfree(out.data);
	if (err.code == SL_ERR_NONE)
		return BR_OK;
	fflush(stdout);
	return complain(log, psprintf("%s: %s", sl_error_code_name(err.code), err.detail));
}

static int
print_log(const DecodeOptions *opt, LogFile *log)
{
	BlDecoder  *d = bl_decoder_create(opt->verify, MAX_EVENT);
	bool		encrypted = false;
	int			rc = BR_OK;
	int			more = 0;
	size_t		len = 0;

	while (rc == BR_OK && !encrypted && (more = next_event(log, &len)) > 0)
	{
		rc = print_event(opt, log, len, d, &encrypted);
		log->pos += len;
	}
	bl_decoder_free(d);
	if (rc == BR_OK && encrypted)
		rc = complain(log, "what follows is encrypted (encrypt_binlog); only its server can read "
					  "it: read the log over a connection");
	return more < 0 ? BR_FAILED : rc;
}

static int
decode_usage(void)
{
	fprintf(stderr, "usage: sluice-bridge decode [--verify] [--full] [--raw] FILE\n\n"
			"  --verify  compare the events' checksums\n"
			"  --full    print long values and statements whole\n"
			"  --raw     print the bytes of values as they stand in the log\n");
	return BR_USAGE;
}

int
br_decode(int argc, char **argv)
{
	DecodeOptions opt = {0};
	LogFile		log = {0};
	char		magic[MAGIC_LEN];
	int			rc = BR_FAILED;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--verify") == 0)
			opt.verify = true;
		else if (strcmp(argv[i], "--full") == 0)
			opt.full = true;
		else if (strcmp(argv[i], "--raw") == 0)
			opt.raw = true;
		else if (argv[i][0] == '-' || log.path != NULL)
			return decode_usage();
		else
			log.path = argv[i];
	}
	if (log.path == NULL)
		return decode_usage();
	log.f = fopen(log.path, "rb");
	if (log.f == NULL)
		return complain(&log, strerror(errno));
	log.size = STEP;
	log.data = palloc(log.size);
	if (check_magic(&log, magic, fread(magic, 1, MAGIC_LEN, log.f)))
	{
		log.pos = MAGIC_LEN;
		rc = print_log(&opt, &log);
	}
	fclose(log.f);
	pfree(log.data);
	if (fflush(stdout) != 0)
		rc = BR_FAILED;
	return rc;
}
