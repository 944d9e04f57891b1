/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State documents: of an agent, of a thread, or of an agent within a thread; and, by the same
 * rules, the configuration of an agent. A document is JSON data, with a JSON Schema that every
 * write must satisfy, a description of how to show it (ui_schema), and a version. Each write says
 * which version it has seen, makes the next one, and keeps those before it until the document is
 * deleted. Numbers of versions are never given again, also not after that.
 *
 * What changes is told in the thread's log; of a document that an agent has outside of any thread,
 * in the logs of the STATE_TOLD_THREADS newest threads that the agent takes part in.
 */
#ifndef MODEL_AGENTS_STATES_H
#define MODEL_AGENTS_STATES_H

#include "base/enum.h"
#include "model/context.h"

enum {
    STATE_NAME_MAX_BYTES = 200,
    STATE_DESCRIPTION_MAX_BYTES = 16 * 1024,
    STATE_DATA_MAX_BYTES = 1024 * 1024,
    STATE_SCHEMA_MAX_BYTES = 256 * 1024,
    STATE_TOLD_THREADS = 100,
    STATE_TOLD_MEMBERS = 64,
    STATE_TOLD_MEMBER_BYTES = 256,
};

/* The words are stored. A configuration is a document, too. */
#define STATE_KINDS(X) X(STATE_STATE, "state") X(STATE_CONFIG, "config")
ENUM_DECLARE(state_kind, STATE_KIND_NONE, state_kinds, STATE_KINDS);

/* Where a document stands. */
struct state_place {
    bool is_config;        /* of the agent, which has one; the name is "config" */
    struct uuid agent_id;  /* the nil id: of no agent */
    struct uuid thread_id; /* the nil id: in no thread */
    struct str name;
};

/* JSON is compact text; STR_NONE where there is none, or the list left it out. */
struct state {
    struct uuid id;
    struct str name;
    bool has_agent_id;
    struct uuid agent_id;
    bool has_thread_id;
    struct uuid thread_id;
    struct str description;
    struct str data;
    struct str json_schema;
    struct str ui_schema;
    struct str updated_by; /* a principal; STR_NONE: a key of the whole tenant */
    int64_t created_at;
    int64_t updated_at;
    int64_t version;      /* 0: it is not there */
    int64_t last_version; /* that was ever given at this place */
};

/*
 * What is there. In a WRITE job it is locked: nobody changes it before the job ends. ERR_NOT_FOUND
 * is for an agent or a thread; a document that is not there has the version 0.
 */
MUST_CHECK enum error state_find(
    struct context *c, const struct state_place *place, struct state *out_state);
/* ERR_NOT_FOUND also for the document. */
MUST_CHECK enum error state_get(
    struct context *c, const struct state_place *place, struct state *out_state);

struct state_filter {
    struct str after; /* a name; STR_NONE: from the first */
    bool with_documents;
};
/* Those of the place's agent and thread, by name. A page ends at `limit` or PAGE_MAX_BYTES. */
MUST_CHECK enum error state_list(struct context *c, const struct state_place *place,
    const struct state_filter *filter, struct page *page, struct state *out_states);

/*
 * Whether the request may write over `before`, as state_find gave it: it must say which version it
 * has seen (ERR_PRECONDITION_NEEDED), and that must be this one (ERR_STALE). If-Match: * is any, or
 * none; If-None-Match: * is none.
 */
MUST_CHECK enum error state_check_match(struct context *c, const struct state *before);
/* Makes the next version from description, data, json_schema and ui_schema of `after`; fills in the
 * rest of it. ERR_INVALID when the data does not satisfy the schema, or the schema is none. */
MUST_CHECK enum error state_write(struct context *c, const struct state_place *place,
    const struct state *before, struct state *after);
/* With all its versions. */
MUST_CHECK enum error state_delete(
    struct context *c, const struct state_place *place, const struct state *before);
/* Asks whoever watches to show it: an event, and nothing else. */
MUST_CHECK enum error state_focus(struct context *c, const struct state_place *place);

/* One version of a document. */
struct state_version {
    int64_t version;
    struct str description;
    struct str data;
    struct str json_schema;
    struct str ui_schema;
    struct str created_by;
    int64_t created_at;
};
MUST_CHECK enum error state_version_get(struct context *c, const struct state_place *place,
    int64_t version, struct state_version *out_version);
/* Newest first, those before `before` (0: from the newest). A page ends as that of state_list. */
MUST_CHECK enum error state_version_list(struct context *c, const struct state_place *place,
    int64_t before, bool with_documents, struct page *page, struct state_version *out_versions);

/* Before a thread goes. */
MUST_CHECK enum error state_delete_of_thread(struct context *c, struct uuid thread_id);

#endif
