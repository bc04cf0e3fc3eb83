
-- How changes enter from another process.  One session feeds a stream at a
-- time; what it feeds is committed by its own transaction.

CREATE FUNCTION sluice.feed_open(stream_id text, protocol integer,
    OUT token text, OUT "position" text, OUT tables jsonb, OUT connection jsonb,
    OUT configuration jsonb)
    RETURNS record
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_open';
COMMENT ON FUNCTION sluice.feed_open(text, integer) IS
    'take a stream for this session: token, position to resume from, tables with their shapes, connection to the source, scope and options';

CREATE FUNCTION sluice.feed(token text, batch bytea) RETURNS jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed';
COMMENT ON FUNCTION sluice.feed(text, bytea) IS
    'apply a batch of whole source transactions and its position in this transaction';

CREATE FUNCTION sluice.feed_source(token text, was text, batch bytea, evidence text) RETURNS jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_source';
COMMENT ON FUNCTION sluice.feed_source(text, text, bytea, text) IS
    'apply a batch of another server that was found to go on with the history of the stream''s source, and record that it is the source';

CREATE FUNCTION sluice.feed_close(token text, outcome text DEFAULT 'done')
    RETURNS void
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_close';
COMMENT ON FUNCTION sluice.feed_close(text, text) IS
    'release the stream; record the refusal that feed() raised, if it did';

CREATE FUNCTION sluice.feed_verified(token text, ticket bigint, result jsonb) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_verified';
COMMENT ON FUNCTION sluice.feed_verified(text, bigint, jsonb) IS
    'a part of the answer to a verify, from any session under the token; false: nobody waits for it';

-- Values that a change of the schema owes to rows (sql/13_debt.sql).

CREATE FUNCTION sluice.feed_debts(token text) RETURNS jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_debts';
COMMENT ON FUNCTION sluice.feed_debts(text) IS
    'what is owed to rows and can be read where the stream stands; what only waited for that is settled';

CREATE FUNCTION sluice.feed_debt(token text, debt jsonb, batch bytea) RETURNS jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_debt';
COMMENT ON FUNCTION sluice.feed_debt(text, jsonb, bytea) IS
    'write values that are owed to rows, and the key up to which they are here; or what became of the debt';

CREATE FUNCTION sluice.bridge_streams()
    RETURNS TABLE (stream_id text, driver text, state text, pid integer)
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_bridge_streams';
COMMENT ON FUNCTION sluice.bridge_streams() IS
    'the streams that this role may feed and that should run; pid: who feeds them now';

-- What is asked of a bridge without a stream.

CREATE FUNCTION sluice.bridge_requests() RETURNS TABLE (ticket bigint, asked_by name)
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_bridge_requests';
COMMENT ON FUNCTION sluice.bridge_requests() IS
    'what sessions of roles that this one may act for ask of a bridge, and nobody answers yet';

CREATE FUNCTION sluice.bridge_request(ticket bigint,
    OUT kind text, OUT connection jsonb, OUT configuration jsonb)
    RETURNS record
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_bridge_request';
COMMENT ON FUNCTION sluice.bridge_request(bigint) IS
    'take a request for this session: what is asked (preflight, plan), connection to the source, scope and options; nulls: it is not there any more';

CREATE FUNCTION sluice.bridge_answer(ticket bigint, result jsonb) RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_bridge_answer';
COMMENT ON FUNCTION sluice.bridge_answer(bigint, jsonb) IS
    'a part of the answer to a request; false: nobody waits for it';

-- The cold start of a stream that a bridge feeds.

CREATE FUNCTION sluice.feed_schema(token text, plan jsonb) RETURNS jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_schema';
COMMENT ON FUNCTION sluice.feed_schema(text, jsonb) IS
    'take the plan of a cold start, in calls of at most 200 objects: record it, and build what comes before rows';

CREATE FUNCTION sluice.feed_build(token text) RETURNS jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_build';
COMMENT ON FUNCTION sluice.feed_build(text) IS
    'build the next object of a cold start whose turn it is, in this transaction';

-- The rows of a cold start, from sessions that help the one that feeds.

CREATE FUNCTION sluice.feed_copy_open(token text, schema_name text, table_name text,
    range jsonb) RETURNS jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_copy_open';
COMMENT ON FUNCTION sluice.feed_copy_open(text, text, text, jsonb) IS
    'take a range of a table that is being copied: the key up to which its rows are here, and whether that is all';

CREATE FUNCTION sluice.feed_copy(token text, batch bytea) RETURNS void
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_copy';
COMMENT ON FUNCTION sluice.feed_copy(text, bytea) IS
    'insert rows of the range that this session has taken, and the key up to which they are here';

CREATE FUNCTION sluice.feed_copied(token text, batch bytea, result jsonb) RETURNS jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_copied';
COMMENT ON FUNCTION sluice.feed_copied(text, bytea, jsonb) IS
    'a table whose ranges are all copied is established, with the shape in the batch; with the last of them the stream has its first position';
