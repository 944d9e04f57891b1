/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/endpoint.h"

#include "cli/config.h"
#include "cli/file.h"

enum { KEY_MAX_BYTES = 4096, PORT_HTTP = 80, PORT_HTTPS = 443 };

/* --- The URL -------------------------------------------------------------------------------- */

static bool is_host_byte(char byte)
{
    return is_letter(byte) || is_digit(byte) || str_has_byte(STR("-._:%"), byte);
}

static bool read_port(struct str text, uint16_t *out_port)
{
    uint64_t port;
    if (text.len == 0)
        return true;
    if (text.ptr[0] != ':' || !str_to_u64(str_slice(text, 1, text.len), &port) || port == 0 ||
        port > UINT16_MAX)
        return false;
    *out_port = (uint16_t)port;
    return true;
}

static const char *read_authority(struct str authority, struct endpoint *out)
{
    bool bracketed = authority.len > 0 && authority.ptr[0] == '[';
    size_t end = str_find(authority, bracketed ? ']' : ':');
    out->host = str_slice(authority, bracketed ? 1 : 0, end);
    if (str_has_byte(authority, '@'))
        return "must not contain a user or a password";
    if (out->host.len == 0 || (bracketed && end == authority.len))
        return "must name a host";
    for (size_t i = 0; i < out->host.len; i++)
        if (!is_host_byte(out->host.ptr[i]))
            return "must name a host";
    if (!read_port(str_slice(authority, end + (bracketed ? 1 : 0), authority.len), &out->port))
        return "must have a port from 1 to 65535";
    return NULL;
}

const char *endpoint_parse_url(struct str url, struct endpoint *out)
{
    bool tls = str_starts_with(url, STR("https://"));
    if (!tls && !str_starts_with(url, STR("http://")))
        return "must begin with http:// or https://";
    struct str rest = str_slice(url, strlen(tls ? "https://" : "http://"), url.len);
    size_t slash = str_find(rest, '/');
    out->url = url;
    out->tls = tls;
    out->port = tls ? PORT_HTTPS : PORT_HTTP;
    out->prefix = str_slice(rest, slash, rest.len);
    if (str_has_byte(url, '?') || str_has_byte(url, '#') || str_has_byte(url, ' '))
        return "must not contain a query, a fragment or a blank";
    while (out->prefix.len > 0 && out->prefix.ptr[out->prefix.len - 1] == '/')
        out->prefix.len--;
    return read_authority(str_slice(rest, 0, slash), out);
}

/* --- Sources -------------------------------------------------------------------------------- */

/* A value and its source. */
struct told {
    struct str value;
    struct str source;
};

struct sources {
    struct cli *cli;
    struct config config;
    struct str profile; /* STR_NONE: none */
};

static struct told tell_entry(struct cli *cli, const struct config *c, const struct toml_entry *e)
{
    if (e == NULL)
        return (struct told){STR_NONE, STR_NONE};
    struct str source = arena_printf(cli_arena(cli), "%.*s:%u", STR_ARG(c->path), e->line);
    return (struct told){e->text, source};
}

static struct told from_profile(const struct sources *s, struct str key)
{
    if (str_is_none(s->profile))
        return (struct told){STR_NONE, STR_NONE};
    const struct str path[] = {STR("profiles"), s->profile, key};
    return tell_entry(s->cli, &s->config, config_find(&s->config, path, COUNT_OF(path)));
}

static struct told from_variable(const char *name)
{
    struct str value = str_of(getenv(name));
    return (struct told){value.len > 0 ? value : STR_NONE, str_of(name)};
}

static struct told from_flag_or_variable(struct cli *cli, const char *option, const char *variable)
{
    struct str value = cli_value(cli, option);
    if (!str_is_none(value))
        return (struct told){value, arena_printf(cli_arena(cli), "--%s", option)};
    return from_variable(variable);
}

static int choose_profile(struct sources *s)
{
    struct cli *cli = s->cli;
    struct told told = from_flag_or_variable(cli, "profile", "CAIRN_PROFILE");
    if (str_is_none(told.value)) {
        const struct str path[] = {STR("default_profile")};
        told = tell_entry(cli, &s->config, config_find(&s->config, path, 1));
    }
    s->profile = told.value;
    if (str_is_none(s->profile) || config_has_profile(&s->config, s->profile))
        return EXIT_SUCCESS;
    struct str near = config_suggest_profile(&s->config, s->profile);
    bool any = !str_is_none(near);
    struct str file = str_is_none(s->config.path) ? STR("any file") : s->config.path;
    return cli_usage(cli, "%.*s names the profile \"%.*s\", which is not in %.*s%s%.*s%s",
        STR_ARG(told.source), STR_ARG(s->profile), STR_ARG(file), any ? "; did you mean " : "",
        STR_ARG(near), any ? "?" : "");
}

