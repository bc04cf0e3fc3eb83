/*
 * version.h
 *	  Version of the library; sluice.control and the Makefile have the same.
 */
#ifndef SL_VERSION_H
#define SL_VERSION_H

#define SL_VERSION "0.1.0"

#endif							/* SL_VERSION_H */
