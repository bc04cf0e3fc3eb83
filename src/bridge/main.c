/*
 * main.c
 *	  sluice-bridge: which of its commands is meant.
 */
#include "common/sl_common.h"
#include "bridge/command.h"

static const BrCommand commands[] = {
	{"decode", br_decode, "print a binary log file, for people"},
	{"probe", br_probe, "say what a source is, for support"},
	{"run", br_run, "feed the streams of a target database"},
	{"version", br_version, "print the version"},
};

int
br_version(int argc, char **argv)
{
	printf("sluice-bridge %s\n", BRIDGE_VERSION);
	return 0;
}

static int
usage(FILE *to, int code)
{
	fprintf(to, "sluice-bridge: feeds the changes of MySQL and MariaDB to sluice\n\nCommands:\n");
	for (int i = 0; i < lengthof(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].what);
	return code;
}

int
main(int argc, char **argv)
{
	if (argc >= 2 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0))
		return usage(stdout, 0);
	for (int i = 0; argc >= 2 && i < lengthof(commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	return usage(stderr, BR_USAGE);
}
