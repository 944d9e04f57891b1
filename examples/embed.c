/* SPDX-License-Identifier: Apache-2.0 */
/* Cairn inside a C program: cc embed.c $(pkg-config --cflags --libs cairn) && ./a.out ./data */
#include <cairn/cairn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cairn *c;

/* Makes a call that must succeed, prints the response and copies its "id". */
static void call(const char *method, const char *path, const char *body, char out_id[40])
{
    cairn_answer *a = cairn_call(c, method, path, NULL, body, body == NULL ? 0 : strlen(body));
    const char *text = cairn_answer_body(a, NULL), *id = strstr(text, "\"id\":\"");
    printf("%s %s: %d %s\n", method, path, cairn_answer_status(a), text);
    if (cairn_answer_status(a) >= 300)
        exit(EXIT_FAILURE);
    if (out_id != NULL && id != NULL)
        snprintf(out_id, 37, "%s", id + strlen("\"id\":\""));
    cairn_answer_free(a);
}

int main(int argc, char **argv)
{
    char where[4096], path[256], thread[40] = "", run[40] = "", *why = NULL;
    snprintf(where, sizeof where, "sqlite:%s", argc > 1 ? argv[1] : "./data");
    c = cairn_open(where, NULL, &why);
    if (c == NULL) {
        fprintf(stderr, "%s\n", why);
        return EXIT_FAILURE;
    }
    call("POST", "/v1/threads", "{\"title\":\"from C\"}", thread);
    snprintf(path, sizeof path, "/v1/threads/%s/runs", thread);
    call("POST", path, "{\"user_input\":\"how many?\"}", run);
    snprintf(path, sizeof path, "/v1/threads/%s/events", thread);
    call("POST", path, "{\"kind\":\"progress\",\"text\":\"thinking\"}", NULL);
    call("POST", path, "{\"kind\":\"app.answer\",\"payload\":{\"count\":42}}", NULL);

    snprintf(path, sizeof path, "/v1/threads/%s/events/stream?after=0", thread);
    cairn_subscription *s = cairn_subscribe(c, path, NULL, NULL);
    const struct cairn_event *event;
    while (s != NULL && cairn_next(s, 200, &event) == CAIRN_EVENT)
        printf("event %s: %s\n", event->cursor, event->data);
    cairn_unsubscribe(s);

    snprintf(path, sizeof path, "/v1/runs/%s", run);
    call("GET", path, NULL, NULL);
    cairn_close(c);
    return EXIT_SUCCESS;
}
