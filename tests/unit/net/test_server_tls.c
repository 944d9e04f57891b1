/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include "fixture.h"

/* A certificate for "test", made afresh, in a folder of its own. */
struct certificate {
    char folder[32];
    char cert_path[64];
    char key_path[64];
    SSL_CTX *client;
};

static X509 *make_certificate(EVP_PKEY *key)
{
    X509 *x = X509_new();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, key);
    X509_NAME *name = X509_get_subject_name(x);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(x, name);
    X509_sign(x, key, EVP_sha256());
    return x;
}

static void certificate_init(struct certificate *c)
{
    snprintf(c->folder, sizeof c->folder, "/tmp/cairn-tls-XXXXXX");
    EXPECT(mkdtemp(c->folder) != NULL);
    snprintf(c->cert_path, sizeof c->cert_path, "%s/cert.pem", c->folder);
    snprintf(c->key_path, sizeof c->key_path, "%s/key.pem", c->folder);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = make_certificate(key);
    FILE *cert_file = fopen(c->cert_path, "we"), *key_file = fopen(c->key_path, "we");
    EXPECT_EQ(PEM_write_X509(cert_file, x), 1);
    EXPECT_EQ(PEM_write_PrivateKey(key_file, key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(cert_file);
    fclose(key_file);
    c->client = SSL_CTX_new(TLS_client_method());
    X509_STORE_add_cert(SSL_CTX_get_cert_store(c->client), x);
    SSL_CTX_set_verify(c->client, SSL_VERIFY_PEER, NULL);
    X509_free(x);
    EVP_PKEY_free(key);
}

static void certificate_deinit(struct certificate *c)
{
    SSL_CTX_free(c->client);
    unlink(c->cert_path);
    unlink(c->key_path);
    rmdir(c->folder);
}

static void begin_tls(struct fixture *f, const struct certificate *cert)
{
    f->config.tls_certificate = str_of(cert->cert_path);
    f->config.tls_key = str_of(cert->key_path);
    fixture_start(f);
}

static bool secure(struct client *c, const struct certificate *cert)
{
    c->tls = SSL_new(cert->client);
    SSL_set_fd(c->tls, c->fd);
    return SSL_connect(c->tls) == 1;
}

static void expect_answer(struct client *c, int status, size_t body_bytes)
{
    struct answer a CLEANUP(answer_deinit);
    client_hear(c, false, &a);
    EXPECT_EQ(a.status, status);
    EXPECT_EQ(a.body.len, body_bytes);
}

TEST(requests_are_served_over_tls)
{
    struct certificate cert CLEANUP(certificate_deinit);
    certificate_init(&cert);
    struct fixture f;
    fixture_init(&f);
    begin_tls(&f, &cert);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    EXPECT(secure(&c, &cert));
    EXPECT(client_say(&c, REQUEST("GET", "/hello")));
    expect_answer(&c, 200, 6);
    static char body[900000];
    EXPECT(client_say(&c, STR("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 900000\r\n\r\n")));
    EXPECT(client_say(&c, (struct str){body, sizeof body}));
    expect_answer(&c, 200, sizeof body);
    EXPECT(client_say(&c, REQUEST("GET", "/download?20000000")));
    expect_answer(&c, 200, 20000000);
    EXPECT(client_say(&c, REQUEST("GET", "/hello")));
    expect_answer(&c, 200, 6);
    fixture_end(&f);
}

TEST(the_server_says_goodbye_in_tls_before_it_closes)
{
    struct certificate cert CLEANUP(certificate_deinit);
    certificate_init(&cert);
    struct fixture f;
    fixture_init(&f);
    begin_tls(&f, &cert);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    EXPECT(secure(&c, &cert));
    EXPECT(client_say(&c, STR("GET /hello HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")));
    expect_answer(&c, 200, 6);
    EXPECT(client_sees_end(&c));
    EXPECT_EQ(SSL_get_error(c.tls, 0), SSL_ERROR_ZERO_RETURN);
    fixture_end(&f);
}

TEST(old_tls_and_plain_http_get_no_answer)
{
    struct certificate cert CLEANUP(certificate_deinit);
    certificate_init(&cert);
    struct fixture f;
    fixture_init(&f);
    begin_tls(&f, &cert);
    struct client plain CLEANUP(client_close), old CLEANUP(client_close);
    client_connect(&plain, f.port);
    client_say(&plain, REQUEST("GET", "/hello"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&plain, false, &a);
    EXPECT_EQ(a.status, 0);
    client_connect(&old, f.port);
    SSL_CTX_set_max_proto_version(cert.client, TLS1_1_VERSION);
    SSL_CTX_set_security_level(cert.client, 0);
    EXPECT(!secure(&old, &cert));
    EXPECT_EQ(atomic_load(&f.requests), 0);
    fixture_end(&f);
}

TEST(a_handshake_that_does_not_end_in_time_is_closed)
{
    struct certificate cert CLEANUP(certificate_deinit);
    certificate_init(&cert);
    struct fixture f;
    fixture_init(&f);
    f.config.head_timeout_ms = 300;
    begin_tls(&f, &cert);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("\x16\x03\x01"));
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(a_tls_reader_that_stalls_is_closed)
{
    struct certificate cert CLEANUP(certificate_deinit);
    certificate_init(&cert);
    struct fixture f;
    fixture_init(&f);
    f.config.stall_timeout_ms = 500;
    begin_tls(&f, &cert);
    struct client c CLEANUP(client_close);
    client_connect_narrow(&c, f.port);
    EXPECT(secure(&c, &cert));
    client_say(&c, REQUEST("GET", "/download?200000000"));
    EXPECT(reaches(&f.ended, 1));
    EXPECT(atomic_load(&f.produced) < 200000000);
    fixture_end(&f);
}

TEST(a_certificate_and_a_key_that_do_not_belong_together_are_refused)
{
    struct certificate one CLEANUP(certificate_deinit), other CLEANUP(certificate_deinit);
    certificate_init(&one);
    certificate_init(&other);
    struct fixture f;
    fixture_init(&f);
    struct http_app app = {.on_request = fixture_on_request};
    struct str why = STR_NONE;
    f.config.tls_certificate = str_of(one.cert_path);
    f.config.tls_key = str_of(other.key_path);
    EXPECT(!http_server_create(&f.config, &app, &f.arena, &f.server, &why));
    EXPECT(str_starts_with(why, STR("cannot use the key ")));
    f.config.tls_key = STR_NONE;
    EXPECT(!http_server_create(&f.config, &app, &f.arena, &f.server, &why));
    EXPECT_STR(why, STR("TLS requires both a certificate and a key"));
    arena_deinit(&f.arena);
}
