# shellcheck shell=bash
# Sourced by mariadb.sh and mysql.sh: what starting both has in common.
#
#   D       the server's program, SQL_CLIENT its client, AUTH how accounts log in,
#   FRESH   a file of the data folder that is new when the folder is
D=${D:?} SQL_CLIENT=${SQL_CLIENT:?} AUTH=${AUTH:?} FRESH=${FRESH:?}

cli() { as_svc "$SQL_CLIENT" --no-defaults -uroot -S "$IN/run/mysqld.sock" "$@"; }
is_up() { alive "$SRV/run/mysqld.pid" "$D" && cli -e 'select 1' >/dev/null 2>&1; }

# write_conf SERVER_ID: my.cnf; what only one of them knows comes on stdin
write_conf() {
    cat >"$SRV/my.cnf" - <(cat <<CONF
datadir=$IN/data
tmpdir=$IN/tmp
socket=$IN/run/mysqld.sock
pid-file=$IN/run/mysqld.pid
log-error=$IN/run/error.log
port=$(cat "$DIR/port")
bind-address=127.0.0.1
server-id=$1
log-bin=binlog
binlog_row_image=FULL
binlog_row_metadata=FULL
binlog_checksum=CRC32
ssl-ca=$IN/tls/ca.pem
ssl-cert=$IN/tls/server-cert.pem
ssl-key=$IN/tls/server-key.pem
default-time-zone=+00:00
max_allowed_packet=1G
innodb_buffer_pool_size=64M
innodb_flush_log_at_trx_commit=2
sync_binlog=0
performance_schema=OFF
skip-name-resolve
CONF
    )
}

# launch: start, wait until ready, make the accounts of a new data folder
launch() {
    rm -f "$SRV/run/mysqld.pid"
    daemon "$SRV/run/out.log" "$D" --defaults-file="$IN/my.cnf"
    local pid=$! i
    for ((i = 0; i < 1200; i++)); do is_up && break; kill -0 $pid 2>/dev/null || { tail -20 "$SRV/run/error.log" "$SRV/run/out.log" >&2; die "server exited"; }; sleep 0.05; done
    is_up || die "not ready after 60 s, see $SRV/run/error.log"
    if [ ! -e "$SRV/.accounts" ] || [ "$SRV/data/$FRESH" -nt "$SRV/.accounts" ]; then
        cli -e "SET sql_log_bin=0; CREATE USER IF NOT EXISTS repl@'%' $AUTH 'replpw', test@'%' $AUTH 'testpw'; GRANT REPLICATION SLAVE, REPLICATION CLIENT, SELECT ON *.* TO repl@'%'; GRANT ALL ON *.* TO test@'%' WITH GRANT OPTION;"
        touch "$SRV/.accounts"
    fi
    log "up: $(cli -Nse 'select version()') port $(cat "$DIR/port") socket $SRV/run/mysqld.sock"
}
do_stop() { stop_pid "$SRV/run/mysqld.pid" "$D" TERM 60; }

# command_of CMD [ARGS]: those that both have
command_of() {
    local c=$1; shift
    case $c in
        install) do_install ;;
        start) do_start ;;
        stop) do_stop ;;
        restart) do_stop; do_start ;;
        status) if is_up; then echo "running pid $(cat "$SRV/run/mysqld.pid") port $(cat "$DIR/port") mode $MODE"; else echo stopped; exit 3; fi ;;
        env) echo "export MYSQL_HOST=127.0.0.1 MYSQL_TCP_PORT=$(cat "$DIR/port") MYSQL_UNIX_PORT=$SRV/run/mysqld.sock MYSQL_CA=$SRV/tls/ca.pem" ;;
        sql) exec 9>&-; cli "$@" ;;
        exec) exec 9>&-; as_svc "$@" ;;
        wipe) do_stop; rm -rf "$SRV/data" "$SRV/.accounts" ;;
        *) die "unknown command $c" ;;
    esac
}
