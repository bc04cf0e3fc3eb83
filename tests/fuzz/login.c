/*
 * login.c
 *	  Fuzz target: what a server sends when somebody logs in.  A proof is one that
 *	  a server which knows the password's double hash can check, and does not hold
 *	  the password.
 *
 * Input: a byte with the length of the password, the password, the packet.
 */
#include "bridge/mysql/login.h"
#include "fuzz.h"

/* As a server does: the hash that the proof gives away must be the one whose hash is known. */
static void
check_proof(const char *password, const uint8 *scramble)
{
	uint8		proof[SL_SHA256_BYTES];
	uint8		known[SL_SHA256_BYTES];
	uint8		mixed[SL_SHA256_BYTES + MX_SCRAMBLE_BYTES];
	uint8		mask[SL_SHA256_BYTES];
	uint8		again[SL_SHA256_BYTES];

	mx_login_proof(password, scramble, proof);
	sl_sha256(password, strlen(password), known);
	sl_sha256((const char *) known, sizeof(known), mixed);
	memcpy(known, mixed, sizeof(known));
	memcpy(mixed + SL_SHA256_BYTES, scramble, MX_SCRAMBLE_BYTES);
	sl_sha256((const char *) mixed, sizeof(mixed), mask);
	for (int i = 0; i < SL_SHA256_BYTES; i++)
		proof[i] ^= mask[i];
	sl_sha256((const char *) proof, sizeof(proof), again);
	if (memcmp(again, known, sizeof(known)) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t		secret = size > 0 ? Min((size_t) data[0], size - 1) : 0;
	size_t		len = size > 0 ? size - 1 - secret : 0;
	char	   *password = malloc(secret + 1);
	unsigned char *packet = malloc(len > 0 ? len : 1);
	uint8		scramble[MX_SCRAMBLE_BYTES];
	MxLoginReply reply;

	if (size > 0)
	{
		memcpy(password, data + 1, secret);
		memcpy(packet, data + 1 + secret, len);
	}
	password[secret] = '\0';
	if (mx_login_scramble(packet, len, scramble))
	{
		if (memcmp(scramble, packet, sizeof(scramble)) != 0)
			abort();
		check_proof(password, scramble);
	}
	reply = mx_login_reply(packet, len);
	if ((reply == MX_LOGIN_MALFORMED) != (len != 1 || (packet[0] != 3 && packet[0] != 4)))
		abort();
	free(packet);
	free(password);
	return 0;
}
