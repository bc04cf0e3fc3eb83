src/pgext/spi_util.o: src/pgext/spi_util.c \
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
 /opt/pg/verify/usr/include/postgresql/15/server/access/htup_details.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/htup.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/block.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/off.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/transam.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupmacs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/common/int.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/bufpage.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/item.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xact.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogreader.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlogrecord.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/rmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/rmgrlist.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/pg_crc32c.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/pg_bswap.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/relfilenode.h \
 /opt/pg/verify/usr/include/postgresql/15/server/common/relpath.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/catversion.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/backendid.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/sinval.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/namespace.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/primnodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/lock.h \
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
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_class.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_class_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/objectaddress.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/parsenodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/lockoptions.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/value.h \
 /opt/pg/verify/usr/include/postgresql/15/server/partitioning/partdefs.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h \
 /opt/pg/verify/usr/include/postgresql/15/server/commands/extension.h \
 /opt/pg/verify/usr/include/postgresql/15/server/parser/parse_node.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/queryenvironment.h \
 /opt/pg/verify/usr/include/postgresql/15/server/mb/pg_wchar.h \
 /opt/pg/verify/usr/include/postgresql/15/server/miscadmin.h \
 /opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pgtime.h \
 /opt/pg/verify/usr/include/postgresql/15/server/pgstat.h \
 /opt/pg/verify/usr/include/postgresql/15/server/portability/instr_time.h \
 /opt/pg/verify/usr/include/postgresql/15/server/postmaster/pgarch.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/backend_progress.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/backend_status.h \
 /opt/pg/verify/usr/include/postgresql/15/server/libpq/pqcomm.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/backend_progress.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/wait_event.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/builtins.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/fmgrprotos.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/guc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/dest.h \
 /opt/pg/verify/usr/include/postgresql/15/server/executor/tuptable.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/sysattr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtag.h \
 /opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtaglist.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/array.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/lsyscache.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/snapmgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/resowner.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/snapshot.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/pairingheap.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/syscache.h \
 src/pgext/spi_util.h \
 /opt/pg/verify/usr/include/postgresql/15/server/executor/spi.h \
 /opt/pg/verify/usr/include/postgresql/15/server/commands/trigger.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tableam.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/relscan.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/itup.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/spin.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/s_lock.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/sdir.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/rel.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/xlog.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_index.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_index_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_publication.h \
 /opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_publication_d.h \
 /opt/pg/verify/usr/include/postgresql/15/server/rewrite/prs2lock.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/smgr.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/ilist.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/reltrigger.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/execnodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/tupconvert.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/attmap.h \
 /opt/pg/verify/usr/include/postgresql/15/server/executor/instrument.h \
 /opt/pg/verify/usr/include/postgresql/15/server/portability/instr_time.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/params.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/plannodes.h \
 /opt/pg/verify/usr/include/postgresql/15/server/access/stratnum.h \
 /opt/pg/verify/usr/include/postgresql/15/server/nodes/tidbitmap.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/dsa.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/dsm.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/dsm_impl.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/condition_variable.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/sharedtuplestore.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/fd.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/sharedfileset.h \
 /opt/pg/verify/usr/include/postgresql/15/server/storage/fileset.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/sortsupport.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/tuplesort.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/tuplestore.h \
 /opt/pg/verify/usr/include/postgresql/15/server/lib/simplehash.h \
 /opt/pg/verify/usr/include/postgresql/15/server/port/pg_bitutils.h \
 /opt/pg/verify/usr/include/postgresql/15/server/parser/parser.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/portal.h \
 /opt/pg/verify/usr/include/postgresql/15/server/executor/execdesc.h \
 /opt/pg/verify/usr/include/postgresql/15/server/utils/plancache.h \
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
/opt/pg/verify/usr/include/postgresql/15/server/access/htup_details.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/htup.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemptr.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/block.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/off.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/itemid.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/transam.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupdesc.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/attnum.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/genbki.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_attribute_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/pg_list.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/nodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupmacs.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/common/int.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/bufpage.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/item.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xact.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogreader.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlogrecord.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/rmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/rmgrlist.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/pg_crc32c.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/pg_bswap.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/relfilenode.h:
/opt/pg/verify/usr/include/postgresql/15/server/common/relpath.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/catversion.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/backendid.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/buf.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/stringinfo.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/sinval.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/namespace.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/primnodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/bitmapset.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/lock.h:
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
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_class.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_class_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_type.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/objectaddress.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/parsenodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/lockoptions.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/value.h:
/opt/pg/verify/usr/include/postgresql/15/server/partitioning/partdefs.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h:
/opt/pg/verify/usr/include/postgresql/15/server/commands/extension.h:
/opt/pg/verify/usr/include/postgresql/15/server/parser/parse_node.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/queryenvironment.h:
/opt/pg/verify/usr/include/postgresql/15/server/mb/pg_wchar.h:
/opt/pg/verify/usr/include/postgresql/15/server/miscadmin.h:
/opt/pg/verify/usr/include/postgresql/15/server/datatype/timestamp.h:
/opt/pg/verify/usr/include/postgresql/15/server/pgtime.h:
/opt/pg/verify/usr/include/postgresql/15/server/pgstat.h:
/opt/pg/verify/usr/include/postgresql/15/server/portability/instr_time.h:
/opt/pg/verify/usr/include/postgresql/15/server/postmaster/pgarch.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/backend_progress.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/backend_status.h:
/opt/pg/verify/usr/include/postgresql/15/server/libpq/pqcomm.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/backend_progress.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/relcache.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/wait_event.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/builtins.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/fmgrprotos.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/guc.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/dest.h:
/opt/pg/verify/usr/include/postgresql/15/server/executor/tuptable.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/sysattr.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtag.h:
/opt/pg/verify/usr/include/postgresql/15/server/tcop/cmdtaglist.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/array.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/expandeddatum.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/lsyscache.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/snapmgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/resowner.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/snapshot.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/pairingheap.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/syscache.h:
src/pgext/spi_util.h:
/opt/pg/verify/usr/include/postgresql/15/server/executor/spi.h:
/opt/pg/verify/usr/include/postgresql/15/server/commands/trigger.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tableam.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/relscan.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/itup.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/spin.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/s_lock.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/sdir.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/rel.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/xlog.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_index.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_index_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_publication.h:
/opt/pg/verify/usr/include/postgresql/15/server/catalog/pg_publication_d.h:
/opt/pg/verify/usr/include/postgresql/15/server/rewrite/prs2lock.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/smgr.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/ilist.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/reltrigger.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/execnodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/tupconvert.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/attmap.h:
/opt/pg/verify/usr/include/postgresql/15/server/executor/instrument.h:
/opt/pg/verify/usr/include/postgresql/15/server/portability/instr_time.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/params.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/plannodes.h:
/opt/pg/verify/usr/include/postgresql/15/server/access/stratnum.h:
/opt/pg/verify/usr/include/postgresql/15/server/nodes/tidbitmap.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/dsa.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/dsm.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/dsm_impl.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/condition_variable.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/sharedtuplestore.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/fd.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/sharedfileset.h:
/opt/pg/verify/usr/include/postgresql/15/server/storage/fileset.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/sortsupport.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/tuplesort.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/tuplestore.h:
/opt/pg/verify/usr/include/postgresql/15/server/lib/simplehash.h:
/opt/pg/verify/usr/include/postgresql/15/server/port/pg_bitutils.h:
/opt/pg/verify/usr/include/postgresql/15/server/parser/parser.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/portal.h:
/opt/pg/verify/usr/include/postgresql/15/server/executor/execdesc.h:
/opt/pg/verify/usr/include/postgresql/15/server/utils/plancache.h:
src/pgext/pgcompat.h:
