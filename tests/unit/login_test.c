/*
 * login_test.c
 *	  The packets of a login: the proof of a password is the one that servers compute.
 */
#include "bridge/mysql/login.h"
#include "hex.h"
#include "unit.h"

static const char begin[] = "0102030405060708090a0b0c0d0e0f101112131400";

/* By hashlib of Python's. */
static const char proof_of_secret[] = "746ebe205d56a0707acb3e796e834e0dd7b1d61743b26bd5202c7a623230c7c9";

static void
a_proof_is_the_servers(void)
{
	size_t		len;
	char	   *packet = unhex(begin, &len);
	size_t		proof_len;
	char	   *want = unhex(proof_of_secret, &proof_len);
	uint8		scramble[MX_SCRAMBLE_BYTES];
	uint8		proof[SL_SHA256_BYTES];

	CHECK(mx_login_scramble((const unsigned char *) packet, len, scramble));
	mx_login_proof("secret", scramble, proof);
	CHECK(proof_len == sizeof(proof) && memcmp(proof, want, sizeof(proof)) == 0);
	mx_login_proof("secres", scramble, proof);
	CHECK(memcmp(proof, want, sizeof(proof)) != 0);
	pfree(packet);
	pfree(want);
}

static void
other_packets_are_none(void)
{
	size_t		len;
	char	   *packet = unhex(begin, &len);
	uint8		scramble[MX_SCRAMBLE_BYTES];

	for (size_t n = 0; n < len; n++)
		CHECK_AT(!mx_login_scramble((const unsigned char *) packet, n, scramble), "%zu", n);
	packet[len - 1] = 1;
	CHECK(!mx_login_scramble((const unsigned char *) packet, len, scramble));
	pfree(packet);
}

static void
answers_are_told(void)
{
	for (int i = 0; i < 256; i++)
	{
		unsigned char answer[2] = {(unsigned char) i, 0};

		CHECK_AT(mx_login_reply(answer, 1) == (i == 3 ? MX_LOGIN_DONE : i == 4 ? MX_LOGIN_WANTS_PASSWORD :
											   MX_LOGIN_MALFORMED), "%d", i);
		CHECK_AT(mx_login_reply(answer, 2) == MX_LOGIN_MALFORMED && mx_login_reply(answer, 0) == MX_LOGIN_MALFORMED,
				 "%d", i);
	}
}

int
main(void)
{
	RUN(a_proof_is_the_servers);
	RUN(other_packets_are_none);
	RUN(answers_are_told);
	return UNIT_END();
}
