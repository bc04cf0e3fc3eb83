
-- What a DBA looks at.  No view contacts a source.  Readable by pg_monitor
-- (90_grants.sql).  A view grows at its end.

CREATE FUNCTION sluice.stream_runtime()
    RETURNS TABLE (
        stream_id text,
        pid integer,
        state text,
        state_since timestamptz,
        reason text,
        should_run boolean,
        received_lsn pg_lsn,
        applied_lsn pg_lsn,
        flushed_lsn pg_lsn,
        source_lsn pg_lsn,
        source_seen_at timestamptz,
        last_commit_at timestamptz,
        source_commit_at timestamptz,
        caught_up_at timestamptz,
        restart_lsn pg_lsn,
        wal_status text,
        restarts integer,
        counters bigint[],
        stats_reset timestamptz)
    LANGUAGE c VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sluice_stream_runtime';

COMMENT ON FUNCTION sluice.stream_runtime() IS
    'what shared memory knows of the streams of this database';

CREATE FUNCTION sluice.library_version()
    RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'sluice_library_version';

COMMENT ON FUNCTION sluice.library_version() IS 'version of the loaded library';

CREATE FUNCTION sluice.version(
    OUT sql text, OUT library text, OUT bridge text, OUT source_plugin text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT (SELECT e.extversion FROM pg_catalog.pg_extension e
            WHERE e.extname = 'sluice'),
           sluice.library_version(), NULL::text, NULL::text;
END;

COMMENT ON FUNCTION sluice.version() IS
    'versions of the SQL objects, the library, the bridge and the source''s plugin';

-- One row per stream, control tables and shared memory side by side.  Not for
-- users: health and metrics are made of it.  Shared memory is read later than
-- the tables, so it is believed only about a stream that runs in both.
CREATE VIEW sluice.stream_now AS
SELECT s.stream_id,
       s.owner,
       s.driver,
       s.source_server IS NOT NULL AS has_worker,
       x.bridged,
       s.should_run,
       s.options,
       s.slot_name,
       CASE WHEN b.run THEN r.state ELSE t.state END AS state,
       CASE WHEN b.run THEN r.state_since ELSE t.state_since END AS state_since,
       t.marker,
       COALESCE(CASE WHEN x.unfed
                     THEN pg_catalog.concat_ws(': ', 'no sluice-bridge feeds the stream', t.reason) END,
                (SELECT 'waiting for a lock held by process '
                     || pg_catalog.string_agg(DISTINCT w.pid::text, ', ')
                 FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids(r.pid)) AS w (pid)),
                CASE WHEN b.run AND NOT pg_catalog.starts_with(COALESCE(t.reason, ''), r.reason)
                     THEN r.reason ELSE t.reason END,
                w.message) AS reason,
       CASE WHEN x.unfed
            THEN pg_catalog.format('Feed it from a session of a member of role %s: '
                     'SELECT * FROM sluice.feed_open(%L, 3);', s.owner, s.stream_id)
            WHEN t.reason IS NULL THEN COALESCE(t.hint, w.hint)
            ELSE t.hint END AS hint,
       t.fingerprint,
       t.last_error_at,
       r.pid,
       GREATEST(p.lsn, r.applied_lsn) AS applied_lsn,
       p.position_text,
       r.source_lsn,
       r.restart_lsn,
       r.wal_status,
       r.source_seen_at,
       GREATEST(r.caught_up_at, r.source_commit_at, p.source_commit_at) AS current_at,
       GREATEST(r.last_commit_at, p.committed_at) AS last_commit_at,
       COALESCE(r.restarts, 0) AS restarts,
       COALESCE(r.counters, c.counters) AS counters,
       COALESCE(r.stats_reset, c.stats_reset) AS stats_reset,
       pg_catalog.clock_timestamp() AS now
FROM sluice.stream s
LEFT JOIN sluice.stream_state t USING (stream_id)
LEFT JOIN sluice.stream_position p USING (stream_id)
LEFT JOIN sluice.stream_stat c USING (stream_id)
LEFT JOIN sluice.stream_runtime() r USING (stream_id)
CROSS JOIN LATERAL (
    SELECT y.bridged, y.bridged AND s.should_run AND r.pid IS NULL
               AND t.state NOT IN ('stopped', 'refused', 'failed', 'cut_over') AS unfed
    FROM (SELECT s.source_server IS NOT NULL AND s.driver IN ('mysql', 'mariadb') AS bridged) y) x
