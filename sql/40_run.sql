
-- Stopping, waiting for and dropping a stream.

CREATE FUNCTION sluice.sync_stop(
    stream_id text,
    wait boolean DEFAULT false,
    timeout interval DEFAULT '60 s')
    RETURNS void
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_sync_stop';

COMMENT ON FUNCTION sluice.sync_stop IS
    'commits what is in flight and stops the stream; with wait, returns when that is done';

CREATE PROCEDURE sluice.sync_wait(
    stream_id text,
    state text DEFAULT 'streaming',
    timeout interval DEFAULT '60 s')
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'sluice_sync_wait';

COMMENT ON PROCEDURE sluice.sync_wait IS
    'waits until the stream is copying, streaming, caught_up, stopped, refused or failed';

CREATE FUNCTION sluice.sync_drop(
    stream_id text,
    clean_source boolean DEFAULT true)
    RETURNS void
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_sync_drop';

COMMENT ON FUNCTION sluice.sync_drop IS
    'forgets a stopped stream and removes its slot and publication from the source';

-- A stream that comes by a restore is told to the launcher.
CREATE FUNCTION sluice.stream_appeared()
    RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'sluice_stream_appeared';

COMMENT ON FUNCTION sluice.stream_appeared() IS
    'tells the launcher of a stream that it does not know';

CREATE TRIGGER stream_appeared AFTER INSERT ON sluice.stream_state
    FOR EACH ROW EXECUTE FUNCTION sluice.stream_appeared();
