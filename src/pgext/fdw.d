src/pgext/fdw.o: src/pgext/fdw.c \
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
 /opt/pg/verify/usr/include/postgresql/15/server/access/reloptions.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/amapi.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/genam.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/sdir.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/skey.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/stratnum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/fmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/tidbitmap.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/block.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/off.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/dsa.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics/arch-x86.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics/generic-gcc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics/fallback.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/atomics/generic.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/dsm.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/dsm_impl.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lockdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/snapshot.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/htup.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/pairingheap.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lock.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/backendid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lwlock.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/proclist_types.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lwlocknames.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/shmem.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/hsearch.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pgtime.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_foreign_data_wrapper.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_foreign_data_wrapper_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_foreign_server.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_foreign_server_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_user_mapping.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_user_mapping_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/commands/defrem.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/objectaddress.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/parsenodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/lockoptions.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/primnodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/value.h \
 /opt/pg/verify/usr/include/postgresql/15/server/partitioning/partdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/params.h \
 /opt/pg/verify/usr/include/postgresql/15/server/parser/parse_node.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/queryenvironment.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/dest.h \
 /opt/pg/verify/usr/include/postgresql/15/server/executor/tuptable.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/htup_details.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/transam.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupmacs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/common/int.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/bufpage.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/item.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/sysattr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtag.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtaglist.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/array.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/miscadmin.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pgtime.h \
 src/pgext/source.h src/pgext/stream.h src/common/sl_marker.h \
 src/common/sl_common.h src/common/sl_option.h src/common/sl_record.h \
 src/common/sl_state.h \
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
/opt/pg/verify/usr/include/postgresql/15/server/access/reloptions.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/amapi.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/genam.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/sdir.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/skey.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/stratnum.h:
/opt/pg/verify/usr/include/postgresql/15/server/fmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/tidbitmap.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/block.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/off.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/dsa.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics/arch-x86.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics/generic-gcc.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics/fallback.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/atomics/generic.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/dsm.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/dsm_impl.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lockdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/snapshot.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/htup.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/pairingheap.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lock.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/backendid.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lwlock.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/proclist_types.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lwlocknames.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/shmem.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/hsearch.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/pgtime.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_foreign_data_wrapper.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_foreign_data_wrapper_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_foreign_server.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_foreign_server_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_user_mapping.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_user_mapping_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/commands/defrem.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/objectaddress.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/parsenodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/lockoptions.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/primnodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/value.h:
/opt/pg/verify/usr/include/postgresql/15/server/partitioning/partdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/params.h:
/opt/pg/verify/usr/include/postgresql/15/server/parser/parse_node.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/queryenvironment.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/dest.h:
/opt/pg/verify/usr/include/postgresql/15/server/executor/tuptable.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/htup_details.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/transam.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupmacs.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/common/int.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/bufpage.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/item.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/sysattr.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtag.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtaglist.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/array.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h:
/opt/pg/verify/usr/include/postgresql/15/server/miscadmin.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/pgtime.h:
src/pgext/source.h:
src/pgext/stream.h:
src/common/sl_marker.h:
src/common/sl_common.h:
src/common/sl_option.h:
src/common/sl_record.h:
src/common/sl_state.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/jsonb.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/numeric.h:
src/pgext/pgcompat.h:
