# sluice: the extension, its scripts, tests and checks.  See CONTRIBUTING.md.
#
#   make, make install             the extension (PG_CONFIG chooses the server) and
#                                  the bridge (BRIDGE=yes|no, else as the library is found)
#   make test-quick | test | test-long
#   make unit regresscheck lint format asan fuzz-smoke build-majors
#   make bench demo

EXTENSION = sluice
EXTVERSION = 0.1.0
MODULE_big = sluice

SQL_PARTS = $(sort $(wildcard sql/[0-9]*.sql))
COMMON_SRC = $(sort $(wildcard src/common/*.c))
OBJS = $(patsubst %.c,%.o,$(COMMON_SRC) $(sort $(wildcard src/pgext/*.c)))
DATA_built = sql/sluice--$(EXTVERSION).sql
EXTRA_CLEAN = build sluice-bridge $(OBJS:.o=.d)

SL_CPPFLAGS = -Isrc -I$(shell $(PG_CONFIG) --includedir)
SL_WARNINGS = -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Wstrict-prototypes
PG_CPPFLAGS = $(SL_CPPFLAGS)
# -MMD: PGXS knows nothing of headers unless the server was built to
PG_CFLAGS = $(SL_WARNINGS) $(WERROR) -MMD -MP
# The linker, not the compiler, hides what is not exported: see the map.
SHLIB_LINK = -lpq -Wl,--version-script=src/pgext/sluice.exports

PG_CONFIG ?= pg_config
# bitcode for JIT would need clang and doubles the build; nothing here gains
override with_llvm := no
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

-include $(OBJS:.o=.d)

sql/sluice--$(EXTVERSION).sql: $(SQL_PARTS)
	cat $(SQL_PARTS) > $@

sluice.so: src/pgext/sluice.exports

# a function of ours that nobody defines would be found at load time only
all: whole
whole: sluice.so
	@! nm -u $< | grep -w 'U sl_[a-z0-9_]*'
.PHONY: whole

# --------------------------------------------------------------------------
# src/common outside of a server: *_fe.o and the unit tests

FE_CPPFLAGS = -DFRONTEND -Isrc -Itests/unit -I$(includedir_server) \
	-I$(shell $(PG_CONFIG) --includedir) -D_GNU_SOURCE -DBRIDGE_VERSION='"$(EXTVERSION)"'
FE_CFLAGS = -std=gnu99 -g -O1 -Wall $(SL_WARNINGS) -Wmissing-prototypes \
	-Wdeclaration-after-statement -fno-strict-aliasing -fwrapv $(WERROR) -MMD -MP
FE_LIBS = -L$(shell $(PG_CONFIG) --pkglibdir) -L$(shell $(PG_CONFIG) --libdir) \
	-lpgcommon -lpgport -lzstd -lz -lm -lpthread
# what of the bridge needs no server and no client library
PURE_SRC = $(COMMON_SRC) $(sort $(wildcard src/bridge/binlog/*.c src/bridge/types/*.c src/bridge/schema/*.c src/bridge/replay/*.c)) \
	$(addprefix src/bridge/,mysql/error.c mysql/login.c mysql/params.c mysql/quote.c mysql/row.c verify/cells.c verify/sum.c catalog_find.c catalog_text.c cold/key.c json_in.c json_out.c \
	position.c stream_json.c stream_scope.c target_error.c watch.c \
	decode_column.c decode_item.c decode_value.c follow_check.c follow_group.c follow_layout.c follow_output.c follow_row.c follow_statement.c follow_table.c follow_tables.c follow_words.c \
	follow_xa.c)

UNIT_TESTS = $(sort $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*_test.c)))
UNIT_HELPERS = $(filter-out %_test.c,$(sort $(wildcard tests/unit/*.c)))
PROGRAMS = $(sort $(patsubst tests/programs/%.c,%,$(wildcard tests/programs/*.c)))
FUZZ_TARGETS = $(sort $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))

# $(call fe_rules,FLAVOUR,COMPILER,EXTRA FLAGS): objects and unit tests in
# build/FLAVOUR; a program per *_test.c, the other files shared among them; those of
# tests/programs without them
define fe_rules
$(1)_OBJS = $$(patsubst src/%.c,build/$(1)/%_fe.o,$$(PURE_SRC))
$(1)_HELPERS = $$(patsubst tests/unit/%.c,build/$(1)/unit_%.o,$$(UNIT_HELPERS))

build/$(1)/%_fe.o: src/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(FE_CFLAGS) $(3) $$(FE_CPPFLAGS) -c -o $$@ $$<

build/$(1)/unit_%.o: tests/unit/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(FE_CFLAGS) $(3) $$(FE_CPPFLAGS) -c -o $$@ $$<

build/$(1)/program_%.o: tests/programs/%.c Makefile
	@mkdir -p $$(@D)
	$(2) $$(FE_CFLAGS) $(3) $$(FE_CPPFLAGS) -c -o $$@ $$<

$(addprefix build/$(1)/,$(PROGRAMS)): build/$(1)/%: build/$(1)/program_%.o $$($(1)_OBJS)
	$(2) $(3) -o $$@ $$^ $$(FE_LIBS)

build/$(1)/%_test: build/$(1)/unit_%_test.o $$($(1)_OBJS) $$($(1)_HELPERS)
	$(2) $(3) -o $$@ $$^ $$(FE_LIBS)

.PRECIOUS: build/$(1)/unit_%.o build/$(1)/%_fe.o
-include $$(wildcard build/$(1)/*.d build/$(1)/*/*.d build/$(1)/*/*/*.d)
endef

SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined
$(eval $(call fe_rules,unit,$(CC),))
$(eval $(call fe_rules,asan,$(CC),$(SANITIZE) -fno-omit-frame-pointer))
$(eval $(call fe_rules,fuzz,clang,$(SANITIZE) -fsanitize=fuzzer-no-link))

unit-programs: $(addprefix build/unit/,$(UNIT_TESTS))
asan-programs: $(addprefix build/asan/,$(UNIT_TESTS))
fuzz-programs: $(addprefix build/fuzz/fuzz_,$(FUZZ_TARGETS))

build/fuzz/fuzz_%: tests/fuzz/%.c $(fuzz_OBJS) Makefile
	@mkdir -p $(@D)
	clang $(FE_CFLAGS) -Wno-missing-prototypes $(SANITIZE) -fsanitize=fuzzer \
		$(FE_CPPFLAGS) -MF $@.d -o $@ $< $(fuzz_OBJS) $(FE_LIBS)

# --------------------------------------------------------------------------
# The bridge.  Built with the rest where the MySQL client library is found;
# BRIDGE=no leaves it out, BRIDGE=yes fails without the library.

BRIDGE ?= $(if $(shell pkg-config --exists libmariadb libzstd zlib && echo found),yes,no)
BRIDGE_SRC = $(filter-out $(PURE_SRC),$(sort $(wildcard src/bridge/*.c src/bridge/cold/*.c src/bridge/mysql/*.c src/bridge/verify/*.c)))
BRIDGE_OBJS = $(patsubst src/%.c,build/bridge/%_fe.o,$(PURE_SRC) $(BRIDGE_SRC))

build/bridge/%_fe.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(FE_CFLAGS) -O2 $(FE_CPPFLAGS) $$(pkg-config --cflags libmariadb) -c -o $@ $<

sluice-bridge: $(BRIDGE_OBJS)
	$(CC) -o $@ $^ $$(pkg-config --libs libmariadb) -lpq $(FE_LIBS)

# programs of tests that talk to a source
SOURCE_OBJS = $(patsubst src/%.c,build/bridge/%_fe.o,$(sort $(PURE_SRC) $(wildcard src/bridge/mysql/*.c)))
build/bridge/crosscheck: tests/programs/mysql/crosscheck.c $(SOURCE_OBJS)
	$(CC) $(FE_CFLAGS) $(FE_CPPFLAGS) $$(pkg-config --cflags libmariadb) -MF $@.d -o $@ $< $(SOURCE_OBJS) \
		$$(pkg-config --libs libmariadb) $(FE_LIBS)

CATALOG_OBJS = $(patsubst src/%.c,build/bridge/%_fe.o,$(filter-out $(PURE_SRC),$(wildcard src/bridge/catalog*.c)))
build/bridge/replay: tests/programs/mysql/replay.c $(SOURCE_OBJS) $(CATALOG_OBJS)
	$(CC) $(FE_CFLAGS) $(FE_CPPFLAGS) $$(pkg-config --cflags libmariadb) -MF $@.d -o $@ $< $(SOURCE_OBJS) $(CATALOG_OBJS) \
		$$(pkg-config --libs libmariadb) $(FE_LIBS)

# a session on a target, by itself
TARGET_OBJS = $(filter build/bridge/bridge/target%,$(BRIDGE_OBJS))
build/bridge/session: tests/programs/target/session.c $(TARGET_OBJS)
	$(CC) $(FE_CFLAGS) $(FE_CPPFLAGS) -MF $@.d -o $@ $< $(TARGET_OBJS) -lpq $(FE_LIBS)

bridge: sluice-bridge
install-bridge: sluice-bridge
	$(MKDIR_P) '$(DESTDIR)$(bindir)'
	$(INSTALL_PROGRAM) sluice-bridge '$(DESTDIR)$(bindir)/'

ifeq ($(BRIDGE),yes)
all: bridge
install: install-bridge
endif
-include $(wildcard build/bridge/*.d build/bridge/*/*.d build/bridge/*/*/*.d)
.PHONY: bridge install-bridge

# --------------------------------------------------------------------------
# Suites.  tools/run-tests builds what they need in places of its own and
# closes with "N passed, N failed".

RUN_TESTS = /usr/bin/python3 tools/run-tests --pg-config '$(PG_CONFIG)'
FUZZ_SECONDS ?= 20

unit:
	$(RUN_TESTS) unit
regresscheck:
	$(RUN_TESTS) regress
asan:
	$(RUN_TESTS) asan
fuzz-smoke:
	$(RUN_TESTS) --fuzz-seconds $(FUZZ_SECONDS) fuzz
build-majors:
	$(RUN_TESTS) majors
test-quick:
	$(RUN_TESTS) --limit 180 unit regress pytest-quick
test:
	$(RUN_TESTS) unit asan fuzz regress pytest majors
# what .ci/run calls: the same, and the lint
ci:
	$(RUN_TESTS) lint unit asan fuzz regress pytest majors
mutate:
	$(RUN_TESTS) --limit 86400 mutate
test-long:
	$(RUN_TESTS) --limit 86400 --fuzz-seconds 300 lint-deep unit asan fuzz regress pytest pytest-long mutate majors
lint:
	$(RUN_TESTS) lint
format:
	/usr/bin/python3 tools/indent $(wildcard src/*/*.[ch] src/bridge/*/*.[ch] tests/*/*.[ch])
typedefs: all
	/usr/bin/python3 tools/typedefs $(OBJS) $(if $(filter yes,$(BRIDGE)),$(BRIDGE_OBJS)) > tools/typedefs.new
	mv tools/typedefs.new tools/typedefs.list
demo:
	demo/run
bench:
	bench/run

# for tools/lint
print-cppflags:
	@echo '$(CPPFLAGS)'

.PHONY: unit-programs asan-programs fuzz-programs unit regresscheck asan \
	fuzz-smoke build-majors mutate test-quick test ci test-long lint format typedefs \
	demo bench print-cppflags
