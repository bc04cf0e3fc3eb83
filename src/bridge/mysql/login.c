/*
 * login.c
 *	  The packets of a login by SHA-256.
 */
#include "bridge/mysql/login.h"

/* The only byte of an answer. */
#define FAST_LOGIN_DONE	3
#define WANTS_PASSWORD	4

/* See login.h. */
bool
mx_login_scramble(const unsigned char *packet, size_t len, uint8 *scramble)
{
	if (len != MX_SCRAMBLE_BYTES + 1 || packet[MX_SCRAMBLE_BYTES] != 0)
		return false;
	memcpy(scramble, packet, MX_SCRAMBLE_BYTES);
	return true;
}

/* See login.h. */
void
mx_login_proof(const char *password, const uint8 *scramble, uint8 *proof)
{
	uint8		once[SL_SHA256_BYTES];
	uint8		mixed[SL_SHA256_BYTES + MX_SCRAMBLE_BYTES];

	sl_sha256(password, strlen(password), once);
	sl_sha256((const char *) once, sizeof(once), mixed);
	memcpy(mixed + SL_SHA256_BYTES, scramble, MX_SCRAMBLE_BYTES);
	sl_sha256((const char *) mixed, sizeof(mixed), proof);
	for (int i = 0; i < SL_SHA256_BYTES; i++)
		proof[i] ^= once[i];
}

/* See login.h. */
MxLoginReply
mx_login_reply(const unsigned char *packet, size_t len)
{
	if (len != 1)
		return MX_LOGIN_MALFORMED;
	return packet[0] == FAST_LOGIN_DONE ? MX_LOGIN_DONE :
		packet[0] == WANTS_PASSWORD ? MX_LOGIN_WANTS_PASSWORD : MX_LOGIN_MALFORMED;
}