static int choose_url(const struct sources *s, struct endpoint *out, bool *out_of_profile)
{
    struct told profile = from_profile(s, STR("url"));
    struct told told = from_flag_or_variable(s->cli, "url", "CAIRN_URL");
    *out_of_profile =
        str_is_none(told.value) || str_is_none(profile.value) || str_eq(told.value, profile.value);
    if (str_is_none(told.value))
        told = profile;
    out->is_named = !str_is_none(told.value);
    if (!out->is_named)
        told = (struct told){STR(ENDPOINT_USUAL_URL), STR("the default")};
    const char *rule = endpoint_parse_url(told.value, out);
    return rule == NULL ? EXIT_SUCCESS
                        : cli_usage(s->cli, "%.*s: the URL %s", STR_ARG(told.source), rule);
}

static int check_key(struct cli *cli, struct str source, struct str key, struct str *out_key)
{
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] <= ' ' || key.ptr[i] > '~')
            return cli_usage(
                cli, "%.*s: an API key consists of letters, digits and _", STR_ARG(source));
    if (key.len == 0)
        return cli_usage(cli, "%.*s: the API key is empty", STR_ARG(source));
    *out_key = key;
    return EXIT_SUCCESS;
}

static int read_key(struct cli *cli, struct str path, struct endpoint *out)
{
    struct str text, why;
    out->api_key_file = path;
    if (!file_read(cli_arena(cli), path, KEY_MAX_BYTES, &text, &why))
        return cli_usage(cli, "the API key cannot be read: %.*s", STR_ARG(why));
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    return check_key(cli, path, text, &out->api_key);
}

/* Expands ~/ in a configuration, because no shell does. */
static struct str expand(struct cli *cli, struct str path)
{
    const char *home = getenv("HOME");
    if (home == NULL || !str_starts_with(path, STR("~/")))
        return path;
    return arena_printf(cli_arena(cli), "%s%.*s", home, STR_ARG(str_slice(path, 1, path.len)));
}

static int choose_profile_key(const struct sources *s, struct endpoint *out)
{
    struct told key = from_profile(s, STR("api_key"));
    struct told file = from_profile(s, STR("api_key_file"));
    if (!str_is_none(key.value) && !str_is_none(file.value))
        return cli_usage(
            s->cli, "%.*s: api_key and api_key_file exclude each other", STR_ARG(file.source));
    if (!str_is_none(file.value))
        return read_key(s->cli, expand(s->cli, file.value), out);
    if (str_is_none(key.value))
        return EXIT_SUCCESS;
    if (file_is_exposed(cli_arena(s->cli), s->config.path))
        cli_note(s->cli, "warning: other users can read the API key in %.*s; chmod 600 %.*s",
            STR_ARG(s->config.path), STR_ARG(s->config.path));
    return check_key(s->cli, key.source, key.value, &out->api_key);
}

/* The key of a profile is sent only to the server of that profile. */
static int choose_key(const struct sources *s, bool url_of_profile, struct endpoint *out)
{
    struct str flag = cli_value(s->cli, "api-key-file");
    struct told key = from_variable("CAIRN_API_KEY");
    struct told file = from_variable("CAIRN_API_KEY_FILE");
    out->api_key = out->api_key_file = STR_NONE;
    if (!str_is_none(flag))
        return read_key(s->cli, flag, out);
    if (!str_is_none(key.value))
        return check_key(s->cli, key.source, key.value, &out->api_key);
    if (!str_is_none(file.value))
        return read_key(s->cli, file.value, out);
    return url_of_profile ? choose_profile_key(s, out) : EXIT_SUCCESS;
}

static struct str usual_config(struct arena *arena)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (xdg != NULL && xdg[0] == '/')
        return arena_printf(arena, "%s/cairn/config.toml", xdg);
    return home == NULL ? STR_NONE : arena_printf(arena, "%s/.config/cairn/config.toml", home);
}

int endpoint_choose(struct cli *cli, struct endpoint *out_endpoint)
{
    struct sources s = {.cli = cli};
    bool url_of_profile = false;
    int refused = config_load(cli, usual_config(cli_arena(cli)), &s.config);
    if (refused == EXIT_SUCCESS)
        refused = choose_profile(&s);
    if (refused == EXIT_SUCCESS)
        refused = choose_url(&s, out_endpoint, &url_of_profile);
    if (refused == EXIT_SUCCESS)
        refused = choose_key(&s, url_of_profile, out_endpoint);
    struct told ca = from_flag_or_variable(cli, "ca-file", "CAIRN_CA_FILE");
    if (str_is_none(ca.value))
        ca = from_profile(&s, STR("ca_file"));
    out_endpoint->ca_file = expand(cli, ca.value);
    return refused;
}
