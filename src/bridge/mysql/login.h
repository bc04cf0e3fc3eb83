/*
 * login.h
 *	  The packets of a login by SHA-256: what the server sends, and the proof of
 *	  a password.  Pure.
 *
 * Rule: MySQL "Caching_sha2_password information", "Old and new SHA-256
 * authentication".
 */
#ifndef MX_LOGIN_H
#define MX_LOGIN_H

#include "common/sl_sha256.h"

#define MX_SCRAMBLE_BYTES	20

/*
 * The server's random bytes from the packet that such a login begins with: they and a zero byte.  False when it is
 * another packet.
 */
extern bool mx_login_scramble(const unsigned char *packet, size_t len, uint8 *scramble);

/* SHA256(password) XOR SHA256(SHA256(SHA256(password)) || scramble), of SL_SHA256_BYTES bytes. */
extern void mx_login_proof(const char *password, const uint8 *scramble, uint8 *proof);

/* What a caching_sha2_password server says to a proof. */
typedef enum MxLoginReply
{
	MX_LOGIN_DONE,
	MX_LOGIN_WANTS_PASSWORD,	/* it does not know the proof: the password
								 * itself, by a private way */
	MX_LOGIN_MALFORMED
} MxLoginReply;

extern MxLoginReply mx_login_reply(const unsigned char *packet, size_t len);

#endif							/* MX_LOGIN_H */
