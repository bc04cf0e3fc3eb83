/*
 * network.c
 *	  MariaDB's UUID, INET4 and INET6; addresses that lie in BINARY.
 *
 * Rule: the log has their bytes as those of a BINARY, zeros at the end left
 * out; the protocol has text.  inet_recv(): family, bits, is_cidr, length,
 * bytes.
 */
#include "bridge/types/codec_int.h"
#include "common/sl_hex.h"

#include <arpa/inet.h>

#define INET_FAMILY4	2		/* PGSQL_AF_INET */
#define INET_FAMILY6	3

static int
bytes_of(const MyCodec *c)
{
	return c->type->kind == MY_INET4 ? 4 : 16;
}

/* ---------- readers: data, len in c->scratch ---------- */

static void
set_bytes(MyCodec *c, MyValue *v, const void *data, size_t len)
{
	resetStringInfo(&c->scratch);
	my_put(&c->scratch, data, len);
	v->data = c->scratch.data;
	v->len = len;
}

static bool
read_log(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	char		bytes[16] = {0};

	if (len > bytes_of(c))
		return my_wrong_length(c, len, err);
	memcpy(bytes, data, len);
	set_bytes(c, v, bytes, bytes_of(c));
	return true;
}

static bool
read_uuid(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint8		bytes[16];
	int			n = 0;

	if (len != 36)
		return my_wrong_length(c, len, err);
	for (size_t i = 0; i < len; i++)
	{
		if (i == 8 || i == 13 || i == 18 || i == 23)
		{
			if (data[i] != '-')
				return BROKEN(err, "a value of UUID is not written as one");
			continue;
		}
		if (sl_hex_digit(data[i]) < 0)
			return BROKEN(err, "a value of UUID is not written as one");
		if (n % 2 == 0)
			bytes[n / 2] = (uint8) (sl_hex_digit(data[i]) << 4);
		else
			bytes[n / 2] |= (uint8) sl_hex_digit(data[i]);
		n++;
	}
	set_bytes(c, v, bytes, sizeof(bytes));
	return true;
}

static bool
read_address(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	char		text[INET6_ADDRSTRLEN + 1];
	char		bytes[16];
	bool		v4 = c->type->kind == MY_INET4;

	if (len > INET6_ADDRSTRLEN)
		return my_wrong_length(c, len, err);
	memcpy(text, data, len);
	text[len] = '\0';
	if (strlen(text) != len || inet_pton(v4 ? AF_INET : AF_INET6, text, bytes) != 1)
		return BROKEN(err, "a value of %s is not written as one", my_kind_name(c->type->kind));
	set_bytes(c, v, bytes, bytes_of(c));
	return true;
}

/* ---------- writers ---------- */

static MyResult
write_bytes(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	my_put(out, v->data, v->len);
	return MY_VALUE;
}

static MyResult
write_uuid_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	static const char digits[] = "0123456789abcdef";
	int			start = out->len;

	for (int i = 0; i < 16; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			my_put8(out, '-');
		my_put8(out, digits[(uint8) v->data[i] >> 4]);
		my_put8(out, digits[(uint8) v->data[i] & 15]);
	}
	return my_text_end(c, out, start, err);
}

static MyResult
write_address_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	char		text[INET6_ADDRSTRLEN + 1];
	int			start = out->len;

	inet_ntop(c->type->kind == MY_INET4 ? AF_INET : AF_INET6, v->data, text, sizeof(text));
	my_put(out, text, strlen(text));
	return my_text_end(c, out, start, err);
}

static MyResult
write_inet(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (v->len != 4 && v->len != 16)
		return MISFIT(err, "the value has %zu bytes, an address 4 or 16; override the column's type with bytea",
					  v->len);
	my_put8(out, v->len == 4 ? INET_FAMILY4 : INET_FAMILY6);
	my_put8(out, (uint8) (v->len * 8));
	my_put8(out, 0);
	my_put8(out, (uint8) v->len);
	my_put(out, v->data, v->len);
	return MY_VALUE;
}

/* Of UUID, INET4, INET6; of BINARY and its like, which have their readers, the writer only. */
bool
my_network_parts(MyCodec *c)
{
	MyKind		kind = c->type->kind;

	if (kind == MY_UUID || kind == MY_INET4 || kind == MY_INET6)
	{
		c->read_protocol = kind == MY_UUID ? read_uuid : read_address;
		c->read_log = read_log;
		c->growth = 4;
	}
	switch (c->to)
	{
		case PG_INET:
			c->write = write_inet;
			break;
		case PG_UUID:
		case PG_BYTEA:
			c->write = write_bytes;
			break;
		default:
			c->write = kind == MY_UUID ? write_uuid_text : write_address_text;
	}
	return true;
}
