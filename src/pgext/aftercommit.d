src/pgext/aftercommit.o: src/pgext/aftercommit.c \
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
 /opt/pg/verify/usr/include/postgresql/15/server/access/xact.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/transam.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogreader.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogrecord.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/rmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/rmgrlist.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/pg_crc32c.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/pg_bswap.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/block.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/relfilenode.h \
 /opt/pg/verify/usr/include/postgresql/15/server/common/relpath.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/catversion.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/backendid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/sinval.h \
 /opt/pg/verify/usr/include/postgresql/15/server/mb/pg_wchar.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/memutils.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/memnodes.h \
 src/pgext/aftercommit.h src/common/sl_common.h src/pgext/pgcompat.h
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
/opt/pg/verify/usr/include/postgresql/15/server/access/xact.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/transam.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogreader.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogrecord.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/rmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/rmgrlist.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/pg_crc32c.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/pg_bswap.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/block.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/relfilenode.h:
/opt/pg/verify/usr/include/postgresql/15/server/common/relpath.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/catversion.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/backendid.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/sinval.h:
/opt/pg/verify/usr/include/postgresql/15/server/mb/pg_wchar.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/memutils.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/memnodes.h:
src/pgext/aftercommit.h:
src/common/sl_common.h:
src/pgext/pgcompat.h:
