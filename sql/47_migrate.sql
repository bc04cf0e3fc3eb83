
-- A stream that ends after the copy, waited for.

CREATE PROCEDURE sluice.migrate(
    source text,
    driver text DEFAULT NULL,
    include_tables text[] DEFAULT NULL,
    exclude_tables text[] DEFAULT NULL,
    target_schema text DEFAULT NULL,
    schema_changes text DEFAULT NULL,
    row_filters jsonb DEFAULT NULL,
    type_overrides jsonb DEFAULT NULL,
    restart_from_scratch boolean DEFAULT false,
    reset_target_data boolean DEFAULT false,
    confirm text DEFAULT NULL,
    accept_unforwarded_schema_change text DEFAULT NULL,
    accept_target_only_unique_key text[] DEFAULT NULL,
    accept_table_rename jsonb DEFAULT NULL,
    options jsonb DEFAULT NULL)
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'sluice_migrate';

COMMENT ON PROCEDURE sluice.migrate IS
    'copies a source and waits until that is done; called again, goes on where it was';
