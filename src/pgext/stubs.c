/* stubs.c: weak stand-ins, removed before release */
#include "postgres.h"
#include "common/sl_error.h"
#include "common/sl_record.h"
#include "common/sl_wire.h"
#include "common/sl_pgoutput.h"
#include "common/sl_shape.h"
#include "common/sl_pattern.h"
#include "common/sl_state.h"
#include "common/sl_marker.h"
#include "common/sl_option.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/stream.h"
#include "pgext/state.h"
#include "pgext/shmem.h"
#include "pgext/worker.h"
#include "pgext/apply.h"
#include "pgext/judge.h"
#include "pgext/source.h"
#include "pgext/conn.h"
#include "pgext/catalog_pg.h"
#include "pgext/source_pg.h"
#include "pgext/copy_pg.h"
#include "pgext/preflight.h"
#include "pgext/guc.h"
#include "pgext/fault.h"
#include "pgext/hooks.h"
__attribute__((weak)) void sl_refuse(const SlRefusal *r, const char *fmt,...) { elog(ERROR, "sl_refuse is not built"); }
__attribute__((weak)) SlMarker sl_marker_of(const ErrorData *edata) { elog(ERROR, "sl_marker_of is not built"); }
__attribute__((weak)) void sl_raise_decode_error(const char *what, const SlError *err) { elog(ERROR, "sl_raise_decode_error is not built"); }
__attribute__((weak)) SlErrorClass sl_classify_sqlstate(int sqlerrcode) { elog(ERROR, "sl_classify_sqlstate is not built"); }
__attribute__((weak)) void sl_spi_begin(const char *what) { elog(ERROR, "sl_spi_begin is not built"); }
__attribute__((weak)) void sl_spi_commit(void) { elog(ERROR, "sl_spi_commit is not built"); }
__attribute__((weak)) void sl_spi_enter(void) { elog(ERROR, "sl_spi_enter is not built"); }
__attribute__((weak)) void sl_spi_leave(void) { elog(ERROR, "sl_spi_leave is not built"); }
__attribute__((weak)) uint64 sl_spi_exec(const char *sql, int expected, int nparams, const char *const *params) { elog(ERROR, "sl_spi_exec is not built"); }
__attribute__((weak)) char *sl_spi_text(uint64 row, int col, MemoryContext mcxt) { elog(ERROR, "sl_spi_text is not built"); }
__attribute__((weak)) int64 sl_spi_int64(uint64 row, int col, bool *isnull) { elog(ERROR, "sl_spi_int64 is not built"); }
__attribute__((weak)) bool sl_spi_bool(uint64 row, int col) { elog(ERROR, "sl_spi_bool is not built"); }
__attribute__((weak)) void sl_become_extension_owner(SlUserSwitch *s) { elog(ERROR, "sl_become_extension_owner is not built"); }
__attribute__((weak)) void sl_become_role(Oid role, SlUserSwitch *s) { elog(ERROR, "sl_become_role is not built"); }
__attribute__((weak)) void sl_become_back(const SlUserSwitch *s) { elog(ERROR, "sl_become_back is not built"); }
__attribute__((weak)) SlStream *sl_stream_load(const char *stream_id, bool missing_ok) { elog(ERROR, "sl_stream_load is not built"); }
__attribute__((weak)) bool sl_stream_opt_bool(const SlStream *s, SlOption o) { elog(ERROR, "sl_stream_opt_bool is not built"); }
__attribute__((weak)) int64 sl_stream_opt_int(const SlStream *s, SlOption o) { elog(ERROR, "sl_stream_opt_int is not built"); }
__attribute__((weak)) int64 sl_stream_opt_us(const SlStream *s, SlOption o) { elog(ERROR, "sl_stream_opt_us is not built"); }
__attribute__((weak)) char *sl_stream_opt_text(const SlStream *s, SlOption o) { elog(ERROR, "sl_stream_opt_text is not built"); }
__attribute__((weak)) char **sl_stream_opt_list(const SlStream *s, SlOption o) { elog(ERROR, "sl_stream_opt_list is not built"); }
__attribute__((weak)) char *sl_stream_target_schema(const SlStream *s, const char *source_schema) { elog(ERROR, "sl_stream_target_schema is not built"); }
__attribute__((weak)) bool sl_stream_in_scope(const SlStream *s, const char *schema, const char *table) { elog(ERROR, "sl_stream_in_scope is not built"); }
__attribute__((weak)) bool sl_stream_lock(const SlStream *s) { elog(ERROR, "sl_stream_lock is not built"); }
__attribute__((weak)) void sl_stream_unlock(const SlStream *s) { elog(ERROR, "sl_stream_unlock is not built"); }
__attribute__((weak)) XLogRecPtr sl_position_load(const char *stream_id, char **text) { elog(ERROR, "sl_position_load is not built"); }
__attribute__((weak)) void sl_position_store(const SlStream *s, XLogRecPtr lsn, const char *text, TimestampTz source_time) { elog(ERROR, "sl_position_store is not built"); }
__attribute__((weak)) int sl_stream_tables(const char *stream_id, SlStreamTable **tables) { elog(ERROR, "sl_stream_tables is not built"); }
__attribute__((weak)) void sl_stream_table_put(const char *stream_id, const SlStreamTable *t) { elog(ERROR, "sl_stream_table_put is not built"); }
__attribute__((weak)) void sl_stream_table_progress(const char *stream_id, const char *schema, const char *table, int64 rows, int64 bytes) { elog(ERROR, "sl_stream_table_progress is not built"); }
__attribute__((weak)) SlShape *sl_shape_load(const char *stream_id, const char *schema, const char *table, int16 **target_attnums) { elog(ERROR, "sl_shape_load is not built"); }
__attribute__((weak)) void sl_shape_store(const char *stream_id, const SlShape *shape, const int16 *target_attnums, XLogRecPtr lsn) { elog(ERROR, "sl_shape_store is not built"); }
__attribute__((weak)) void sl_schema_event(const char *stream_id, const char *schema, const char *table, XLogRecPtr lsn, const SlShape *shape, const char *decision, const char *ddl, SlMarker marker) { elog(ERROR, "sl_schema_event is not built"); }
__attribute__((weak)) void sl_conflict_record(const char *stream_id, const char *schema, const char *table, const char *kind, int64 count, const char *last_key, XLogRecPtr lsn) { elog(ERROR, "sl_conflict_record is not built"); }
__attribute__((weak)) void sl_refusal_record(const char *stream_id, const ErrorData *edata, XLogRecPtr lsn) { elog(ERROR, "sl_refusal_record is not built"); }
__attribute__((weak)) SlState sl_state_load(const char *stream_id) { elog(ERROR, "sl_state_load is not built"); }
__attribute__((weak)) void sl_shmem_init(void) { elog(ERROR, "sl_shmem_init is not built"); }
__attribute__((weak)) bool sl_shmem_ready(void) { elog(ERROR, "sl_shmem_ready is not built"); }
__attribute__((weak)) void sl_require_preload(void) { elog(ERROR, "sl_require_preload is not built"); }
__attribute__((weak)) int sl_shmem_nslots(void) { elog(ERROR, "sl_shmem_nslots is not built"); }
__attribute__((weak)) SlSlot *sl_shmem_slot(int i) { elog(ERROR, "sl_shmem_slot is not built"); }
__attribute__((weak)) SlSlot *sl_slot_find(Oid dboid, const char *stream_id, bool create) { elog(ERROR, "sl_slot_find is not built"); }
__attribute__((weak)) void sl_slot_release(SlSlot *slot) { elog(ERROR, "sl_slot_release is not built"); }
__attribute__((weak)) void sl_wake_launcher(void) { elog(ERROR, "sl_wake_launcher is not built"); }
__attribute__((weak)) void sl_wake_worker(SlSlot *slot) { elog(ERROR, "sl_wake_worker is not built"); }
__attribute__((weak)) void sl_launcher_register(void) { elog(ERROR, "sl_launcher_register is not built"); }
__attribute__((weak)) void sl_launcher_main(Datum arg) { elog(ERROR, "sl_launcher_main is not built"); }
__attribute__((weak)) void sl_scout_main(Datum arg) { elog(ERROR, "sl_scout_main is not built"); }
__attribute__((weak)) void sl_worker_main(Datum arg) { elog(ERROR, "sl_worker_main is not built"); }
__attribute__((weak)) bool sl_worker_should_stop(SlWorker *w) { elog(ERROR, "sl_worker_should_stop is not built"); }
__attribute__((weak)) void sl_worker_reason(SlWorker *w, const char *fmt,...) { elog(ERROR, "sl_worker_reason is not built"); }
__attribute__((weak)) void sl_pin_target_session(void) { elog(ERROR, "sl_pin_target_session is not built"); }
__attribute__((weak)) SlApply *sl_apply_create(MemoryContext cxt, SlStream *stream, SlSlot *slot) { elog(ERROR, "sl_apply_create is not built"); }
__attribute__((weak)) void sl_apply_destroy(SlApply *ap) { elog(ERROR, "sl_apply_destroy is not built"); }
__attribute__((weak)) void sl_apply_begin(SlApply *ap) { elog(ERROR, "sl_apply_begin is not built"); }
__attribute__((weak)) void sl_apply_record(SlApply *ap, const SlRecord *rec) { elog(ERROR, "sl_apply_record is not built"); }
__attribute__((weak)) bool sl_apply_at_boundary(const SlApply *ap) { elog(ERROR, "sl_apply_at_boundary is not built"); }
__attribute__((weak)) int sl_apply_pending(const SlApply *ap, int64 *bytes) { elog(ERROR, "sl_apply_pending is not built"); }
__attribute__((weak)) void sl_apply_finish(SlApply *ap) { elog(ERROR, "sl_apply_finish is not built"); }
__attribute__((weak)) void sl_apply_abort(SlApply *ap) { elog(ERROR, "sl_apply_abort is not built"); }
__attribute__((weak)) XLogRecPtr sl_apply_position(const SlApply *ap) { elog(ERROR, "sl_apply_position is not built"); }
__attribute__((weak)) XLogRecPtr sl_apply_in_hand(const SlApply *ap) { elog(ERROR, "sl_apply_in_hand is not built"); }
__attribute__((weak)) Oid sl_target_resolve(SlStream *s, const char *schema, const char *table) { elog(ERROR, "sl_target_resolve is not built"); }
__attribute__((weak)) int sl_target_check_shape(SlStream *s, Oid target, const SlShape *shape, StringInfo faults) { elog(ERROR, "sl_target_check_shape is not built"); }
__attribute__((weak)) SlVerdict *sl_judge(SlStream *s, const SlShape *before, const int16 *before_attnums, const SlShape *after, Oid target) { elog(ERROR, "sl_judge is not built"); }
__attribute__((weak)) SlSource *sl_source_resolve(const char *server, Oid role) { elog(ERROR, "sl_source_resolve is not built"); }
__attribute__((weak)) char *sl_source_from_argument(const char *source, const char *driver, const char *stream_id, bool temporary, SlSource **src) { elog(ERROR, "sl_source_from_argument is not built"); }
__attribute__((weak)) SlConn *sl_conn_open(const SlSource *src, bool replication, const char *what, SlWorker *worker, MemoryContext cxt) { elog(ERROR, "sl_conn_open is not built"); }
__attribute__((weak)) void sl_conn_close(SlConn *c) { elog(ERROR, "sl_conn_close is not built"); }
__attribute__((weak)) PGresult *sl_conn_query(SlConn *c, ExecStatusType expected, const char *sql, int nparams, const char *const *params) { elog(ERROR, "sl_conn_query is not built"); }
__attribute__((weak)) char *sl_conn_query_text(SlConn *c, const char *sql, int nparams, const char *const *params) { elog(ERROR, "sl_conn_query_text is not built"); }
__attribute__((weak)) bool sl_conn_wait(SlConn *c, int timeout_ms) { elog(ERROR, "sl_conn_wait is not built"); }
__attribute__((weak)) void sl_conn_raise(SlConn *c, const PGresult *res, const char *what) { elog(ERROR, "sl_conn_raise is not built"); }
__attribute__((weak)) char *sl_conn_literal(SlConn *c, const char *s) { elog(ERROR, "sl_conn_literal is not built"); }
__attribute__((weak)) char *sl_conn_ident(SlConn *c, const char *s) { elog(ERROR, "sl_conn_ident is not built"); }
__attribute__((weak)) SlSourceInfo *sl_pg_identify(SlConn *c) { elog(ERROR, "sl_pg_identify is not built"); }
__attribute__((weak)) int sl_pg_tables(SlConn *c, SlStream *s, SlSourceTable **tables) { elog(ERROR, "sl_pg_tables is not built"); }
__attribute__((weak)) int sl_pg_all_tables(SlConn *c, SlSourceTable **tables) { elog(ERROR, "sl_pg_all_tables is not built"); }
__attribute__((weak)) SlShape *sl_pg_shape(SlConn *c, Oid relid, bool under_snapshot) { elog(ERROR, "sl_pg_shape is not built"); }
__attribute__((weak)) SlShape *sl_pg_complete(SlConn *c, const SlShape *wire) { elog(ERROR, "sl_pg_complete is not built"); }
__attribute__((weak)) char *sl_pg_object_name(const SlStream *s) { elog(ERROR, "sl_pg_object_name is not built"); }
__attribute__((weak)) SlSlotInfo *sl_pg_slot_info(SlConn *c, const char *slot_name) { elog(ERROR, "sl_pg_slot_info is not built"); }
__attribute__((weak)) char *sl_pg_slot_create(SlConn *repl, const char *slot_name, bool temporary, bool failover, XLogRecPtr *consistent) { elog(ERROR, "sl_pg_slot_create is not built"); }
__attribute__((weak)) void sl_pg_slot_drop(SlConn *c, const char *slot_name) { elog(ERROR, "sl_pg_slot_drop is not built"); }
__attribute__((weak)) void sl_pg_publication_create(SlConn *c, const char *name, SlSourceTable *tables, int ntables) { elog(ERROR, "sl_pg_publication_create is not built"); }
__attribute__((weak)) void sl_pg_publication_drop(SlConn *c, const char *name) { elog(ERROR, "sl_pg_publication_drop is not built"); }
__attribute__((weak)) char *sl_pg_publication_diff(SlConn *c, SlStream *s) { elog(ERROR, "sl_pg_publication_diff is not built"); }
__attribute__((weak)) int64 sl_copy_table(SlConn *c, SlWorker *w, const SlShape *shape, Oid target, bool binary) { elog(ERROR, "sl_copy_table is not built"); }
__attribute__((weak)) bool sl_types_binary_ok(const SlShape *shape, Oid target) { elog(ERROR, "sl_types_binary_ok is not built"); }
__attribute__((weak)) List *sl_preflight(SlStream *s, const SlSource *src, bool warm) { elog(ERROR, "sl_preflight is not built"); }
__attribute__((weak)) void sl_preflight_raise(List *checks) { elog(ERROR, "sl_preflight_raise is not built"); }
__attribute__((weak)) void sl_guc_init(void) { elog(ERROR, "sl_guc_init is not built"); }
__attribute__((weak)) int sl_guc_max_streams;
__attribute__((weak)) bool sl_guc_autostart;
__attribute__((weak)) int sl_guc_connect_timeout;
__attribute__((weak)) int sl_guc_query_timeout;
__attribute__((weak)) int sl_guc_receive_timeout;
__attribute__((weak)) int sl_guc_lock_timeout;
__attribute__((weak)) int sl_guc_retry_min;
__attribute__((weak)) int sl_guc_retry_max;
__attribute__((weak)) bool sl_guc_log_keys;
__attribute__((weak)) char *sl_guc_fault_point;
__attribute__((weak)) void sl_fault_reached(const char *name) { elog(ERROR, "sl_fault_reached is not built"); }
__attribute__((weak)) void sl_hooks_init(void) { elog(ERROR, "sl_hooks_init is not built"); }
