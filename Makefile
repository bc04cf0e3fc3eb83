# sluice: the extension, its scripts and tests.  See CONTRIBUTING.md.
EXTENSION = sluice
EXTVERSION = 0.1.0
MODULE_big = sluice

SQL_PARTS = $(sort $(wildcard sql/[0-9]*.sql))
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/common/*.c src/pgext/*.c)))
DATA_built = sql/sluice--$(EXTVERSION).sql
EXTRA_CLEAN = build

PG_CPPFLAGS = -Isrc -I$(shell $(PG_CONFIG) --includedir) '-DPGDLLEXPORT=__attribute__((visibility("default")))'
PG_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers $(WERROR)
SHLIB_LINK = -lpq -Wl,--version-script=src/pgext/sluice.exports

# The linker, not the compiler, hides what is not exported: see the map.

PG_CONFIG ?= pg_config
override with_llvm := no
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

sql/sluice--$(EXTVERSION).sql: $(SQL_PARTS)
	cat $(SQL_PARTS) > $@
