/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State documents of an agent, of a thread, or of an agent within a thread; the configuration of an
 * agent follows the same rules. A document has JSON data, a JSON Schema that the data must match, a
 * description of its presentation (ui_schema) and a version. Each write states the version that it
 * replaces, adds the next one, and keeps the earlier ones until the document is deleted. Version
 * numbers are never reused, even after a deletion.
 *
 * A change appends an event to the thread's log. A change to a document that belongs only to an
 * agent appends events to the STATE_TOLD_THREADS newest threads in which the agent participates.
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

/* A configuration is stored as a document, too. */
#define STATE_KINDS(X) X(STATE_STATE, "state") X(STATE_CONFIG, "config")
ENUM_DECLARE(state_kind, STATE_KIND_NONE, state_kinds, STATE_KINDS);

/* The place of a document. */
struct state_place {
    bool is_config;        /* the configuration of the agent, named "config" */
    struct uuid agent_id;  /* the nil id: no agent */
    struct uuid thread_id; /* the nil id: no thread */
    struct str name;
};

/* JSON is compact text; STR_NONE if absent, or if the list omits it. */
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
    struct str updated_by; /* a principal; STR_NONE: a key of the tenant */
    int64_t created_at;
    int64_t updated_at;
    int64_t version;      /* 0: the document does not exist */
    int64_t last_version; /* the greatest version ever assigned at this place */
};

/*
 * Reads the document; in a WRITE job it is locked until the job ends. ERR_NOT_FOUND: the agent or
 * the thread does not exist. A document that does not exist has version 0.
 */
MUST_CHECK enum error state_find(
    struct context *c, const struct state_place *place, struct state *out_state);
/* The same, and ERR_NOT_FOUND if the document does not exist. */
MUST_CHECK enum error state_get(
    struct context *c, const struct state_place *place, struct state *out_state);

struct state_filter {
    struct str after; /* a name; STR_NONE: from the first */
    bool with_documents;
};
/* Lists the documents of the place's agent and thread, by name. */
MUST_CHECK enum error state_list(struct context *c, const struct state_place *place,
    const struct state_filter *filter, struct page *page, struct state *out_states);

/*
 * OK if the request may replace `before`, as state_find returned it. The request must have a
 * condition (ERR_PRECONDITION_NEEDED) that holds (ERR_STALE): If-Match with the version, If-Match:
 * * for any version or none, If-None-Match: * for none.
 */
MUST_CHECK enum error state_check_match(struct context *c, const struct state *before);
/* Adds a version with description, data, json_schema and ui_schema of `after`, and sets its other
 * members. ERR_INVALID: the data does not match the schema, or the schema is not valid. */
MUST_CHECK enum error state_write(struct context *c, const struct state_place *place,
    const struct state *before, struct state *after);
/* Deletes the document with all versions. */
MUST_CHECK enum error state_delete(
    struct context *c, const struct state_place *place, const struct state *before);
/* Appends an event that asks clients to show the document, and changes nothing. */
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
/* Lists the versions before `before` (0: all), newest first. */
MUST_CHECK enum error state_version_list(struct context *c, const struct state_place *place,
    int64_t before, bool with_documents, struct page *page, struct state_version *out_versions);

#endif
