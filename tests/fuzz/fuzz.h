/*
 * fuzz.h
 *	  What the fuzz targets share: reading every byte that a record points to,
 *	  in memory of exactly the input's size, so that a sanitizer sees each step
 *	  past it.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdlib.h>

#include "common/sl_pgoutput.h"
#include "common/sl_wire.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint32 fuzz_sum;

static inline void
fuzz_text(const char *s)
{
	if (s != NULL)
		fuzz_sum += (uint32) strlen(s);
}

static inline void
fuzz_bytes(const char *data, size_t len)
{
	uint32		sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + (uint8) data[i];
	fuzz_sum += sum;
}

static inline void
fuzz_row(const SlRow *row)
{
	for (int i = 0; i < row->ncells; i++)
		fuzz_bytes(row->cells[i].data, row->cells[i].len);
}

static inline void
fuzz_shape(const SlShape *s)
{
	fuzz_text(s->schema);
	fuzz_text(s->name);
	for (int i = 0; i < s->ncols; i++)
	{
		fuzz_text(s->cols[i].name);
		fuzz_text(s->cols[i].type_name);
		fuzz_text(s->cols[i].collation);
		fuzz_text(s->cols[i].dflt);
		fuzz_text(s->cols[i].source_type);
	}
}

static inline void
fuzz_record(const SlRecord *rec)
{
	switch (rec->kind)
	{
		case SL_REC_HEADER:
			fuzz_text(rec->u.header.encoding);
			fuzz_text(rec->u.header.server);
			fuzz_text(rec->u.header.server_version);
			fuzz_text(rec->u.header.system_identity);
			break;
		case SL_REC_SHAPE:
			fuzz_shape(&rec->u.shape);
			break;
		case SL_REC_FAULT:
			fuzz_text(rec->u.fault.marker);
			fuzz_text(rec->u.fault.schema);
			fuzz_text(rec->u.fault.table);
			fuzz_text(rec->u.fault.column);
			fuzz_text(rec->u.fault.position);
			fuzz_text(rec->u.fault.message);
			fuzz_text(rec->u.fault.detail);
			fuzz_text(rec->u.fault.hint);
			for (int i = 0; i < rec->u.fault.nremedies; i++)
				fuzz_text(rec->u.fault.remedies[i]);
			break;
		case SL_REC_LAYOUT:
			fuzz_text(rec->u.layout.schema);
			fuzz_text(rec->u.layout.name);
			fuzz_text(rec->u.layout.layout);
			fuzz_text(rec->u.layout.door);
			fuzz_text(rec->u.layout.statement);
			break;
		case SL_REC_INSERT:
		case SL_REC_UPDATE:
		case SL_REC_DELETE:
			if (rec->u.change.old_kind != 0)
				fuzz_row(&rec->u.change.oldrow);
			if (rec->kind != SL_REC_DELETE)
				fuzz_row(&rec->u.change.newrow);
			break;
		case SL_REC_TRUNCATE:
			fuzz_bytes((const char *) rec->u.truncate.wireids,
					   sizeof(uint32) * rec->u.truncate.nrels);
			break;
		case SL_REC_DDL:
		case SL_REC_MESSAGE:
			fuzz_text(rec->u.message.prefix);
			fuzz_bytes(rec->u.message.data, rec->u.message.len);
			break;
		case SL_REC_TYPE:
			fuzz_text(rec->u.type.schema);
			fuzz_text(rec->u.type.name);
			break;
		case SL_REC_ORIGIN:
			fuzz_text(rec->u.origin.name);
			break;
		case SL_REC_HEARTBEAT:
			fuzz_text(rec->u.heartbeat.position);
			break;
		case SL_REC_COMMIT:
			fuzz_text(rec->u.commit.position);
			break;
		case SL_REC_BEGIN_PREPARE:
		case SL_REC_PREPARE:
		case SL_REC_COMMIT_PREPARED:
		case SL_REC_ROLLBACK_PREPARED:
		case SL_REC_STREAM_PREPARE:
			fuzz_text(rec->u.mark.gid);
			break;
		default:
			break;
	}
}

/* Decode one pgoutput message and look at what comes out. */
static inline bool
fuzz_message(SlPgoutput *d, const char *data, size_t len, SlRecord *rec,
			 SlError *err)
{
	char	   *copy = malloc(len > 0 ? len : 1);
	bool		ok;

	if (len > 0)
		memcpy(copy, data, len);
	ok = sl_pgoutput_decode(d, copy, len, rec, err);
	if (ok)
		fuzz_record(rec);
	if (ok != (err->code == SL_ERR_NONE) || (!ok && err->offset > len))
		abort();
	free(copy);
	return ok;
}

#endif							/* FUZZ_H */
