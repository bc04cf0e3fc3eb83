/*
 * debt.c
 *	  Paying what feed() said is owed to rows: one debt after the other, read from
 *	  the source and handed over in the session that feeds.
 *
 * NOTES
 *	  A debt is read under one definition of its table, which is known to be the
 *	  one that the stream has come to: the log is looked at before its first row and
 *	  behind its last one.  If it changes the table in between, or further on, the
 *	  debt waits until the stream has come to that too.
 */
#include "bridge/child.h"
#include "bridge/debt_int.h"
#include "bridge/fault.h"
#include "bridge/json_in.h"
#include "bridge/json_out.h"

#define LOOK_EVERY	1000		/* milliseconds between two questions whether
								 * to go on */

static const char debts_sql[] = "SELECT sluice.feed_debts($1)";
static const char debt_sql[] = "SELECT sluice.feed_debt($1, $2, $3)";

/* ---------- ends ---------- */

static bool
ended(BrPay *pay, BrPaid end)
{
	if (pay->end == BR_PAID)
		pay->end = end;
	return false;
}

/* See debt_int.h. */
BrDebtEnd
br_debt_stopped(BrPay *pay)
{
	(void) ended(pay, BR_PAID_STOP);
	return BR_DEBT_ENDED;
}

/* See debt_int.h. */
BrDebtEnd
br_debt_lost(BrPay *pay, const char *fmt,...)
{
	char		text[1024];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pay->fault = pstrdup(text);
	return BR_DEBT_LOST;
}

/* See debt_int.h. */
bool
br_debt_goes_on(BrPay *pay)
{
	const BrPayer *p = pay->p;

	if (pay->asked || (p->s->stop != NULL && *p->s->stop))
		return ended(pay, BR_PAID_LEAVE);
	if (p->go_on == NULL || br_now_ms() - pay->looked < LOOK_EVERY)
		return true;
	pay->looked = br_now_ms();
	return p->go_on(p->arg) || ended(pay, BR_PAID_LEAVE);
}

/* ---------- the target ---------- */

static void
take_answer(BrPay *pay, const char *text)
{
	SlError		err;
	BrJson	   *json = br_json_parse(text, &err);

	if (json == NULL)
		return;
	br_stream_advanced(pay->p->s);
	if (br_json_get_true(json, "stop"))
		pay->asked = true;
	br_json_free(json);
}

/* See debt_int.h. */
bool
br_debt_answers(BrPay *pay, bool wait)
{
	char	   *value;
	int			rc;

	while (pay->flying > 0 && (rc = br_target_result(pay->p->t, wait, &value, pay->err)) != 0)
	{
		pay->flying--;
		if (rc < 0)
			return ended(pay, BR_PAID_REFUSED);
		if (value == NULL)
			continue;
		take_answer(pay, value);
		BR_FAULT("debt_answered");
		pfree(value);
	}
	return true;
}

/* See debt_int.h. */
bool
br_debt_send(BrPay *pay, const BrDebt *d, const char *members, const StringInfoData *batch)
{
	char	   *json = psprintf("{\"id\": " INT64_FORMAT "%s}", d->id, members);
	BrParam		params[3] = {{.data = pay->p->s->token}, {.data = json}, {.data = NULL}};
	bool		sent;

	if (batch != NULL)
		params[2] = (BrParam)
	{
		.data = batch->data, .len = batch->len, .binary = true
	};
	sent = br_target_send(pay->p->t, debt_sql, params, lengthof(params), true, pay->err);
	pfree(json);
	if (!sent)
		return ended(pay, BR_PAID_REFUSED);
	BR_FAULT("debt_sent");
	pay->flying++;
	return br_debt_answers(pay, false);
}

/* What is owed where the stream stands; NULL: pay->end. */
static BrJson *
ask_debts(BrPay *pay)
{
	BrParam		token = {.data = pay->p->s->token};
	BrJson	   *json = NULL;
	SlError		bad;
	char	   *value = NULL;

	if (!br_target_send(pay->p->t, debts_sql, &token, 1, true, pay->err) ||
		br_target_result(pay->p->t, true, &value, pay->err) != 1)
	{
		(void) ended(pay, BR_PAID_REFUSED);
		return NULL;
	}
	json = value != NULL ? br_json_parse(value, &bad) : NULL;
	if (json != NULL)
		return json;
	br_stop(pay->stop, NULL, "the target's answer to feed_debts() cannot be read");
	(void) br_debt_stopped(pay);
	return NULL;
}

/* ---------- a debt as it was told ---------- */

/* The values of its cursor as br_key_text writes them, and of which columns they are. */
static void
take_cursor(BrDebt *d, const BrJson *cursor, const BrJson *key)
{
	StringInfoData text;

	d->cursor = NULL;
	if (cursor == NULL || key == NULL || cursor->n == 0 || cursor->n != key->n)
		return;
	d->ncursor = cursor->n;
	d->cursor_key = palloc0(sizeof(int32) * key->n);
	initStringInfo(&text);
	for (int i = 0; i < cursor->n; i++)
	{
		d->cursor_key[i] = key->items[i]->text != NULL ? (int32) strtol(key->items[i]->text, NULL, 10) : 0;
		appendStringInfo(&text, "%s\"%s\"", i > 0 ? "," : "[",
						 cursor->items[i]->kind == BR_JSON_STRING ? cursor->items[i]->text : "");
	}
	appendStringInfoChar(&text, ']');
	d->cursor = text.data;
}