CROSS JOIN LATERAL (
    SELECT COALESCE(t.state <> ALL (e.ended) AND r.state <> ALL (e.ended), false) AS run
    FROM (VALUES (ARRAY['stopped', 'refused', 'failed', 'cut_over'])) AS e (ended)) b
LEFT JOIN LATERAL (
    SELECT pg_catalog.string_agg(g.message, E'\n' ORDER BY g.name) AS message,
           pg_catalog.string_agg(g.hint, E'\n' ORDER BY g.name) AS hint
    FROM sluice.source_warning g
    WHERE g.stream_id = s.stream_id AND g.urgent AND b.run) w ON true;

CREATE VIEW sluice.health AS
SELECT n.stream_id::text,
       n.owner::text AS owner,
       n.driver,
       CASE WHEN n.bridged OR NOT n.has_worker THEN NULL
            WHEN COALESCE(n.options ->> 'plugin', 'auto') = 'auto' THEN 'pgoutput'
            ELSE n.options ->> 'plugin' END AS plugin,
       n.state,
       CASE WHEN n.should_run THEN 'running' ELSE 'stopped' END AS desired_state,
       n.state_since,
       n.state NOT IN ('refused', 'failed')
           AND (NOT n.should_run
                OR ((n.pid IS NOT NULL OR NOT n.has_worker)
                    AND n.state NOT IN ('retrying', 'stopped', 'cut_over')
                    AND l.lag IS NOT NULL))
           AND COALESCE(NOT n.should_run
                        OR l.lag <= (n.options ->> 'max_lag')::pg_catalog.interval, true)
           AND COALESCE(n.wal_status NOT IN ('unreserved', 'lost'), true)
           AND COALESCE(b.retained_bytes
                        <= pg_catalog.pg_size_bytes(n.options ->> 'max_retained_bytes'), true)
           AND k.skipped_tables = 0
           AND NOT EXISTS (SELECT FROM sluice.debt d WHERE d.stream_id = n.stream_id)
           AND NOT (n.pid IS NOT NULL AND EXISTS (SELECT FROM sluice.source_warning g
                                                  WHERE g.stream_id = n.stream_id AND g.urgent)) AS healthy,
       n.marker,
       n.reason,
       n.hint,
       n.fingerprint,
       COALESCE(n.position_text, n.applied_lsn::text) AS "position",
       CASE WHEN n.source_lsn < n.applied_lsn THEN 0
            ELSE n.source_lsn - n.applied_lsn END AS lag_bytes,
       l.lag,
       b.retained_bytes,
       n.wal_status,
       n.slot_name,
       n.last_commit_at,
       n.last_error_at,
       n.source_seen_at,
       n.restarts,
       n.pid,
       k.pending_tables,
       k.skipped_tables
FROM sluice.stream_now n
CROSS JOIN LATERAL (
    -- what the source last said was all here: no lag while it keeps talking
    SELECT CASE WHEN n.pid IS NOT NULL AND n.state = 'streaming'
                     AND n.applied_lsn >= n.source_lsn
                     AND n.source_seen_at > n.now - '15 s'::pg_catalog.interval
                THEN '0'::pg_catalog.interval
                WHEN n.current_at > n.now THEN '0'::pg_catalog.interval
                ELSE n.now - n.current_at
           END AS lag) l
CROSS JOIN LATERAL (
    SELECT CASE WHEN n.source_lsn < n.restart_lsn THEN 0
                ELSE (n.source_lsn - n.restart_lsn)::bigint END AS retained_bytes) b
CROSS JOIN LATERAL (
    SELECT pg_catalog.count(*) FILTER (WHERE t.state IN ('pending', 'copying')) AS pending_tables,
           pg_catalog.count(*) FILTER (WHERE t.state IN ('dropped', 'abandoned'))
           + (SELECT pg_catalog.count(*) FROM sluice.skipped_table x
              WHERE x.stream_id = n.stream_id) AS skipped_tables
    FROM sluice.stream_table t WHERE t.stream_id = n.stream_id) k;

COMMENT ON VIEW sluice.health IS 'one row per stream: does it run, how far behind, why not';

