src/common/sl_pgoutput.o: src/common/sl_pgoutput.c \
 src/common/sl_pgoutput.h src/common/sl_error.h src/common/sl_common.h \
 /usr/include/postgresql/15/server/postgres.h \
 /usr/include/postgresql/15/server/c.h \
 /usr/include/postgresql/15/server/postgres_ext.h \
 /usr/include/postgresql/15/server/pg_config_ext.h \
 /usr/include/postgresql/15/server/pg_config.h \
 /usr/include/postgresql/15/server/pg_config_manual.h \
 /usr/include/postgresql/15/server/pg_config_os.h \
 /usr/include/postgresql/15/server/port.h \
 /usr/include/postgresql/15/server/utils/elog.h \
 /usr/include/postgresql/15/server/utils/errcodes.h \
 /usr/include/postgresql/15/server/utils/palloc.h \
 /usr/include/postgresql/15/server/lib/stringinfo.h \
 src/common/sl_record.h src/common/sl_arrays.h src/common/sl_bytes.h \
 /usr/include/postgresql/15/server/port/pg_bswap.h
src/common/sl_pgoutput.h:
src/common/sl_error.h:
src/common/sl_common.h:
/usr/include/postgresql/15/server/postgres.h:
/usr/include/postgresql/15/server/c.h:
/usr/include/postgresql/15/server/postgres_ext.h:
/usr/include/postgresql/15/server/pg_config_ext.h:
/usr/include/postgresql/15/server/pg_config.h:
/usr/include/postgresql/15/server/pg_config_manual.h:
/usr/include/postgresql/15/server/pg_config_os.h:
/usr/include/postgresql/15/server/port.h:
/usr/include/postgresql/15/server/utils/elog.h:
/usr/include/postgresql/15/server/utils/errcodes.h:
/usr/include/postgresql/15/server/utils/palloc.h:
/usr/include/postgresql/15/server/lib/stringinfo.h:
src/common/sl_record.h:
src/common/sl_arrays.h:
src/common/sl_bytes.h:
/usr/include/postgresql/15/server/port/pg_bswap.h:
