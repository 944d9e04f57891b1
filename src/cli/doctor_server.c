/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/x509_vfy.h>

#include "cli/doctor.h"
#include "cli/remote.h"

#define NAME_SERVER STR("cairn serve, or systemctl start cairn; --url names another server")

/* Selects the server of the settings, unless another one was named. */
static void prefer_own_address(struct doctor *d)
{
    const struct server_config *c = &d->settings.config;
    struct endpoint endpoint = {.url = STR_NONE};
    if (c->listen_port == 0 || endpoint_choose(d->cli, &endpoint) != EXIT_SUCCESS ||
        endpoint.is_named)
        return;
    d->guesses_url = true;
    struct str host = c->listen_host;
    if (str_eq(host, STR("0.0.0.0")))
        host = STR("127.0.0.1");
    else if (str_eq(host, STR("::")))
        host = STR("::1");
    bool v6 = str_has_byte(host, ':');
    struct str url = arena_printf(d->arena, "%s://%s%.*s%s:%u",
        str_is_none(c->tls_certificate) ? "http" : "https", v6 ? "[" : "", STR_ARG(host),
        v6 ? "]" : "", (unsigned)c->listen_port);
    setenv("CAIRN_URL", arena_cstr(d->arena, url), 1);
}

/* The client warns of a key that other users can read: "warning: other users …; chmod 600 …". */
static void check_exposed_key(struct doctor *d, struct str warning)
{
    struct str words;
    if (!str_next_part(&warning, ';', &words))
        return;
    if (str_starts_with(words, STR("warning: ")))
        words = str_slice(words, strlen("warning: "), words.len);
    doctor_warn(d, "secrets", str_trim_blanks(warning), "%.*s", STR_ARG(words));
}

static bool open_remote(struct doctor *d, struct remote **out_remote)
{
    struct str words = STR_NONE;
    cli_catch_words(d->cli, &words);
    if (d->has_settings)
        prefer_own_address(d);
    int refused = remote_open(d->cli, out_remote);
    cli_catch_words(d->cli, NULL);
    if (refused != EXIT_SUCCESS)
        doctor_fail(d, "configuration", STR("correct what is named"), "%.*s", STR_ARG(words));
    else
        check_exposed_key(d, words);
    return refused == EXIT_SUCCESS;
}

static enum client_result ask(struct remote *r, const char *path, struct remote_answer *out)
{
    struct remote_request request = {.method = "GET", .path = str_of(path), .body = STR_NONE};
    return remote_send(r, &request, out);
}

/* --- The certificate ------------------------------------------------------------------------ */

/* Returns the reason why OpenSSL rejects the server's certificate; X509_V_OK: it does not. */
static int find_distrust(const struct endpoint *e, struct str why)
{
    enum { REASONS = 128 };
    for (int i = X509_V_OK + 1; e->tls && i < REASONS; i++)
        if (str_ends_with(why, str_of(X509_verify_cert_error_string(i))))
            return i;
    return X509_V_OK;
}

/* The certificate names the host; the address came from the server's settings. */
static struct str mend_name(struct doctor *d, const struct endpoint *e)
{
    const struct server_config *c = &d->settings.config;
    struct str name = d->guesses_url && c->n_allow_hosts > 0 ? c->allow_hosts[0] : STR("NAME");
    return arena_printf(d->arena,
        "cairn doctor --url https://%.*s:%u, with a name of the certificate", STR_ARG(name),
        (unsigned)e->port);
}

/* A certificate need not be valid for an address that was derived from the settings, but it must
 * not be expired. */
