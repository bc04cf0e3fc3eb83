/*
 * corpus_test.c
 *	  What PostgreSQL 15, 17 and 18 really sent (tests/fuzz/capture.py) decodes
 *	  without a fault, and all kinds of message are among it.
 *
 * The corpus is looked for below the current directory, that of the project.
 */
#include <dirent.h>

#include "common/sl_pgoutput.h"
#include "unit.h"

#define FOLDER "tests/fuzz/corpus/pgoutput"

static int	files;
static int	messages;
static int	seen[256];			/* messages by type */
static int	cells[4];			/* cells by kind */
static bool servers[20];		/* major versions */

static void
count_row(const SlRow *row)
{
	for (int i = 0; i < row->ncells; i++)
		cells[row->cells[i].kind]++;
}

/* What must hold between the messages of a real server. */
static void
check_record(const char *name, const SlRecord *rec)
{
	switch (rec->kind)
	{
		case SL_REC_SHAPE:
			CHECK_AT(rec->u.shape.relid >= 16384 && rec->u.shape.ncols > 0, "%s", name);
			for (int i = 0; i < rec->u.shape.ncols; i++)
				CHECK_AT(rec->u.shape.cols[i].typid > 0, "%s", name);
			break;
		case SL_REC_INSERT:
		case SL_REC_UPDATE:
		case SL_REC_DELETE:
			CHECK_AT(rec->u.change.wireid >= 16384, "%s", name);
			count_row(&rec->u.change.oldrow);
			count_row(&rec->u.change.newrow);
			break;
		case SL_REC_BEGIN:
			CHECK_AT(rec->u.begin.xid > 0 && rec->u.begin.final_lsn > 0, "%s", name);
			break;
		case SL_REC_COMMIT:
			CHECK_AT(rec->u.commit.end_lsn > rec->u.commit.commit_lsn, "%s", name);
			break;
		default:
			break;
	}
}

static void
decode_file(const char *name)
{
	char		path[256];
	FILE	   *f;
	SlPgoutput *d;
	uint8		len_bytes[4];
	int			major = atoi(name + 2);

	snprintf(path, sizeof(path), FOLDER "/%s", name);
	f = fopen(path, "rb");
	CHECK_AT(f != NULL, "%s", path);
	if (f == NULL)
		return;
	files++;
	if (major > 0 && major < (int) lengthof(servers))
		servers[major] = true;
	d = sl_pgoutput_create(fgetc(f));
	while (fread(len_bytes, 1, 4, f) == 4)
	{
		size_t		len = (size_t) len_bytes[0] << 24 | len_bytes[1] << 16 |
		len_bytes[2] << 8 | len_bytes[3];
		char	   *data = palloc(len + 1);
		SlRecord	rec;
		SlError		err;
		bool		ok;

		CHECK_AT(fread(data, 1, len, f) == len, "%s is cut short", name);
		ok = sl_pgoutput_decode(d, data, len, &rec, &err);
		CHECK_AT(ok, "%s, message %c: %s at %zu", name, data[0], err.detail, err.offset);
		if (ok)
			check_record(name, &rec);
		seen[(uint8) data[0]]++;
		messages++;
		pfree(data);
	}
	sl_pgoutput_free(d);
	fclose(f);
}

static void
decodes(void)
{
	DIR		   *dir = opendir(FOLDER);
	struct dirent *entry;

	CHECK(dir != NULL);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		if (strncmp(entry->d_name, "pg", 2) == 0)
			decode_file(entry->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	CHECK(files >= 45 && messages > 1000);
}

static void
has_everything(void)
{
	for (const char *type = "BCORYIUDTMSEcAbPKrp"; *type != '\0'; type++)
		CHECK_AT(seen[(uint8) *type] > 0, "no message %c", *type);
	for (int kind = 0; kind < 4; kind++)
		CHECK_AT(cells[kind] > 0, "no cell of kind %d", kind);
	CHECK(servers[15] && servers[17] && servers[18]);
}

int
main(void)
{
	RUN(decodes);
	RUN(has_everything);
	return UNIT_END();
}
