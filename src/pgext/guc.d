src/pgext/guc.o: src/pgext/guc.c \
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
 /opt/pg/verify/usr/include/postgresql/15/server/utils/guc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/parsenodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/lockoptions.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/primnodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/value.h \
 /opt/pg/verify/usr/include/postgresql/15/server/partitioning/partdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/dest.h \
 /opt/pg/verify/usr/include/postgresql/15/server/executor/tuptable.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/htup.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/block.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/off.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/htup_details.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/transam.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupmacs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/common/int.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/bufpage.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/item.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/sysattr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtag.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtaglist.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/array.h \
 /opt/pg/verify/usr/include/postgresql/15/server/fmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h \
 src/pgext/guc.h src/pgext/pgcompat.h
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
/opt/pg/verify/usr/include/postgresql/15/server/utils/guc.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/parsenodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/lockoptions.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/primnodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/value.h:
/opt/pg/verify/usr/include/postgresql/15/server/partitioning/partdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/dest.h:
/opt/pg/verify/usr/include/postgresql/15/server/executor/tuptable.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/htup.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/block.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/off.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/htup_details.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/transam.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupmacs.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/common/int.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/bufpage.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/item.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/sysattr.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtag.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtaglist.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/array.h:
/opt/pg/verify/usr/include/postgresql/15/server/fmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h:
src/pgext/guc.h:
src/pgext/pgcompat.h:
