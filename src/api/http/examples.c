/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/examples.h"

#define ID_1 "019a8c5e-4f10-7b3a-9d2c-5e6f7a8b9c0d"
#define ID_2 "019a8c5e-4f22-7c41-8a17-0b1c2d3e4f50"

/* By the name of the schema. */
static const struct {
    const char *schema;
    const char *json;
} BODIES[] = {
    {"TenantCreate", "{\"name\":\"acme\"}"},
    {"TenantBody", "{\"name\":\"acme-europe\",\"plan_tier\":\"pro\","
                   "\"quotas\":{\"threads\":10000,\"requests_per_second\":100}}"},
    {"QuotasBody", "{\"threads\":10000,\"requests_per_second\":100}"},
    {"OwnTenantBody", "{\"settings\":{\"locale\":\"de\"}}"},
    {"KeyCreate", "{\"name\":\"worker\",\"scopes\":[\"runs:read\",\"runs:write\","
                  "\"events:write\"],\"rate_limit_per_minute\":6000}"},
    {"TicketCreate", "{\"path\":\"/v1/events/stream\",\"ttl_s\":30}"},
    {"AgentBody",
        "{\"name\":\"researcher\",\"description\":\"Reads and sums up\",\"system_prompt\":"
        "{\"role\":\"You are a careful researcher\",\"instructions\":\"Cite what you read\"},"
        "\"llm_config\":{\"default_model\":\"gpt-4o-mini\",\"temperature\":0.2},"
        "\"tools\":[\"search\"]}"},
    {"AgentVersionCreate", "{\"bump\":\"minor\",\"description\":\"Cooler\",\"activate\":true,"
                           "\"llm_config\":{\"default_model\":\"gpt-4o\",\"temperature\":0}}"},
    {"AgentVersionPatch", "{\"execution_config\":{\"max_turns\":10}}"},
    {"AgentLinkBody", "{\"role\":\"reviewer\",\"position\":1}"},
    {"AgentPatch", "{\"name\":\"analyst\",\"description\":\"Reads, sums up and cites\","
                   "\"is_active\":true}"},
    {"WorkflowGraph", "{\"entry_point\":\"plan\",\"nodes\":[{\"name\":\"plan\",\"type\":\"llm\"},{"
                      "\"name\":\"ask\",\"type\":\"human\"}],\"edges\":[{\"from\":\"plan\",\"to\":"
                      "\"ask\",\"condition\":\"confidence < 0.5\"}]}"},
    {"GraphNode", "{\"name\":\"plan\",\"type\":\"llm\",\"config\":{\"model\":\"gpt-4o-mini\"}}"},
    {"GraphEdge", "{\"from\":\"plan\",\"to\":[\"search\",\"ask\"],\"condition\":\"not done\"}"},
    {"MemoryConfig", "{\"short_term\":{\"max_tokens\":8000},\"long_term\":{\"enabled\":true}}"},
    {"ShortTermMemory", "{\"max_tokens\":8000,\"strategy\":\"summarize\"}"},
    {"LongTermMemory",
        "{\"enabled\":true,\"embedding_model\":\"text-embedding-3-small\",\"top_k\":5}"},
    {"ProceduralMemory", "{\"enabled\":true,\"min_frequency\":3}"},
    {"GuardrailConfig",
        "{\"input_rails\":[{\"type\":\"pii\"}],\"output_rails\":[{\"type\":\"toxicity\"}]}"},
    {"InputRail", "{\"type\":\"topic\",\"config\":{\"allowed\":[\"sales\"]}}"},
    {"OutputRail", "{\"type\":\"format\",\"config\":{\"schema\":\"answer\"}}"},
    {"ToolRails", "{\"max_calls_per_turn\":8,\"allowed_tools\":\"all\"}"},
    {"LlmConfig", "{\"default_model\":\"gpt-4o-mini\",\"fallback_model\":\"claude-3-haiku\","
                  "\"temperature\":0.2,\"max_tokens\":1024}"},
    {"ExecutionConfig",
        "{\"max_turns\":25,\"timeout_seconds\":60,\"checkpoint_frequency\":\"on_change\"}"},
    {"PriceBody", "{\"provider\":\"anthropic\",\"input\":3,\"output\":15,\"cache_write\":3.75,"
                  "\"cache_read\":0.3,\"long_context\":{\"above_tokens\":200000,\"input\":6,"
                  "\"output\":22.5}}"},
    {"LongContextPrice", "{\"above_tokens\":200000,\"input\":6,\"output\":22.5}"},
    {"UsageBody", "{\"model\":\"claude-sonnet-4-5\",\"input_tokens\":1900,\"output_tokens\":1300,"
                  "\"cache_creation_input_tokens\":200,\"cache_read_input_tokens\":400}"},
    {"UsageReport", "{\"input_tokens\":1500,\"output_tokens\":800}"},
    {"TokenUsage", "{\"input_tokens\":1900,\"output_tokens\":1300}"},
    {"CostBody", "{\"model\":\"claude-sonnet-4-5\",\"usage\":{\"input_tokens\":1900,"
                 "\"output_tokens\":1300}}"},
    {"StorePut", "{\"namespace\":[\"users\",\"42\"],\"key\":\"food\",\"value\":{\"text\":"
                 "\"likes pizza\",\"sure\":0.9}}"},
    {"StoreVector", "{\"path\":\"text\",\"values\":[0.1,0.7,-0.2]}"},
    {"StoreSearch", "{\"namespace_prefix\":[\"users\",\"42\"],\"query\":\"what food do they "
                    "like?\",\"filter\":{\"sure\":{\"$gte\":0.5}},\"limit\":5}"},
    {"StoreNamespaces", "{\"prefix\":[\"users\",\"*\"],\"max_depth\":2}"},
    {"StoreBatch", "{\"operations\":[{\"op\":\"put\",\"namespace\":[\"users\",\"42\"],\"key\":"
                   "\"food\",\"value\":{\"text\":\"likes pizza\"}},{\"op\":\"get\","
                   "\"namespace\":[\"users\",\"42\"],\"key\":\"drink\"}]}"},
    {"StoreOperation", "{\"op\":\"get\",\"namespace\":[\"users\",\"42\"],\"key\":\"food\"}"},
    {"EvalBody", "{\"name\":\"capitals\",\"eval_type\":\"accuracy\",\"run_id\":\"" ID_2
                 "\",\"score\":0.875,\"passed\":true}"},
    {"EvalPatch", "{\"name\":\"capitals\",\"eval_type\":\"accuracy\",\"score\":0.9}"},
    {"NotebookBody", "{\"title\":\"Books\",\"instructions\":\"Answer with quotes.\"}"},
    {"NotebookPatch", "{\"title\":\"Good books\"}"},
    {"NotebookSessionBody", "{\"thread_id\":\"" ID_1 "\"}"},
    {"StateBody", "{\"data\":{\"goal\":\"ship\",\"open\":3},\"json_schema\":{\"type\":\"object\","
                  "\"required\":[\"goal\"]},\"description\":\"what the team works on\"}"},
    {"StatePatch", "{\"data\":{\"open\":2}}"},
    {"ThreadBody", "{\"key\":\"session-7\",\"title\":\"Q3 report\",\"agent\":\"researcher\","
                   "\"metadata\":{\"customer\":\"c-17\"}}"},
    {"KeyedThreadBody", "{\"title\":\"Q3 report\",\"agent\":\"researcher\"}"},
    {"Reason", "{\"reason\":\"the user went away\"}"},
    {"RunCreate", "{\"user_input\":\"Summarise the report\",\"dispatch\":\"queue\"}"},
    {"RunBody",
        "{\"status\":\"completed\",\"content\":\"Sales rose by 4 %.\",\"messages\":[{\"role\":"
        "\"assistant\",\"content\":\"Sales rose by 4 %.\"}],\"usage\":{\"input_tokens\":1500,"
        "\"output_tokens\":800},\"append\":true}"},
    {"RunInput", "{\"input\":\"Yes, go on\"}"},
    {"RunClaim", "{\"worker\":\"worker-3\",\"lease_ms\":30000}"},
    {"RunHeartbeat", "{\"lease_ms\":30000}"},
    {"RunRelease", "{\"error\":{\"code\":\"overloaded\"}}"},
    {"RunRetry", "{\"max_attempts\":3,\"backoff\":{\"initial_ms\":1000}}"},
    {"RunBackoff", "{\"initial_ms\":1000,\"factor\":2,\"max_ms\":60000}"},
    {"RunPhaseBody", "{\"to\":\"executing\",\"trigger\":\"plan_ready\"}"},
    {"TurnCreate", "{\"input\":{\"message\":\"Which books suit a girl of nine?\"}}"},
    {"AgentRunCreate", "{\"input\":{\"message\":\"Recommend books for a girl of nine\"},"
                       "\"config\":{\"model_override\":\"gpt-4o\"}}"},
    {"AgentRunInput", "{\"message\":\"Recommend books for a girl of nine\"}"},
    {"AgentRunConfig", "{\"model_override\":\"gpt-4o\"}"},
    {"TurnUsageBody", "{\"tokens_in\":1200,\"tokens_out\":80}"},
    {"TurnInput", "{\"message\":\"Which books suit a girl of nine?\"}"},
    {"TurnPatch", "{\"status\":\"complete\",\"output\":{\"message\":\"Try these three.\"},"
                  "\"latency_ms\":840}"},
    {"EventAppend", "{\"kind\":\"progress\",\"text\":\"Read 3 of 10 pages\","
                    "\"payload\":{\"page\":3},\"run_id\":\"" ID_2 "\"}"},
    {"EventInput", "{\"kind\":\"acme.tool_call\",\"payload\":{\"tool\":\"search\"}}"},
    {"StepAppend", "{\"action_type\":\"tool_execution\",\"step_number\":1,\"duration_ms\":850,"
                   "\"action_data\":{\"tool_name\":\"search\",\"tool_use_id\":\"toolu_123\","
                   "\"input\":{\"query\":\"Oslo\"},\"result\":{\"hits\":3}}}"},
    {"StepUsage", "{\"input_tokens\":450,\"output_tokens\":120}"},
    {"StepInput", "{\"action_type\":\"api_response_received\",\"step_number\":1,\"action_data\":{"
                  "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":450,"
                  "\"output_tokens\":120}}}"},
    {"EventPrune", "{\"through_seq\":1000}"},
    {"FilePatch", "{\"metadata\":{\"source\":\"crawler\"}}"},
    {"FileRestore", "{\"version\":3}"},
    {"FileCopy", "{\"thread_id\":\"" ID_2 "\",\"name\":\"report-2.txt\",\"history\":true}"},
    {"UploadCreate", "{\"name\":\"corpus.tar\",\"size_bytes\":2147483648,"
                     "\"content_type\":\"application/x-tar\",\"expected_version\":0}"},
    {"ParticipantJoin", "{\"principal\":\"user:alice\",\"permission\":\"read\"}"},
    {"ParticipantPatch", "{\"permission\":\"read_write\",\"status\":\"reading page 3\"}"},
    {"ParticipantHeartbeat", "{\"ttl_s\":60,\"status\":\"typing\"}"},
    {"MessageCreate", "{\"content\":\"Here is the report\",\"content_type\":\"text/markdown\","
                      "\"metadata\":{\"attribution\":\"the archive\"},\"run_id\":\"" ID_2 "\"}"},
    {"MessageInput", "{\"content\":\"/summarise length=short\",\"type\":\"command\"}"},
    {"MessageBody", "{\"content\":\"Here is the corrected report\"}"},
    {"CheckpointPut", "{\"expected_latest\":\"" ID_1 "\",\"changes\":{\"append\":{\"messages\":["
                      "{\"role\":\"user\",\"content\":\"Hello\"}]},\"set\":{\"iteration\":2}},"
                      "\"channel_versions\":{\"messages\":2,\"iteration\":2},"
                      "\"metadata\":{\"trigger\":\"turn_complete\"},\"node\":\"agent\"}"},
    {"CheckpointWritesPut", "{\"task_id\":\"task-7\",\"writes\":[{\"channel\":\"messages\","
                            "\"value\":{\"role\":\"tool\",\"content\":\"42\"}}]}"},
    {"CheckpointChanges", "{\"set\":{\"iteration\":2},\"remove\":[\"draft\"]}"},
    {"CheckpointWrite",
        "{\"channel\":\"messages\",\"value\":{\"role\":\"tool\",\"content\":\"42\"}}"},
    {"CheckpointPrune", "{\"keep_latest\":20,\"older_than_s\":604800}"},
    {"CheckpointCopy", "{\"to_thread_id\":\"" ID_2 "\"}"},
    {"CheckpointDeltasBody", "{\"channels\":[\"messages\"]}"},
    {"Replay", "{\"checkpoint_id\":\"" ID_1 "\",\"modified_state\":{\"iteration\":0}}"},
    {"ShareCreate", "{\"kind\":\"participate\",\"permission\":\"read\",\"label\":\"for reviewers\","
                    "\"max_redemptions\":10}"},
    {"ShareRedeem", "{\"token\":\"cairn_share_…\",\"name\":\"Alice\"}"},
    {"ToolAsked", "{\"tool_use_id\":\"toolu_123\",\"name\":\"user_confirm\","
                  "\"input\":{\"message\":\"Delete it?\"},\"side\":\"frontend\"}"},
    {"BackendResult", "{\"tool_use_id\":\"toolu_456\",\"content\":\"42\"}"},
    {"ToolResult", "{\"tool_use_id\":\"toolu_123\",\"content\":\"yes\"}"},
    {"ToolsAwait", "{\"tools\":[{\"tool_use_id\":\"toolu_123\",\"name\":\"user_confirm\","
                   "\"input\":{\"message\":\"Delete it?\"},\"side\":\"frontend\"}],"
                   "\"current_step\":3}"},
    {"ToolResults", "{\"results\":[{\"tool_use_id\":\"toolu_123\",\"content\":\"yes\"}]}"},
    {"ResumptionBody", "{\"system_prompt\":\"You are a helpful assistant.\",\"model\":"
                       "\"claude-sonnet-4-5\",\"messages\":[{\"role\":\"user\",\"content\":"
                       "\"Create a chart\"}],\"base_delay\":1.5}"},
    {"ResumptionPatch", "{\"current_step\":3,\"container_id\":\"container_xyz789\"}"},
    {"ResumptionAppend", "{\"append\":[{\"role\":\"assistant\",\"content\":\"Here it is.\"}]}"},
    {"HistoryPatch", "{\"messages\":[{\"role\":\"user\",\"content\":\"Create a chart\"}],"
                     "\"generated_files\":[{\"file_id\":\"file_abc123\",\"filename\":"
                     "\"sales_chart.png\"}],\"extras\":{\"credits_used\":42}}"},
    {"WorkflowStart", "{\"user_input\":\"Plan a trip to Oslo\",\"ask_clarifications\":true}"},
    {"WorkflowInput", "{\"input\":\"In May\"}"},
};

