
-- Looking at a source's slots, and at the way out of a refusal.

CREATE FUNCTION sluice.slot_list(source text)
    RETURNS TABLE (
        slot_name text,
        stream_id text,
        own boolean,
        plugin text,
        database text,
        active boolean,
        active_pid integer,
        active_by text,
        wal_status text,
        restart_lsn pg_lsn,
        confirmed_lsn pg_lsn,
        retained_bytes bigint)
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_slot_list';

COMMENT ON FUNCTION sluice.slot_list(text) IS
    'the logical replication slots of a PostgreSQL source, and which are sluice''s own';

CREATE FUNCTION sluice.slot_drop(source text, slot_name text)
    RETURNS void
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_slot_drop';

COMMENT ON FUNCTION sluice.slot_drop(text, text) IS
    'drops a slot of sluice''s that no stream of this database uses';

CREATE FUNCTION sluice.remedies(stream_id text)
    RETURNS TABLE (
        step integer,
        run_on text,
        statement text,
        destructive boolean,
        note text)
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_remedies';

COMMENT ON FUNCTION sluice.remedies(text) IS
    'the way out of the stream''s refusal or failure, the harmless one first';

CREATE FUNCTION sluice.acknowledge(stream_id text, fingerprint text, reason text)
    RETURNS void
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_acknowledge';

COMMENT ON FUNCTION sluice.acknowledge(text, text, text) IS
    'accepts one recorded refusal, so that the stream can be started again';