static bool
take_column(BrDebtColumn *c, const BrJson *json)
{
	int64		attnum = 0;
	int64		typid = 0;

	c->name = unconstify(char *, br_json_get_text(json, "name"));
	c->key = br_json_get_true(json, "key");
	if (c->name == NULL || !br_json_get_int64(json, "attnum", &attnum) || !br_json_get_int64(json, "typid", &typid))
		return false;
	c->attnum = (int32) attnum;
	c->typid = (uint32) typid;
	return true;
}

/* Texts stay the JSON's. */
static bool
take_debt(BrDebt *d, const BrJson *json)
{
	const BrJson *cols = br_json_get(json, "columns");
	bool		ok;

	memset(d, 0, sizeof(*d));
	d->schema = unconstify(char *, br_json_get_text(json, "schema"));
	d->table = unconstify(char *, br_json_get_text(json, "table"));
	ok = d->schema != NULL && d->table != NULL && br_json_get_int64(json, "id", &d->id) &&
		br_json_get_int64(json, "pass", &d->pass) && cols != NULL && cols->kind == BR_JSON_ARRAY && cols->n > 0;
	if (!ok)
		return false;
	d->ncols = cols->n;
	d->cols = palloc0(sizeof(BrDebtColumn) * d->ncols);
	for (int i = 0; ok && i < d->ncols; i++)
		ok = take_column(&d->cols[i], cols->items[i]);
	take_cursor(d, br_json_get(json, "cursor"), br_json_get(json, "key"));
	return ok;
}

static void
free_debt(BrDebt *d)
{
	for (int i = 0; i < d->ncols; i++)
		if (d->cols[i].codec != NULL)
			my_codec_free(d->cols[i].codec);
	if (d->cols != NULL)
		pfree(d->cols);
}

/* ---------- paying it ---------- */

/* Its values cannot be read; or they can when the stream is further, if the table was changed a moment ago. */
static BrDebtEnd
lost_or_changed(BrPay *pay, const BrDebt *d, uint64 *log_end)
{
	BrDebtEnd	how = br_debt_prove(pay, d, log_end);

	return how == BR_DEBT_READ ? BR_DEBT_LOST : how;
}

static BrDebtEnd
read_all(BrPay *pay, BrDebt *d, uint64 *log_end)
{
	BrDebtEnd	how = br_debt_prove(pay, d, log_end);

	if (how == BR_DEBT_READ)
		how = br_debt_await_visible(pay, d);
	if (how == BR_DEBT_READ)
		how = br_debt_look(pay, d);
	BR_FAULT("debt_begin");
	if (how == BR_DEBT_READ)
		how = br_debt_copy(pay, d);
	if (how == BR_DEBT_READ)
		return br_debt_prove(pay, d, log_end);
	return how == BR_DEBT_LOST ? lost_or_changed(pay, d, log_end) : how;
}

/* Tell the target what became of it.  False: pay->end. */
static bool
pay_debt(BrPay *pay, BrDebt *d)
{
	uint64		lsn = 0;
	BrDebtEnd	how = read_all(pay, d, &lsn);
	StringInfoData members;
	bool		ok;

	if (how == BR_DEBT_ENDED)
		return false;
	initStringInfo(&members);
	if (how == BR_DEBT_LOST)
	{
		appendStringInfoString(&members, ", \"fault\": ");
		br_json_string(&members, pay->fault);
	}
	else
	{
		if (how == BR_DEBT_WAITS)
			lsn = pay->until;
		appendStringInfo(&members, ", \"%s\": \"%X/%X\"", how == BR_DEBT_WAITS ? "wait" : "last", (uint32) (lsn >> 32),
						 (uint32) lsn);
	}
	br_log(pay->p->s, how == BR_DEBT_READ ? "values that were owed to table %s.%s are copied" :
		   how == BR_DEBT_WAITS ? "values that are owed to table %s.%s are copied later: the source's log changes it again" :
		   "values that are owed to table %s.%s are not there any more", d->schema, d->table);
	BR_FAULT("debt_end");
	ok = br_debt_answers(pay, true) && br_debt_send(pay, d, members.data, NULL) && br_debt_answers(pay, true);
	pfree(members.data);
	return ok;
}

/* See debt.h. */
BrPaid
br_debts_pay(const BrPayer *p, BrStop *stop, BrError *err)
{
	BrPay		pay = {.p = p, .here = br_flow_lsn(p->flow), .stop = stop, .err = err};
	BrJson	   *json = ask_debts(&pay);
	const BrJson *debts = br_json_get(json, "debts");

	for (int i = 0; debts != NULL && i < debts->n && pay.end == BR_PAID; i++)
	{
		BrDebt		d;

		if (!take_debt(&d, debts->items[i]))
		{
			br_stop(stop, NULL, "the target's answer to feed_debts() cannot be read");
			(void) br_debt_stopped(&pay);
		}
		else if (pay_debt(&pay, &d))
			(void) br_debt_goes_on(&pay);
		free_debt(&d);
	}
	br_debt_rows_lost(&pay);
	if (json != NULL)
		br_json_free(json);
	return pay.end;
}