CREATE VIEW sluice.tables AS
SELECT t.stream_id::text, t.schema_name::text, t.table_name::text,
       t.target_relid::pg_catalog.regclass AS target_relid, t.state,
       t.rows_copied, t.bytes_copied, t.source_id, t.added_live
FROM sluice.stream_table t;

COMMENT ON VIEW sluice.tables IS 'the tables of each stream and how far each has come';

CREATE FUNCTION sluice.verify_runtime()
    RETURNS TABLE (stream_id text, pid integer, relid oid, phase text,
        rows_done bigint, started_at timestamptz)
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'sluice_verify_runtime';

COMMENT ON FUNCTION sluice.verify_runtime() IS 'the verifies that are running, for sluice.progress';

-- The end of what is half done after a minute is a minute away.
CREATE VIEW sluice.progress AS
SELECT p.pid, d.oid AS datid, p.relid, p.stream_id, p.phase, p.rows_done, p.rows_total,
       p.bytes_done, p.bytes_total, p.started_at,
       CASE WHEN p.part > 0
            THEN n.now + (n.now - p.started_at) * (1 / LEAST(p.part, 1) - 1) END AS eta
FROM (
    SELECT c.pid, COALESCE(c.relid, i.relid) AS relid, c.stream_id, c.phase,
           COALESCE(NULLIF(c.rows_done, 0), i.tuples_done) AS rows_done,
           COALESCE(c.rows_total, NULLIF(i.tuples_total, 0)) AS rows_total,
           COALESCE(NULLIF(c.bytes_done, 0), i.blocks_done * b.size) AS bytes_done,
           COALESCE(c.bytes_total, NULLIF(i.blocks_total, 0) * b.size) AS bytes_total,
           c.started_at,
           COALESCE(c.rows_done::double precision / NULLIF(c.rows_total, 0),
                    c.bytes_done::double precision / NULLIF(c.bytes_total, 0),
                    i.blocks_done::double precision / NULLIF(i.blocks_total, 0)) AS part
    FROM sluice.copy_runtime() c
    LEFT JOIN pg_catalog.pg_stat_progress_create_index i USING (pid)
    CROSS JOIN (SELECT pg_catalog.current_setting('block_size')::bigint) AS b (size)
    UNION ALL
    SELECT v.pid, v.relid, v.stream_id, v.phase, v.rows_done, NULL, NULL, NULL,
           v.started_at, NULL
    FROM sluice.verify_runtime() v
    UNION ALL
    -- one after the other: the others wait
    SELECT r.pid, d.target_relid, d.stream_id, 'filling columns', d.rows_done, d.rows_total,
           NULL, NULL, d.made_at, d.rows_done::double precision / NULLIF(d.rows_total, 0)
    FROM (SELECT DISTINCT ON (f.stream_id) f.* FROM sluice.debt f
          WHERE f.until_lsn IS NULL ORDER BY f.stream_id, f.id) d
    JOIN sluice.stream_runtime() r USING (stream_id)
    WHERE r.pid IS NOT NULL) p
CROSS JOIN (SELECT pg_catalog.clock_timestamp()) AS n (now)
JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database();

COMMENT ON VIEW sluice.progress IS
    'the copies, verifies and fillings of columns that are running';

CREATE VIEW sluice.schema_events AS
SELECT e.stream_id::text, e.schema_name::text, e.table_name::text,
       e.lsn AS "position", e.shape, e.decision, e.ddl, e.marker, e.recorded_at
FROM sluice.schema_event e;

COMMENT ON VIEW sluice.schema_events IS 'schema boundaries seen, and what was decided';

CREATE VIEW sluice.source_changes AS
SELECT c.stream_id::text, c.old_source, c.new_source, c.evidence, c.recorded_at
FROM sluice.source_change c;

COMMENT ON VIEW sluice.source_changes IS 'servers that took the place of a stream''s source';

CREATE VIEW sluice.source_warnings AS
SELECT g.stream_id::text, g.name::text, g.urgent, g.message, g.hint, g.since
FROM sluice.source_warning g;

COMMENT ON VIEW sluice.source_warnings IS
    'what the session that feeds a stream warns of about its source; urgent: it is going to stop the stream';

CREATE VIEW sluice.refusals AS
SELECT r.id, r.stream_id::text, r.marker, r.schema_name, r.table_name,
       r.lsn AS "position", r.fingerprint, r.recorded_at, r.refusal_text,
       r.count, r.acknowledged_at, r.acknowledged_by, r.reason,
       r.column_name, r.detail, r.hint, r.last_at
