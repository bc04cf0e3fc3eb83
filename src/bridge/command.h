/*
 * command.h
 *	  The commands of sluice-bridge.  Each gets its own arguments, the first
 *	  being its name, and returns the exit code.
 */
#ifndef BR_COMMAND_H
#define BR_COMMAND_H

/* Exit codes. */
#define BR_OK		0
#define BR_FAILED	1			/* said on stderr */
#define BR_USAGE	64			/* wrong arguments */

typedef struct BrCommand
{
	const char *name;
	int			(*run) (int argc, char **argv);
	const char *what;			/* for the usage text */
} BrCommand;

extern int	br_decode(int argc, char **argv);
extern int	br_probe(int argc, char **argv);
extern int	br_run(int argc, char **argv);
extern int	br_version(int argc, char **argv);

#endif							/* BR_COMMAND_H */