static void tell_distrust(struct doctor *d, const struct endpoint *e, int reason)
{
    bool untimely =
        reason == X509_V_ERR_CERT_HAS_EXPIRED || reason == X509_V_ERR_CERT_NOT_YET_VALID;
    bool misnamed =
        reason == X509_V_ERR_HOSTNAME_MISMATCH || reason == X509_V_ERR_IP_ADDRESS_MISMATCH;
    struct str mend =
        untimely   ? STR("renew the certificate, then systemctl restart cairn; or timedatectl")
        : misnamed ? mend_name(d, e)
                   : STR("cairn doctor --ca-file FILE, with its issuer's certificate (PEM)");
    struct str finding =
        arena_printf(d->arena, "%.*s was reached, but its certificate is rejected: %s",
            STR_ARG(e->url), X509_verify_cert_error_string(reason));
    if (d->guesses_url && !untimely)
        doctor_warn(d, "server", mend, "%.*s", STR_ARG(finding));
    else
        doctor_fail(d, "server", mend, "%.*s", STR_ARG(finding));
}

/* --- Requests ------------------------------------------------------------------------------- */

static void tell_silence(struct doctor *d, struct remote *r)
{
    struct str why = http_client_why(remote_client(r));
    int reason = find_distrust(remote_endpoint(r), why);
    if (reason != X509_V_OK)
        tell_distrust(d, remote_endpoint(r), reason);
    else
        doctor_fail(d, "server", NAME_SERVER, "%.*s", STR_ARG(why));
}

/* Returns false if there is no server for further requests. */
static bool check_health(struct doctor *d, struct remote *r)
{
    struct remote_answer answer;
    struct str url = remote_endpoint(r)->url;
    enum client_result result = ask(r, "/healthz", &answer);
    if (result != CLIENT_OK) {
        tell_silence(d, r);
        return false;
    }
    struct str version =
        answer.has_json ? remote_string(d->arena, answer.json, STR("/version")) : STR_NONE;
    if (answer.head.status != 200 || str_is_none(version)) {
        doctor_fail(d, "server", STR("set the server with --url, CAIRN_URL or a profile"),
            "the server at %.*s is not Cairn", STR_ARG(url));
        return false;
    }
    doctor_ok(d, "server", "cairn %.*s answers at %.*s", STR_ARG(version), STR_ARG(url));
    if (!str_eq(version, STR(CAIRN_VERSION)))
        doctor_warn(d, "version", STR("install the same version, or systemctl restart cairn"),
            "the server is %.*s, this program is " CAIRN_VERSION, STR_ARG(version));
    else
        doctor_ok(d, "version", "server and program are both " CAIRN_VERSION);
    return true;
}

static void check_readiness(struct doctor *d, struct remote *r)
{
    struct remote_answer answer;
    enum client_result result = ask(r, "/readyz", &answer);
    if (result == CLIENT_OK && answer.head.status == 200)
        doctor_ok(d, "readiness", "the server's database answers");
    else
        doctor_fail(d, "readiness",
            STR("see journalctl -u cairn and the findings about the database"),
            "the server is not ready: its database does not answer");
}

static void check_key(struct doctor *d, struct remote *r)
{
    struct remote_answer answer;
    bool has_key = !str_is_none(remote_endpoint(r)->api_key);
    enum client_result result = ask(r, "/v1/whoami", &answer);
    struct str actor = result == CLIENT_OK && answer.has_json
                           ? remote_string(d->arena, answer.json, STR("/actor"))
                           : STR_NONE;
    if (str_eq(actor, STR("key")))
        doctor_ok(d, "key", "the API key is accepted");
    else if (str_eq(actor, STR("open")))
        doctor_ok(d, "key", "none exists yet: the server is open to this machine");
    else if (result == CLIENT_OK && has_key)
        doctor_fail(d, "key", STR("cairn key create, with a key that is valid"),
            "the API key is rejected (%d)", answer.head.status);
    else if (result == CLIENT_OK)
        doctor_fail(d, "key", STR("set one with CAIRN_API_KEY, --api-key-file or a profile"),
            "no API key was given, and the server requires one (%d)", answer.head.status);
    else
        doctor_fail(d, "key", NAME_SERVER, "the key could not be checked: %.*s",
            STR_ARG(http_client_why(remote_client(r))));
}

void doctor_check_server(struct doctor *d)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    if (!open_remote(d, &r) || !check_health(d, r))
        return;
    check_readiness(d, r);
    check_key(d, r);
}
