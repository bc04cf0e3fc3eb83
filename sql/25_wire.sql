
-- Change records as JSON and in their wire form, for tests and support.

CREATE FUNCTION sluice.feed_encode(records jsonb) RETURNS bytea
    LANGUAGE c STRICT STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_encode';
COMMENT ON FUNCTION sluice.feed_encode(jsonb) IS
    'a batch of change records, written as a JSON array, in its wire form';

CREATE FUNCTION sluice.feed_decode(batch bytea) RETURNS jsonb
    LANGUAGE c STRICT STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sluice_feed_decode';
COMMENT ON FUNCTION sluice.feed_decode(bytea) IS
    'the change records of a batch as a JSON array';