FROM sluice.refusal r;

COMMENT ON VIEW sluice.refusals IS 'refusals recorded';

-- The order of counters is that of the library (enum SlCounter).
CREATE VIEW sluice.stat_stream AS
SELECT n.stream_id::text,
       n.counters[1] AS transactions,
       n.counters[2] AS inserts,
       n.counters[3] AS updates,
       n.counters[4] AS deletes,
       n.counters[5] AS truncates,
       n.counters[6] AS bytes,
       n.counters[7] AS batches,
       n.counters[8] AS copied_rows,
       n.counters[9] AS update_missing,
       n.counters[10] AS delete_missing,
       n.counters[11] AS insert_exists,
       n.counters[12] AS identity_fallback,
       n.counters[13] AS retries,
       n.counters[14] / 1000.0::double precision AS read_ms,
       n.counters[15] / 1000.0::double precision AS apply_ms,
       n.counters[16] / 1000.0::double precision AS wait_ms,
       n.stats_reset
FROM sluice.stream_now n;

COMMENT ON VIEW sluice.stat_stream IS 'cumulative counters of each stream';

CREATE VIEW sluice.conflicts AS
SELECT c.stream_id::text, c.schema_name::text, c.table_name::text, c.kind,
       c.count,
       CASE WHEN pg_catalog.pg_has_role(s.owner, 'USAGE') THEN c.last_key END AS last_key,
       c.last_lsn AS last_position, c.last_at
FROM sluice.conflict c JOIN sluice.stream s USING (stream_id);

COMMENT ON VIEW sluice.conflicts IS
    'changes that met another row than they should have; keys for the stream''s owner only';

CREATE VIEW sluice.metrics AS
SELECT m.name,
       pg_catalog.jsonb_build_object('stream', h.stream_id) || COALESCE(m.label, '{}') AS labels,
       m.value::double precision AS value
FROM sluice.health h
JOIN sluice.stat_stream c USING (stream_id)
CROSS JOIN LATERAL (VALUES
    ('sluice_healthy', NULL::jsonb, h.healthy::integer::double precision),
    ('sluice_state', pg_catalog.jsonb_build_object('state', h.state), 1),
    ('sluice_running', NULL, (h.pid IS NOT NULL)::integer),
    ('sluice_lag_seconds', NULL, EXTRACT(epoch FROM h.lag)),
    ('sluice_lag_bytes', NULL, h.lag_bytes),
    ('sluice_retained_bytes', NULL, h.retained_bytes),
    ('sluice_restarts_total', NULL, h.restarts),
    ('sluice_pending_tables', NULL, h.pending_tables),
    ('sluice_skipped_tables', NULL, h.skipped_tables),
    ('sluice_transactions_total', NULL, c.transactions),
    ('sluice_rows_total', '{"kind": "insert"}', c.inserts),
    ('sluice_rows_total', '{"kind": "update"}', c.updates),
    ('sluice_rows_total', '{"kind": "delete"}', c.deletes),
    ('sluice_rows_total', '{"kind": "copy"}', c.copied_rows),
    ('sluice_truncates_total', NULL, c.truncates),
    ('sluice_received_bytes_total', NULL, c.bytes),
    ('sluice_batches_total', NULL, c.batches),
    ('sluice_conflicts_total', '{"kind": "update_missing"}', c.update_missing),
    ('sluice_conflicts_total', '{"kind": "delete_missing"}', c.delete_missing),
    ('sluice_conflicts_total', '{"kind": "insert_exists"}', c.insert_exists),
    ('sluice_conflicts_total', '{"kind": "identity_fallback"}', c.identity_fallback),
    ('sluice_retries_total', NULL, c.retries),
    ('sluice_refusals_total', NULL, (SELECT pg_catalog.sum(r.count) FROM sluice.refusal r
                                     WHERE r.stream_id = h.stream_id)),
    ('sluice_debts', NULL, (SELECT pg_catalog.count(*) FROM sluice.debt d
                            WHERE d.stream_id = h.stream_id)),
    ('sluice_refusals_open', NULL, (h.state = 'refused')::integer)
) AS m (name, label, value)
WHERE m.value IS NOT NULL;

COMMENT ON VIEW sluice.metrics IS 'what the Prometheus query file reads';
