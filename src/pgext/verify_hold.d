src/pgext/verify_hold.o: src/pgext/verify_hold.c \
 /opt/pg/verify/usr/include/postgresql/15/server/postgres.h \
 /opt/pg/verify/usr/include/postgresql/15/server/c.h \
 /opt/pg/verify/usr/include/postgresql/15/server/postgres_ext.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pg_config_ext.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pg_config.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pg_config_manual.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pg_config_os.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/elog.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/errcodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/palloc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/miscadmin.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pgtime.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pgstat.h \
 /opt/pg/verify/usr/include/postgresql/15/server/portability/instr_time.h \
 /opt/pg/verify/usr/include/postgresql/15/server/postmaster/pgarch.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/backend_progress.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/backend_status.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/libpq/pqcomm.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/backend_progress.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/wait_event.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/latch.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/procarray.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lock.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/backendid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lockdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lwlock.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics/arch-x86.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics/generic-gcc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics/fallback.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics/generic.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/proclist_types.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lwlocknames.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/shmem.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/hsearch.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/fmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pgtime.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/standby.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/procsignal.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/relfilenode.h \
 /opt/pg/verify/usr/include/postgresql/15/server/common/relpath.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/catversion.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/standbydefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogreader.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/transam.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogrecord.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/rmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/rmgrlist.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/pg_crc32c.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/pg_bswap.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/block.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/sinval.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/snapshot.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/htup.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/off.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/pairingheap.h \
 src/pgext/guc.h src/pgext/verify.h src/pgext/conn.h \
 /opt/pg/verify/usr/include/postgresql/libpq-fe.h \
 /opt/pg/verify/usr/include/postgresql/postgres_ext.h src/pgext/source.h \
 src/pgext/stream.h src/common/sl_marker.h src/common/sl_common.h \
 src/common/sl_option.h src/common/sl_record.h src/common/sl_state.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/jsonb.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/array.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/numeric.h \
 src/pgext/worker.h src/pgext/shmem.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/spin.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/s_lock.h \
 src/pgext/pgcompat.h
/opt/pg/verify/usr/include/postgresql/15/server/postgres.h:
/opt/pg/verify/usr/include/postgresql/15/server/c.h:
/opt/pg/verify/usr/include/postgresql/15/server/postgres_ext.h:
/opt/pg/verify/usr/include/postgresql/15/server/pg_config_ext.h:
/opt/pg/verify/usr/include/postgresql/15/server/pg_config.h:
/opt/pg/verify/usr/include/postgresql/15/server/pg_config_manual.h:
/opt/pg/verify/usr/include/postgresql/15/server/pg_config_os.h:
/opt/pg/verify/usr/include/postgresql/15/server/port.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/elog.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/errcodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/palloc.h:
/opt/pg/verify/usr/include/postgresql/15/server/miscadmin.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/pgtime.h:
/opt/pg/verify/usr/include/postgresql/15/server/pgstat.h:
/opt/pg/verify/usr/include/postgresql/15/server/portability/instr_time.h:
/opt/pg/verify/usr/include/postgresql/15/server/postmaster/pgarch.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/backend_progress.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/backend_status.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/libpq/pqcomm.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/backend_progress.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/wait_event.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/latch.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/procarray.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lock.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/backendid.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lockdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lwlock.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics/arch-x86.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics/generic-gcc.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics/fallback.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics/generic.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/proclist_types.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lwlocknames.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/shmem.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/hsearch.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/fmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/pgtime.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/standby.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/procsignal.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/relfilenode.h:
/opt/pg/verify/usr/include/postgresql/15/server/common/relpath.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/catversion.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/standbydefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogreader.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/transam.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogrecord.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/rmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/rmgrlist.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/pg_crc32c.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/pg_bswap.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/block.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/sinval.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/snapshot.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/htup.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/off.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/pairingheap.h:
src/pgext/guc.h:
src/pgext/verify.h:
src/pgext/conn.h:
/opt/pg/verify/usr/include/postgresql/libpq-fe.h:
/opt/pg/verify/usr/include/postgresql/postgres_ext.h:
src/pgext/source.h:
src/pgext/stream.h:
src/common/sl_marker.h:
src/common/sl_common.h:
src/common/sl_option.h:
src/common/sl_record.h:
src/common/sl_state.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/jsonb.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/array.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/numeric.h:
src/pgext/worker.h:
src/pgext/shmem.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/spin.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/s_lock.h:
src/pgext/pgcompat.h:
