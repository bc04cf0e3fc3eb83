src/pgext/start_args.o: src/pgext/start_args.c \
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
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/objectaddress.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/htup.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/block.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/off.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/parsenodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/lockoptions.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/primnodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/value.h \
 /opt/pg/verify/usr/include/postgresql/15/server/partitioning/partdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lockdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/array.h \
 /opt/pg/verify/usr/include/postgresql/15/server/fmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/builtins.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/fmgrprotos.h \
 src/common/sl_pattern.h src/common/sl_error.h src/common/sl_common.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h \
 src/pgext/start_args.h src/pgext/stream.h src/common/sl_marker.h \
 src/common/sl_option.h src/common/sl_record.h src/common/sl_state.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/jsonb.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/numeric.h \
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
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/objectaddress.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/htup.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/block.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/off.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/parsenodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/lockoptions.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/primnodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/value.h:
/opt/pg/verify/usr/include/postgresql/15/server/partitioning/partdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lockdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/array.h:
/opt/pg/verify/usr/include/postgresql/15/server/fmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/builtins.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/fmgrprotos.h:
src/common/sl_pattern.h:
src/common/sl_error.h:
src/common/sl_common.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h:
src/pgext/start_args.h:
src/pgext/stream.h:
src/common/sl_marker.h:
src/common/sl_option.h:
src/common/sl_record.h:
src/common/sl_state.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/jsonb.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/numeric.h:
src/pgext/pgcompat.h:
