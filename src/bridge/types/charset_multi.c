/*
 * charset_multi.c
 *	  The Chinese, Japanese and Korean character sets: iconv's tables, with the
 *	  codes corrected that the servers read otherwise.
 *
 * tests/test_charsets.py compares every code with the servers' own conversion.
 * MySQL and MariaDB do not differ.
 */
#include "bridge/types/charset_int.h"

#include <iconv.h>

/* Codes first to last are ucs and what follows it; 0 = no characters. */
typedef struct Fix
{
	uint32		first;
	uint32		last;
	uint32		ucs;
} Fix;

static const Fix big5_fixes[] = {
	{0xa145, 0xa145, 0x2022}, {0xa14e, 0xa14e, 0xff64}, {0xa15a, 0xa15a, 0},
	{0xa1c2, 0xa1c2, 0x203e}, {0xa1c3, 0xa1c3, 0}, {0xa1c5, 0xa1c5, 0},
	{0xa1e3, 0xa1e3, 0x223c}, {0xa1f2, 0xa1f2, 0x2641}, {0xa1f3, 0xa1f3, 0x2609},
	{0xa1fe, 0xa1fe, 0}, {0xa240, 0xa240, 0}, {0xa241, 0xa241, 0xff0f},
	{0xa242, 0xa242, 0xff3c}, {0xa244, 0xa244, 0xa5}, {0xa246, 0xa247, 0xa2},
	{0xa2cc, 0xa2cc, 0}, {0xa2ce, 0xa2ce, 0}, {0xa3e1, 0xa3e1, 0},
	{0xc6a1, 0xc6a1, 0x30fe}, {0xc6a2, 0xc6a3, 0x309d}, {0xc6a4, 0xc6a4, 0x3005},
	{0xc6a5, 0xc6f7, 0x3041}, {0xc6f8, 0xc6fe, 0x30a1}, {0xc740, 0xc77e, 0x30a8},
	{0xc7a1, 0xc7b0, 0x30e7}, {0xc7b1, 0xc7b2, 0x414}, {0xc7b3, 0xc7b3, 0x401},
	{0xc7b4, 0xc7ba, 0x416}, {0xc7bb, 0xc7cd, 0x423}, {0xc7ce, 0xc7ce, 0x451},
	{0xc7cf, 0xc7e8, 0x436}, {0xc7e9, 0xc7f2, 0x2460}, {0xc7f3, 0xc7fc, 0x2474},
	{0xc7fd, 0xc8fe, 0}, {0xf9dd, 0xf9fe, 0}, {0x80, 0x80, 0}
};

static const Fix gbk_fixes[] = {{0x80, 0x80, 0}};

static const Fix sjis_fixes[] = {
	{0x5c, 0x5c, 0x5c}, {0x7e, 0x7e, 0x7e}, {0x815f, 0x815f, 0x5c}
};

/* Rows 85 to 94 are private use here, those after the prefix 0x8f too. */
static const Fix ujis_fixes[] = {
	{0x80, 0x9f, 0}, {0xa1c0, 0xa1c0, 0x5c}, {0x8fa2b7, 0x8fa2b7, 0x7e},
	{0xf5a1, 0xf5fe, 0xe000}, {0xf6a1, 0xf6fe, 0xe05e}, {0xf7a1, 0xf7fe, 0xe0bc},
	{0xf8a1, 0xf8fe, 0xe11a}, {0xf9a1, 0xf9fe, 0xe178}, {0xfaa1, 0xfafe, 0xe1d6},
	{0xfba1, 0xfbfe, 0xe234}, {0xfca1, 0xfcfe, 0xe292}, {0xfda1, 0xfdfe, 0xe2f0},
	{0xfea1, 0xfefe, 0xe34e}, {0x8ff5a1, 0x8ff5fe, 0xe3ac},
	{0x8ff6a1, 0x8ff6fe, 0xe40a}, {0x8ff7a1, 0x8ff7fe, 0xe468},
	{0x8ff8a1, 0x8ff8fe, 0xe4c6}, {0x8ff9a1, 0x8ff9fe, 0xe524},
	{0x8ffaa1, 0x8ffafe, 0xe582}, {0x8ffba1, 0x8ffbfe, 0xe5e0},
	{0x8ffca1, 0x8ffcfe, 0xe63e}, {0x8ffda1, 0x8ffdfe, 0xe69c},
	{0x8ffea1, 0x8ffefe, 0xe6fa}
};

static const Fix eucjpms_fixes[] = {{0x80, 0x9f, 0}};

/* GB 18030-2005, where iconv has moved on to what Unicode assigned since. */
static const Fix gb18030_fixes[] = {
	{0xa6d9, 0xa6df, 0xe78d}, {0xa6ec, 0xa6ed, 0xe794}, {0xa6f3, 0xa6f3, 0xe796},
	{0xfe51, 0xfe53, 0xe816}, {0xfe59, 0xfe59, 0xe81e}, {0xfe61, 0xfe61, 0xe826},
	{0xfe66, 0xfe67, 0xe82b}, {0xfe6c, 0xfe6d, 0xe831}, {0xfe76, 0xfe76, 0xe83b},
	{0xfe7e, 0xfe7e, 0xe843}, {0xfe90, 0xfe91, 0xe854}, {0xfea0, 0xfea0, 0xe864}
};

struct MyMulti
{
	const char *name;
	const char *iconv_name;
	const Fix  *fixes;
	int			nfixes;
	bool		prefixed;		/* three bytes after 0x8f */
	bool		four;			/* four bytes when the second is a digit */
	bool		loaded;
	iconv_t		cd;
	uint16		single[128];	/* of bytes 0x80 to 0xff */
	uint16	   *page[2];		/* 65536 each: of two bytes; of the two after
								 * 0x8f */
};