const char *example_of_body(const struct schema *schema)
{
    for (size_t i = 0; i < COUNT_OF(BODIES); i++)
        if (strcmp(BODIES[i].schema, schema->name) == 0)
            return BODIES[i].json;
    return NULL;
}

/* --- Answers -------------------------------------------------------------------------------- */

/* Texts by the name of their field. */
static const struct {
    const char *field;
    const char *text;
} TEXTS[] = {
    {"name", "acme"},
    {"title", "Q3 report"},
    {"currency", "USD"},
    {"sha256", "5d41402abc4b2a76b9719d911017c592ae3b7d1f0c2e4d6f8a9b0c1d2e3f4a5b"},
    {"content_type", "text/plain"},
    {"created_by", "user:alice"},
    {"source_name", "report.txt"},
    {"agent", "researcher"},
    {"principal", "user:alice"},
    {"token", "cairn_share_…"},
    {"label", "for reviewers"},
    {"previous_permission", "read"},
    {"image", "https://example.com/alice.png"},
    {"actor", "key:" ID_1},
    {"version", "0.1.0"},
    {"action", "thread.deleted"},
    {"object_type", "thread"},
    {"object_id", ID_1},
    {"request_id", ID_2},
    {"hash", "5d41402abc4b2a76b9719d911017c592ae3b7d1f0c2e4d6f8a9b0c1d2e3f4a5b"},
    {"head", "5d41402abc4b2a76b9719d911017c592ae3b7d1f0c2e4d6f8a9b0c1d2e3f4a5b"},
    {"secret", "cairn_…"},
    {"kind", "progress"},
    {"text", "Read 3 of 10 pages"},
    {"user_input", "Summarise the report"},
    {"worker", "worker-3"},
    {"content", "Here is the report"},
    {"sender_role", "assistant"},
    {"ids", ID_1},
    {"status", "ok"},
    {"run_status", "running"},
};

