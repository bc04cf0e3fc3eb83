
-- The copy of a cold start while it runs: tasks, totals, time left.

CREATE FUNCTION sluice.copy_runtime()
    RETURNS TABLE (stream_id text, pid integer, task_id bigint, relid oid,
        phase text, rows_done bigint, rows_total bigint, bytes_done bigint,
        bytes_total bigint, started_at timestamptz, run_since timestamptz)
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'sluice_copy_runtime';

COMMENT ON FUNCTION sluice.copy_runtime() IS
    'the tasks of copies that are being done, for sluice.progress';

-- How far each copy is, by what its relations occupy on the source; a task in
-- hand counts by its rows.
CREATE VIEW sluice.copy_now AS
SELECT k.stream_id, k.bytes_done::bigint AS bytes_done, k.bytes_total::bigint AS bytes_total,
       k.statements_done, k.statements_total,
       CASE WHEN k.bytes_done > 0 AND k.rows_left
            THEN (pg_catalog.clock_timestamp() - k.run_since)
                 * ((k.bytes_total - k.bytes_done) / k.bytes_done) END AS time_left
FROM (
    SELECT t.stream_id,
           pg_catalog.sum(t.est_bytes)::double precision AS bytes_total,
           pg_catalog.sum(t.est_bytes * CASE
               WHEN t.state <> 'pending' THEN 1
               ELSE COALESCE(LEAST(r.rows_done::double precision / NULLIF(t.est_rows, 0), 1),
                             LEAST(r.bytes_done::double precision / NULLIF(t.est_bytes, 0), 1),
                             0) END) FILTER (WHERE t.kind = 'rows') AS bytes_done,
           pg_catalog.bool_or(t.kind = 'rows' AND t.state = 'pending') AS rows_left,
           pg_catalog.count(*) FILTER (WHERE t.kind = 'ddl' AND t.state = 'done') AS statements_done,
           pg_catalog.count(*) FILTER (WHERE t.kind = 'ddl') AS statements_total,
           pg_catalog.min(r.run_since) AS run_since
    FROM sluice.copy_task t
    LEFT JOIN sluice.copy_runtime() r ON r.task_id = t.id AND r.stream_id = t.stream_id
    GROUP BY t.stream_id) k;

COMMENT ON VIEW sluice.copy_now IS 'how far each copy is, for sluice.sync_wait';