#define FIXES(f) f, lengthof(f)

static MyMulti multis[] =
{
	{
		"big5", "BIG5", FIXES(big5_fixes)
	},
	{
		"gb2312", "EUC-CN", NULL, 0
	},
	{
		"gbk", "GBK", FIXES(gbk_fixes)
	},
	{
		"gb18030", "GB18030", FIXES(gb18030_fixes), .four = true
	},
	{
		"euckr", "UHC", NULL, 0
	},
	{
		"sjis", "SJIS", FIXES(sjis_fixes)
	},
	{
		"cp932", "CP932", NULL, 0
	},
	{
		"ujis", "EUC-JP", FIXES(ujis_fixes), .prefixed = true
	},
	{
		"eucjpms", "EUC-JP-MS", FIXES(eucjpms_fixes), .prefixed = true
	}
};

MyMulti *
my_multi_by_name(const char *name)
{
	for (int i = 0; i < lengthof(multis); i++)
	{
		if (strcmp(multis[i].name, name) == 0)
			return &multis[i];
	}
	return NULL;
}

const char *
my_multi_name(const MyMulti *m)
{
	return m->name;
}

/* What iconv makes of exactly these bytes; 0 unless it is one character. */
static uint32
ask(iconv_t cd, const uint8 *bytes, size_t len)
{
	char		text[4];
	uint8		ucs[8];
	char	   *in = text;
	char	   *out = (char *) ucs;
	size_t		in_left = len;
	size_t		out_left = sizeof(ucs);

	memcpy(text, bytes, len);
	if (iconv(cd, &in, &in_left, &out, &out_left) != 0 || in_left != 0 || out_left != 4)
	{
		iconv(cd, NULL, NULL, NULL, NULL);
		return 0;
	}
	return (uint32) ucs[0] << 24 | ucs[1] << 16 | ucs[2] << 8 | ucs[3];
}

static void
load_page(MyMulti *m, int page)
{
	uint8		bytes[3] = {0x8f};

	m->page[page] = pg_malloc0(sizeof(uint16) * 0x10000);
	for (int code = 0x8000; code < 0x10000; code++)
	{
		uint32		ucs;

		bytes[1] = code >> 8;
		bytes[2] = code & 0xff;
		if (page == 0 && m->single[bytes[1] - 0x80] != 0)
			continue;
		ucs = page == 0 ? ask(m->cd, bytes + 1, 2) : ask(m->cd, bytes, 3);
		m->page[page][code] = ucs <= 0xffff ? ucs : 0;
	}
}

static void
apply_fix(MyMulti *m, const Fix *f)
{
	for (uint32 code = f->first; code <= f->last; code++)
	{
		uint16		ucs = f->ucs == 0 ? 0 : f->ucs + (code - f->first);

		if (code > 0xffff)
			m->page[1][code & 0xffff] = ucs;
		else if (code > 0xff)
			m->page[0][code] = ucs;
		else if (code >= 0x80)
			m->single[code - 0x80] = ucs;
	}
}

bool
my_multi_load(MyMulti *m, SlError *err)
{
	if (m->loaded)
		return true;
	m->cd = iconv_open("UCS-4BE", m->iconv_name);
	if (m->cd == (iconv_t) -1)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, 0,
							"iconv of this machine does not know character set %s",
							m->iconv_name);
	for (int b = 0x80; b <= 0xff; b++)
	{
		uint8		byte = b;

		m->single[b - 0x80] = ask(m->cd, &byte, 1);
	}
	/* what is no character alone may begin one of two bytes */
	for (int i = 0; i < m->nfixes; i++)
	{
		if (m->fixes[i].last <= 0xff)
			apply_fix(m, &m->fixes[i]);
	}
	load_page(m, 0);
	if (m->prefixed)
		load_page(m, 1);
	for (int i = 0; i < m->nfixes; i++)
		apply_fix(m, &m->fixes[i]);
	m->loaded = true;
	return true;
}

/* GB 18030's four bytes. */
static uint32
next_four(const MyMulti *m, const uint8 *p, size_t left, size_t *used)
{
	static const Fix added[] = {
		{0x82359037, 0x82359039, 0x9fb4}, {0x82359130, 0x82359134, 0x9fb7},
		{0x84318236, 0x84318239, 0xfe10}, {0x84318330, 0x84318335, 0xfe14}
	};
	uint32		code;

	if (left < 4)
		return 0;
	*used = 4;
	code = (uint32) p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	for (int i = 0; i < lengthof(added); i++)
	{
		if (code >= added[i].first && code <= added[i].last)
			return added[i].ucs + (code - added[i].first);
	}
	return ask(m->cd, p, 4);
}

uint32
my_multi_next(const MyMulti *m, const uint8 *p, size_t left, size_t *used)
{
	*used = 1;
	if (p[0] < 0x80)
		return p[0];
	if (m->single[p[0] - 0x80] != 0)
		return m->single[p[0] - 0x80];
	if (left < 2)
		return 0;
	if (m->four && p[1] >= '0' && p[1] <= '9')
		return next_four(m, p, left, used);
	if (m->prefixed && p[0] == 0x8f)
	{
		*used = 3;
		return left < 3 ? 0 : m->page[1][p[1] << 8 | p[2]];
	}
	*used = 2;
	return m->page[0][p[0] << 8 | p[1]];
}
