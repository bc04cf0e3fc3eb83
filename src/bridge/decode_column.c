/*
 * decode_column.c
 *	  Columns of a table map as text.
 */
#include "bridge/decode.h"

static const char *
type_name(uint8 type)
{
	static const char *const low[] = {
		[BL_T_TINY] = "TINY",[BL_T_SHORT] = "SHORT",[BL_T_LONG] = "LONG",
		[BL_T_FLOAT] = "FLOAT",[BL_T_DOUBLE] = "DOUBLE",[BL_T_NULL] = "NULL",
		[BL_T_TIMESTAMP] = "TIMESTAMP",[BL_T_LONGLONG] = "LONGLONG",
		[BL_T_INT24] = "INT24",[BL_T_DATE] = "DATE",[BL_T_TIME] = "TIME",
		[BL_T_DATETIME] = "DATETIME",[BL_T_YEAR] = "YEAR",[BL_T_NEWDATE] = "NEWDATE",
		[BL_T_VARCHAR] = "VARCHAR",[BL_T_BIT] = "BIT",[BL_T_TIMESTAMP2] = "TIMESTAMP2",
		[BL_T_DATETIME2] = "DATETIME2",[BL_T_TIME2] = "TIME2",
		[BL_T_TYPED_ARRAY] = "TYPED_ARRAY",[BL_T_BLOB_COMPRESSED] = "BLOB_COMPRESSED",
		[BL_T_VARCHAR_COMPRESSED] = "VARCHAR_COMPRESSED",[BL_T_VECTOR] = "VECTOR",
		[BL_T_JSON] = "JSON",[BL_T_NEWDECIMAL] = "NEWDECIMAL",[BL_T_ENUM] = "ENUM",
		[BL_T_SET] = "SET",[BL_T_TINY_BLOB] = "TINY_BLOB",
		[BL_T_MEDIUM_BLOB] = "MEDIUM_BLOB",[BL_T_LONG_BLOB] = "LONG_BLOB",
		[BL_T_BLOB] = "BLOB",[BL_T_VAR_STRING] = "VAR_STRING",[BL_T_STRING] = "STRING",
		[BL_T_GEOMETRY] = "GEOMETRY",
	};

	return low[type] != NULL ? low[type] : "?";
}

void
decode_column_name(const BlColumn *col, int number, StringInfo out)
{
	DecodeOptions whole = {.full = true};

	if (col->name != NULL)
		decode_text(&whole, col->name, strlen(col->name), true, out);
	else
		appendStringInfo(out, "@%d", number);
}

static void
append_type(const BlField *f, StringInfo out)
{
	appendStringInfoString(out, type_name(f->type));
	if (f->type == BL_T_NEWDECIMAL)
		appendStringInfo(out, "(%u,%u)", f->precision, f->scale);
	else if (f->max_len > 0)
		appendStringInfo(out, "(%u)", f->max_len);
	else if (f->precision > 0)
		appendStringInfo(out, "(%u)", f->precision);
}

static void
append_labels(const BlColumn *col, StringInfo out)
{
	DecodeOptions whole = {.full = true};

	for (int i = 0; i < col->nlabels; i++)
	{
		appendStringInfoString(out, i == 0 ? " labels '" : "','");
		decode_text(&whole, col->labels[i], col->label_lens[i], false, out);
	}
	if (col->nlabels > 0)
		appendStringInfoChar(out, '\'');
}

void
decode_column(const BlColumn *col, int number, StringInfo out)
{
	decode_column_name(col, number, out);
	appendStringInfoChar(out, ' ');
	append_type(&col->field, out);
	if (col->has_sign && col->is_unsigned)
		appendStringInfoString(out, " unsigned");
	if (!col->nullable)
		appendStringInfoString(out, " not null");
	if (col->in_key && col->key_prefix > 0)
		appendStringInfo(out, " key(%u)", col->key_prefix);
	else if (col->in_key)
		appendStringInfoString(out, " key");
	if (col->invisible)
		appendStringInfoString(out, " invisible");
	if (col->collation != 0)
		appendStringInfo(out, " collation %u", col->collation);
	if (col->geometry_type >= 0 && col->field.type == BL_T_GEOMETRY)
		appendStringInfo(out, " geometry type %d", col->geometry_type);
	if (col->vector_dims > 0)
		appendStringInfo(out, " dimensions %u", col->vector_dims);
	append_labels(col, out);
}
