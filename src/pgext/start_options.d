src/pgext/start_options.o: src/pgext/start_options.c \
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
 /opt/pg/verify/usr/include/postgresql/15/server/utils/builtins.h \
 /opt/pg/verify/usr/include/postgresql/15/server/fmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/fmgrprotos.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/jsonb.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/array.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/numeric.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pgtime.h \
 src/pgext/start_args.h src/pgext/stream.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h \
 src/common/sl_marker.h src/common/sl_common.h src/common/sl_option.h \
 src/common/sl_record.h src/common/sl_state.h src/pgext/pgcompat.h
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
/opt/pg/verify/usr/include/postgresql/15/server/utils/builtins.h:
/opt/pg/verify/usr/include/postgresql/15/server/fmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/fmgrprotos.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/jsonb.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/array.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/numeric.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/pgtime.h:
src/pgext/start_args.h:
src/pgext/stream.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h:
src/common/sl_marker.h:
src/common/sl_common.h:
src/common/sl_option.h:
src/common/sl_record.h:
src/common/sl_state.h:
src/pgext/pgcompat.h:
