/*
 * control_statement.c
 *	  What a logged statement needs beside its text: numbers, variables, the
 *	  blocks of a loaded file.
 *
 * Rows are never in these: their items are for people, and for the judgement
 * that a statement was logged where rows were expected.
 */
#include "bridge/binlog/control_int.h"

#define SHOWN	256				/* bytes of a variable's name, of its value */

void
bl_read_intvar(BlBody *b)
{
	uint8		type = sl_get_u8(&b->c, "a variable's type");
	uint64		value = bl_get_le64(&b->c, "a variable's value");

	if (sl_ok(&b->c) && type != 1 && type != 2)
		sl_fail_at(&b->c, b->c.start, SL_ERR_UNSUPPORTED,
				   "variable %u of a statement is not known", type);
	appendStringInfo(&b->control->text, "%s=" UINT64_FORMAT,
					 type == 1 ? "LAST_INSERT_ID" : "INSERT_ID", value);
	bl_text_item(b);
}

void
bl_read_rand(BlBody *b)
{
	uint64		seed1 = bl_get_le64(&b->c, "a random seed");
	uint64		seed2 = bl_get_le64(&b->c, "a random seed");

	appendStringInfo(&b->control->text, "RAND_SEED1=" UINT64_FORMAT " RAND_SEED2=" UINT64_FORMAT,
					 seed1, seed2);
	bl_text_item(b);
}

/* Item_result of the servers. */
static const char *
result_name(uint8 type)
{
	static const char *const names[] = {"string", "real", "int", "row", "decimal"};

	return type < lengthof(names) ? names[type] : NULL;
}

/* type, collation, value, and since 5.5 a byte of flags: 1 = unsigned */
static void
read_user_value(BlBody *b)
{
	uint8		type = sl_get_u8(&b->c, "a variable's type");
	uint32		collation = bl_get_le32(&b->c, "a variable's collation");
	uint32		len = bl_get_le32(&b->c, "a variable's length");
	const char *value = bl_get_bytes(&b->c, len, "a variable's value");
	uint8		flags = sl_ok(&b->c) && sl_left(&b->c) > 0 ?
	sl_get_u8(&b->c, "a variable's flags") : 0;

	if (!sl_ok(&b->c))
		return;
	if (result_name(type) == NULL)
	{
		sl_fail(&b->c, SL_ERR_UNSUPPORTED, "type %u of a variable is not known", type);
		return;
	}
	appendStringInfo(&b->control->text, "%s%s collation %u 0x",
					 (flags & 1) != 0 ? "unsigned " : "", result_name(type), collation);
	for (uint32 i = 0; i < Min(len, SHOWN); i++)
		appendStringInfo(&b->control->text, "%02x", (uint8) value[i]);
	if (len > SHOWN)
		appendStringInfo(&b->control->text, "... (%u bytes)", len);
}

void
bl_read_user_var(BlBody *b)
{
	uint32		len = bl_get_le32(&b->c, "a variable's name");
	const char *name = bl_get_bytes(&b->c, len, "a variable's name");
	bool		is_null = sl_get_u8(&b->c, "a variable") != 0;

	if (!sl_ok(&b->c))
		return;
	appendStringInfoChar(&b->control->text, '@');
	appendBinaryStringInfo(&b->control->text, name, (int) Min(len, SHOWN));
	appendStringInfoChar(&b->control->text, '=');
	if (is_null)
		appendStringInfoString(&b->control->text, "NULL");
	else
		read_user_value(b);
	bl_text_item(b);
}

void
bl_read_load_block(BlBody *b)
{
	uint32		id = bl_get_le32(&b->c, "a loaded file's number");

	appendStringInfo(&b->control->text, "file %u: %zu bytes", id, sl_left(&b->c));
	b->c.p = b->c.end;
	bl_text_item(b);
}

void
bl_read_delete_file(BlBody *b)
{
	uint32		id = bl_get_le32(&b->c, "a loaded file's number");

	appendStringInfo(&b->control->text, "file %u: given up", id);
	bl_text_item(b);
}