static const char *text_for(const struct field *f)
{
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++)
        if (strcmp(TEXTS[i].field, f->name) == 0)
            return TEXTS[i].text;
    return f->name;
}

static void write_items(struct json_writer *w, const struct field *f)
{
    json_write_array(w);
    bool is_within_itself =
        f->nested != NULL && f >= f->nested->fields && f < f->nested->fields + f->nested->n_fields;
    if (f->kind == FIELD_NESTED_LIST && !is_within_itself)
        example_write_answer(w, f->nested);
    else if (f->kind == FIELD_STRINGS)
        json_write_string(w, str_of(f->choices != NULL ? f->choices[0] : text_for(f)));
    json_write_end(w);
}

static void write_value(struct json_writer *w, const struct field *f)
{
    static const int64_t MOMENT_US = 1767225600000000; /* 2026-01-01 */
    static const int64_t COST_PICO = 12500000000;      /* 0.0125 dollars */
    struct uuid id = UUID_NIL;
    switch (f->kind) {
    case FIELD_STRING:
        json_write_string(w, str_of(text_for(f)));
        break;
    case FIELD_ENUM:
        json_write_string(w, str_of(f->choices[0]));
        break;
    case FIELD_BOOL:
        json_write_bool(w, true);
        break;
    case FIELD_INT:
        json_write_i64(w, f->min > 0 ? f->min : 1);
        break;
    case FIELD_MONEY:
        json_write_money(w, f->min > 0 ? f->min : COST_PICO);
        break;
    case FIELD_TIME:
        json_write_time(w, MOMENT_US);
        break;
    case FIELD_UUID:
        if (uuid_parse(STR(ID_1), &id))
            json_write_uuid(w, id);
        break;
    case FIELD_STRINGS:
    case FIELD_NESTED_LIST:
    case FIELD_ARRAY:
        write_items(w, f);
        break;
    case FIELD_NESTED:
        example_write_answer(w, f->nested);
        break;
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_DOCUMENT:
        json_write_object(w);
        json_write_end(w);
        break;
    }
}

/* Members that answers rarely contain are left out, as in most answers. */
static bool is_rare(const struct field *f)
{
    static const char *const rare[] = {"error", "revoked_at", "deleted_at", "first_broken"};
    for (size_t i = 0; i < COUNT_OF(rare); i++)
        if (strcmp(rare[i], f->name) == 0)
            return true;
    return false;
}

void example_write_answer(struct json_writer *w, const struct schema *schema)
{
    json_write_object(w);
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        if (f->hide_none)
            continue;
        json_write_name(w, f->name);
        if (is_rare(f) && (f->flags & FIELD_NULLABLE))
            json_write_null(w);
        else
            write_value(w, f);
    }
    json_write_end(w);
}
