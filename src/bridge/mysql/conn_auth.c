/*
 * conn_auth.c
 *	  How a password leaves: as a proof, through TLS, or not at all.
 *
 * The library's own caching_sha2_password and sha256_password take any key
 * that the peer of a plain connection sends and encrypt the password with it,
 * and they take a connection for encrypted when TLS was only asked for.  Ours
 * look at the connection itself, and know no keys.  Ours also comes first in
 * every login, before anything was sent: a server that offers no TLS where TLS
 * is wanted learns not even the user's name.
 */
#include "bridge/mysql/conn_int.h"
#include "bridge/mysql/library.h"
#include "bridge/mysql/login.h"

#include <mysql/plugin_auth.h>

/*
 * mysql/client_plugin.h includes a header that Debian's package lacks; this is
 * what is needed of it: the layout of a login method, interface version 1.0.
 */
struct st_mysql_client_plugin;
extern struct st_mysql_client_plugin *mysql_client_register_plugin(MYSQL * my,
																   struct st_mysql_client_plugin *plugin);

#define AUTHENTICATION		2
#define INTERFACE_VERSION	0x0100

typedef struct LoginMethod
{
	int			type;
	unsigned int interface_version;
	const char *name;
	const char *author;
	const char *desc;
	unsigned int version[3];
	const char *license;
	void	   *mysql_api;
	int			(*init) (char *, size_t, int, va_list);
	int			(*deinit) (void);
	int			(*options) (const char *option, const void *);
	int			(*authenticate_user) (MYSQL_PLUGIN_VIO * vio, MYSQL * my);
	/* releases from 3.4 on look for more, in interface versions of theirs */
	void	   *unused[4];
} LoginMethod;

/* Does the connection end on this machine?  What listens there is the machine's own business. */
static bool
is_local(MYSQL_PLUGIN_VIO * vio)
{
	MYSQL_PLUGIN_VIO_INFO info;

	memset(&info, 0, sizeof(info));
	vio->info(vio, &info);
	return info.protocol == MYSQL_VIO_SOCKET;
}

static int
refuse(MYSQL * my, unsigned int number, const char *text)
{
	my->methods->set_error(my, number, "HY000", "%s", text);
	return CR_ERROR;
}

/* The password itself, ended by a zero byte. */
static int
send_password(MYSQL_PLUGIN_VIO * vio, MYSQL * my)
{
	return vio->write_packet(vio, (const unsigned char *) my->passwd,
							 (int) strlen(my->passwd) + 1) ? CR_ERROR : CR_OK;
}

/* Before anything is sent: is there the TLS that is wanted? */
static bool
tls_is_there(MYSQL * my)
{
	if (!my->options.use_ssl || mysql_get_ssl_cipher(my) != NULL ||
		(my->server_capabilities & CLIENT_SSL) != 0)
		return true;
	refuse(my, MX_CR_SSL, "the server does not offer TLS");
	return false;
}

/* The server's random bytes; CR_OK or what to return. */
static int
read_scramble(MYSQL_PLUGIN_VIO * vio, MYSQL * my, uint8 *scramble)
{
	unsigned char *packet;
	int			len;

	if (!tls_is_there(my))
		return CR_ERROR;

	/*
	 * an answer that names another method ends here too, and the library
	 * turns to that
	 */
	len = vio->read_packet(vio, &packet);
	if (len < 0)
		return CR_ERROR;
	if (!mx_login_scramble(packet, (size_t) len, scramble))
		return refuse(my, MX_CR_MALFORMED, "the server begins the login with a malformed packet");
	return CR_OK;
}

static int
login_caching_sha2(MYSQL_PLUGIN_VIO * vio, MYSQL * my)
{
	uint8		scramble[MX_SCRAMBLE_BYTES];
	uint8		proof[SL_SHA256_BYTES];
	unsigned char *packet;
	int			len;
	int			code = read_scramble(vio, my, scramble);

	if (code != CR_OK)
		return code;
	if (my->passwd == NULL || my->passwd[0] == '\0')
		return vio->write_packet(vio, NULL, 0) ? CR_ERROR : CR_OK;
	mx_login_proof(my->passwd, scramble, proof);
	if (vio->write_packet(vio, proof, sizeof(proof)))
		return CR_ERROR;
	len = vio->read_packet(vio, &packet);
	if (len < 0)
		return CR_ERROR;
	switch (mx_login_reply(packet, (size_t) len))
	{
		case MX_LOGIN_DONE:
			return CR_OK;
		case MX_LOGIN_WANTS_PASSWORD:
			if (mysql_get_ssl_cipher(my) == NULL && !is_local(vio))
				return refuse(my, MX_CR_AUTH_PLUGIN,
							  "the server asks for the password, and the connection is not encrypted; "
							  "use TLS or the server's unix socket");
			return send_password(vio, my);
		default:
			return refuse(my, MX_CR_MALFORMED, "the server answers the login with a malformed packet");
	}
}

static int
login_sha256(MYSQL_PLUGIN_VIO * vio, MYSQL * my)
{
	uint8		scramble[MX_SCRAMBLE_BYTES];
	int			code = read_scramble(vio, my, scramble);

	if (code != CR_OK)
		return code;
	if (my->passwd == NULL || my->passwd[0] == '\0')
		return vio->write_packet(vio, (const unsigned char *) "", 1) ? CR_ERROR : CR_OK;

	/*
	 * to the server a socket is no private way for this method, it wants the
	 * password under its key there
	 */
	if (mysql_get_ssl_cipher(my) == NULL)
		return refuse(my, MX_CR_AUTH_PLUGIN,
					  "the server asks for the password, and the connection is not encrypted; use TLS");
	return send_password(vio, my);
}

static LoginMethod methods[] =
{
	{
		.type = AUTHENTICATION,
		.interface_version = INTERFACE_VERSION,
		.name = "caching_sha2_password",
		.author = "sluice",
		.desc = "caching_sha2_password without keys from the peer",
		.version =
		{
			1, 0, 0
		},
		.authenticate_user = login_caching_sha2,
	},
	{
		.type = AUTHENTICATION,
		.interface_version = INTERFACE_VERSION,
		.name = "sha256_password",
		.author = "sluice",
		.desc = "sha256_password without keys from the peer",
		.version =
		{
			1, 0, 0
		},
		.authenticate_user = login_sha256,
	},
};

bool
mx_auth_register(struct st_mysql *my)
{
	static bool done = false;

	if (done)
		return true;
	for (int i = 0; i < lengthof(methods); i++)
	{
		struct st_mysql_client_plugin *ours = (struct st_mysql_client_plugin *) &methods[i];

		/* the library answers with its own where it is built in */
		if (mysql_client_register_plugin(my, ours) != ours)
			return false;
	}
	done = true;
	return true;
}
