# Written by tools/sdk from the server's OpenAPI document: make sdk. Do not edit.
"""What the API takes and answers."""
from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict


class Health(TypedDict):
    # ok; of readyz ready, or full while the disk has no space for most writes
    status: str
    version: str


class Whoami(TypedDict):
    tenant_id: str
    # key, or open while no key exists
    actor: str
    key_id: Optional[str]
    # for whom this request acts; null: for the whole tenant
    principal: Optional[str]
    # every scope that the key has in effect
    scopes: List[str]


class TenantCreate(TypedDict):
    # unique
    name: str


class TenantCreated(TypedDict):
    tenant: Tenant
    # the tenant's first key, with the scope admin; its secret is shown once
    key: KeyCreated


class Tenant(TypedDict):
    id: str
    # unique
    name: str
    created_at: str
    updated_at: str
    version: int


class KeyCreated(TypedDict):
    id: str
    name: str
    # admin holds every scope of the tenant, operator also the tenants
    scopes: List[Literal["threads:read", "threads:write", "runs:read", "runs:write", "events:read",
        "events:write", "messages:read", "messages:write", "files:read", "files:write",
        "participants:read", "participants:write", "agents:read", "agents:write", "states:read",
        "states:write", "storage:read", "storage:write", "checkpoints:read", "checkpoints:write",
        "store:read", "store:write", "notebooks:read", "notebooks:write", "usage:read",
        "usage:write", "evals:read", "evals:write", "admin", "operator"]]
    # requests a minute; none when absent
    rate_limit_per_minute: Optional[int]
    expires_at: Optional[str]
    # user:NAME or agent:UUID, for whom the key acts; null: for its whole tenant
    principal: Optional[str]
    revoked_at: Optional[str]
    created_at: str
    # shown once; null in a replayed answer
    secret: Optional[str]


class TenantBody(TypedDict, total=False):
    # unique
    name: str


class _KeyCreateRequired(TypedDict):
    name: str
    # admin holds every scope of the tenant, operator also the tenants
    scopes: List[Literal["threads:read", "threads:write", "runs:read", "runs:write", "events:read",
        "events:write", "messages:read", "messages:write", "files:read", "files:write",
        "participants:read", "participants:write", "agents:read", "agents:write", "states:read",
        "states:write", "storage:read", "storage:write", "checkpoints:read", "checkpoints:write",
        "store:read", "store:write", "notebooks:read", "notebooks:write", "usage:read",
        "usage:write", "evals:read", "evals:write", "admin", "operator"]]


class KeyCreate(_KeyCreateRequired, total=False):
    # requests a minute; none when absent
    rate_limit_per_minute: Optional[int]
    expires_at: Optional[str]
    # user:NAME or agent:UUID, for whom the key acts; null: for its whole tenant
    principal: Optional[str]


class Key(TypedDict):
    id: str
    name: str
    # admin holds every scope of the tenant, operator also the tenants
    scopes: List[Literal["threads:read", "threads:write", "runs:read", "runs:write", "events:read",
        "events:write", "messages:read", "messages:write", "files:read", "files:write",
        "participants:read", "participants:write", "agents:read", "agents:write", "states:read",
        "states:write", "storage:read", "storage:write", "checkpoints:read", "checkpoints:write",
        "store:read", "store:write", "notebooks:read", "notebooks:write", "usage:read",
        "usage:write", "evals:read", "evals:write", "admin", "operator"]]
    # requests a minute; none when absent
    rate_limit_per_minute: Optional[int]
    expires_at: Optional[str]
    # user:NAME or agent:UUID, for whom the key acts; null: for its whole tenant
    principal: Optional[str]
    revoked_at: Optional[str]
    created_at: str


class AuditRecord(TypedDict):
    seq: int
    at: str
    actor: str
    action: str
    object_type: str
    object_id: str
    request_id: str
    detail: Any
    # SHA-256 over the hash before it and this record
    hash: str


class AuditVerdict(TypedDict):
    intact: bool
    # that were found good, from the first on
    records: int
    first_broken: Optional[int]
    # hash of the last good record: note it elsewhere to find a cut tail
    head: str


class _AgentBodyRequired(TypedDict):
    # no other agent of the tenant has it
    name: str


class AgentBody(_AgentBodyRequired, total=False):
    # agent unless told
    kind: Literal["agent", "team", "workflow"]
    description: Optional[str]
    metadata: Dict[str, Any]
    # true unless told
    is_active: bool
    # {role, instructions, examples}, or the instructions as text
    system_prompt: Any
    workflow_graph: Optional[WorkflowGraph]
    memory_config: Optional[MemoryConfig]
    guardrail_config: Optional[GuardrailConfig]
    llm_config: Optional[LlmConfig]
    execution_config: Optional[ExecutionConfig]
    # names or ids of tools, or {tool, config_overrides, is_enabled} for each
    tools: Optional[List[Any]]


class _WorkflowGraphRequired(TypedDict):
    entry_point: str
    nodes: List[GraphNode]


class WorkflowGraph(_WorkflowGraphRequired, total=False):
    edges: List[GraphEdge]


class _GraphNodeRequired(TypedDict):
    name: str
    type: Literal["llm", "tool", "router", "human"]


class GraphNode(_GraphNodeRequired, total=False):
    config: Optional[Dict[str, Any]]


__GraphEdgeRequiredOdd = TypedDict("__GraphEdgeRequiredOdd", {"from": str})


class _GraphEdgeRequired(__GraphEdgeRequiredOdd):
    # the name of a node, or a list of names
    to: Any


class GraphEdge(_GraphEdgeRequired, total=False):
    # an expression; null: always
    condition: Optional[str]


class MemoryConfig(TypedDict, total=False):
    short_term: Optional[ShortTermMemory]
    long_term: Optional[LongTermMemory]
    procedural: Optional[ProceduralMemory]


class ShortTermMemory(TypedDict, total=False):
    # 8000 unless told
    max_tokens: Optional[int]
    strategy: Optional[Literal["fifo", "summarize", "hybrid", "None"]]


class LongTermMemory(TypedDict, total=False):
    enabled: Optional[bool]
    embedding_model: Optional[str]
    # 5 unless told
    top_k: Optional[int]


class ProceduralMemory(TypedDict, total=False):
    enabled: Optional[bool]
    min_frequency: Optional[int]


class GuardrailConfig(TypedDict, total=False):
    input_rails: List[InputRail]
    output_rails: List[OutputRail]
    tool_rails: Optional[ToolRails]


class _InputRailRequired(TypedDict):
    type: Literal["pii", "injection", "topic"]


class InputRail(_InputRailRequired, total=False):
    config: Optional[Dict[str, Any]]


class _OutputRailRequired(TypedDict):
    type: Literal["hallucination", "toxicity", "format"]


class OutputRail(_OutputRailRequired, total=False):
    config: Optional[Dict[str, Any]]


class ToolRails(TypedDict, total=False):
    max_calls_per_turn: Optional[int]
    # "all", or a list of names
    allowed_tools: Any


class LlmConfig(TypedDict, total=False):
    default_model: Optional[str]
    fallback_model: Optional[str]
    # a number from 0 to 2
    temperature: Any
    # of one answer
    max_tokens: Optional[int]


class ExecutionConfig(TypedDict, total=False):
    # 25 unless told
    max_turns: Optional[int]
    # of a turn; 60 unless told
    timeout_seconds: Optional[int]
    checkpoint_frequency: Optional[Literal["every_turn", "on_change", "manual", "None"]]


class Agent(TypedDict):
    id: str
    # no other agent of the tenant has it
    name: str
    kind: Literal["agent", "team", "workflow"]
    # the active version of its definition, which new runs get
    version: Optional[str]
    # created until its first run; inactive: no run begins of it
    status: Literal["created", "active", "inactive"]
    is_active: bool
    description: Optional[str]
    metadata: Dict[str, Any]
    created_at: str
    updated_at: str
    # the ETag's number
    revision: int


class AgentPatch(TypedDict, total=False):
    # no other agent of the tenant has it
    name: str
    description: Optional[str]
    metadata: Dict[str, Any]
    is_active: bool


class AgentVersionCreate(TypedDict, total=False):
    # a semantic version greater than all of the agent's; or else bump
    version: str
    # which number of the newest version to raise
    bump: Literal["major", "minor", "patch"]
    # what is new in it
    description: Optional[str]
    # make it the active one at once; false unless told
    activate: bool
    # {role, instructions, examples}, or the instructions as text
    system_prompt: Any
    workflow_graph: Optional[WorkflowGraph]
    memory_config: Optional[MemoryConfig]
    guardrail_config: Optional[GuardrailConfig]
    llm_config: Optional[LlmConfig]
    execution_config: Optional[ExecutionConfig]
    # names or ids of tools, or {tool, config_overrides, is_enabled} for each
    tools: Optional[List[Any]]


class _AgentVersionRequired(TypedDict):
    agent_id: str
    version: str
    # the order in which they were made, from 1
    number: int
    # whether new runs get it
    is_active: bool
    description: Optional[str]
    # the principal; null for a key of the whole tenant
    created_by: Optional[str]
    created_at: str
    updated_at: str
    # when its first run began: from then on it never changes
    used_at: Optional[str]
    # the ETag's number
    revision: int
    workflow_graph: Optional[Dict[str, Any]]


class AgentVersion(_AgentVersionRequired, total=False):
    system_prompt: Optional[Dict[str, Any]]
    memory_config: Optional[Dict[str, Any]]
    guardrail_config: Optional[Dict[str, Any]]
    llm_config: Optional[Dict[str, Any]]
    execution_config: Optional[Dict[str, Any]]
    tools: Optional[List[Any]]


class AgentVersionHead(TypedDict):
    agent_id: str
    version: str
    # the order in which they were made, from 1
    number: int
    # whether new runs get it
    is_active: bool
    description: Optional[str]
    # the principal; null for a key of the whole tenant
    created_by: Optional[str]
    created_at: str
    updated_at: str
    # when its first run began: from then on it never changes
    used_at: Optional[str]
    # the ETag's number
    revision: int


class AgentVersionPatch(TypedDict, total=False):
    # what is new in it
    description: Optional[str]
    # {role, instructions, examples}, or the instructions as text
    system_prompt: Any
    workflow_graph: Optional[WorkflowGraph]
    memory_config: Optional[MemoryConfig]
    guardrail_config: Optional[GuardrailConfig]
    llm_config: Optional[LlmConfig]
    execution_config: Optional[ExecutionConfig]
    # names or ids of tools, or {tool, config_overrides, is_enabled} for each
    tools: Optional[List[Any]]


_AgentDiffOdd = TypedDict("_AgentDiffOdd", {"from": str})


class AgentDiff(_AgentDiffOdd):
    to: str
    # the parts that differ
    fields: List[AgentDiffField]
    # a JSON Patch from the one definition to the other
    patch: List[Dict[str, Any]]


class AgentDiffField(TypedDict):
    field: str
    # added, removed or changed
    change: str
    operations: int


class AgentLink(TypedDict):
    parent_id: str
    child_id: str
    child_name: str
    child_kind: Literal["agent", "team", "workflow"]
    # what the child is there; member unless told
    role: str
    # its place among the children; behind the others unless told
    position: int
    # a version of the child; null: its active one
    child_version: Optional[str]
    metadata: Dict[str, Any]
    created_at: str
    updated_at: str
    # the ETag's number
    revision: int


class AgentLinkBody(TypedDict, total=False):
    # what the child is there; member unless told
    role: str
    # its place among the children; behind the others unless told
    position: int
    # a version of the child; null: its active one
    child_version: Optional[str]
    metadata: Dict[str, Any]


class AgentTree(TypedDict):
    id: str
    name: str
    kind: Literal["agent", "team", "workflow"]
    # that the link names, or else the active one
    version: Optional[str]
    role: Optional[str]
    position: Optional[int]
    # their trees, with the same members except truncated
    children: List[Dict[str, Any]]
    # whether there is more than this shows
    truncated: bool


class _StateRequired(TypedDict):
    name: str
    agent_id: Optional[str]
    thread_id: Optional[str]
    description: Optional[str]
    # the principal; null for a key of the whole tenant
    updated_by: Optional[str]
    created_at: str
    updated_at: str
    # the ETag's number
    version: int


class State(_StateRequired, total=False):
    # an object or an array
    data: Any
    # JSON Schema 2020-12, which every write of data satisfies
    json_schema: Optional[Dict[str, Any]]
    # how to show it; Cairn only keeps it
    ui_schema: Optional[Dict[str, Any]]


class _StateBodyRequired(TypedDict):
    # an object or an array
    data: Any


class StateBody(_StateBodyRequired, total=False):
    description: Optional[str]
    # JSON Schema 2020-12, which every write of data satisfies
    json_schema: Optional[Dict[str, Any]]
    # how to show it; Cairn only keeps it
    ui_schema: Optional[Dict[str, Any]]


class StatePatch(TypedDict, total=False):
    description: Optional[str]
    # an object or an array
    data: Any
    # JSON Schema 2020-12, which every write of data satisfies
    json_schema: Optional[Dict[str, Any]]
    # how to show it; Cairn only keeps it
    ui_schema: Optional[Dict[str, Any]]


class _StateVersionRequired(TypedDict):
    version: int
    description: Optional[str]
    # the principal; null for a key of the whole tenant
    created_by: Optional[str]
    created_at: str


class StateVersion(_StateVersionRequired, total=False):
    # an object or an array
    data: Any
    # JSON Schema 2020-12, which every write of data satisfies
    json_schema: Optional[Dict[str, Any]]
    # how to show it; Cairn only keeps it
    ui_schema: Optional[Dict[str, Any]]


class _StorageItemRequired(TypedDict):
    key: str
    content_type: str
    size_bytes: int
    created_at: str
    updated_at: str
    # the ETag's number
    version: int


class StorageItem(_StorageItemRequired, total=False):
    # of JSON, when it was asked for
    value: Any
    # of anything else, when it was asked for
    base64: str


class KeyedThreadBody(TypedDict, total=False):
    status: Literal["active", "paused", "cancelled", "error"]
    title: Optional[str]
    # who works on it; new runs take it over
    agent: Optional[str]
    # the conversation so far: summary, tail, meta
    context: Dict[str, Any]
    preferences: Dict[str, Any]
    important_steps: Any
    # its scalar members can be filtered by
    metadata: Dict[str, Any]
    error: Optional[Dict[str, Any]]
    # what a start does while another run is active
    run_policy: Literal["reject", "enqueue", "interrupt", "rollback"]
    # drop a run's events when it is finished
    prune_on_completion: bool
    # drop events that are older
    event_max_age_s: Optional[int]


class _ThreadRequired(TypedDict):
    id: str
    # your own id of the conversation; no two threads of a tenant have the same
    key: Optional[str]
    status: Literal["active", "paused", "cancelled", "error"]
    title: Optional[str]
    # who works on it; new runs take it over
    agent: Optional[str]
    # its scalar members can be filtered by
    metadata: Dict[str, Any]
    error: Optional[Dict[str, Any]]
    # what a start does while another run is active
    run_policy: Literal["reject", "enqueue", "interrupt", "rollback"]
    # drop a run's events when it is finished
    prune_on_completion: bool
    # drop events that are older
    event_max_age_s: Optional[int]
    most_recent_run_id: Optional[str]
    # cursor of the newest event
    last_seq: int
    # events up to this one are gone
    pruned_seq: int
    created_at: str
    updated_at: str
    # the ETag's number
    version: int


class Thread(_ThreadRequired, total=False):
    # the conversation so far: summary, tail, meta
    context: Dict[str, Any]
    preferences: Dict[str, Any]
    important_steps: Any


class ThreadBody(TypedDict, total=False):
    # your own id of the conversation; no two threads of a tenant have the same
    key: Optional[str]
    status: Literal["active", "paused", "cancelled", "error"]
    title: Optional[str]
    # who works on it; new runs take it over
    agent: Optional[str]
    # the conversation so far: summary, tail, meta
    context: Dict[str, Any]
    preferences: Dict[str, Any]
    important_steps: Any
    # its scalar members can be filtered by
    metadata: Dict[str, Any]
    error: Optional[Dict[str, Any]]
    # what a start does while another run is active
    run_policy: Literal["reject", "enqueue", "interrupt", "rollback"]
    # drop a run's events when it is finished
    prune_on_completion: bool
    # drop events that are older
    event_max_age_s: Optional[int]


class Reason(TypedDict, total=False):
    # told in the event
    reason: Optional[str]


class Import(TypedDict):
    what: Literal["thread", "agent", "tenant"]
    ids: Literal["keep", "remap"]
    dry_run: bool
    counts: ImportCounts
    # the agents and threads of the archive
    objects: List[ImportedObject]


class ImportCounts(TypedDict):
    agents: int
    storage: int
    threads: int
    participants: int
    runs: int
    events: int
    messages: int
    files: int
    file_versions: int
    states: int
    blobs: int
    bytes: int


_ImportedObjectOdd = TypedDict("_ImportedObjectOdd", {"from": str})


class ImportedObject(_ImportedObjectOdd):
    type: str
    # its id here
    to: str
    # an agent that the tenant had already, and that is meant
    was_there: bool
    # a thread that came without its key, which another one has here
    key_dropped: bool


class _ToolsAwaitRequired(TypedDict):
    tools: List[ToolAsked]


class ToolsAwait(_ToolsAwaitRequired, total=False):
    # that the engine has already, to go with the others
    backend_results: List[BackendResult]
    # of the thread's resumption
    current_step: int
    # of the thread's resumption
    messages: List[Dict[str, Any]]


class _ToolAskedRequired(TypedDict):
    # unique within the run
    tool_use_id: str
    name: str
    # who runs it
    side: Literal["frontend", "backend"]


class ToolAsked(_ToolAskedRequired, total=False):
    input: Dict[str, Any]


class _BackendResultRequired(TypedDict):
    # unique within the run
    tool_use_id: str
    # a text, a list of blocks, any JSON value
    content: Any


class BackendResult(_BackendResultRequired, total=False):
    name: str
    # tool_result; Cairn does not look at it
    type: str
    is_error: bool


class ToolsPause(TypedDict):
    run_id: str
    # of the run, from here on
    status: str
    phase: Optional[str]
    # tools whose results are missing
    remaining: int


class AwaitedTool(TypedDict):
    # unique within the run
    tool_use_id: str
    # empty of a result that came without one
    name: str
    side: Literal["frontend", "backend"]
    input: Any
    # the result; null while it is not in
    content: Any
    is_error: Optional[bool]
    # 1, 2, 3: which time the run stopped for tools
    pause: int
    created_at: str
    # null while the tool is open
    result_at: Optional[str]
    # the principal; null for a key of the whole tenant
    result_by: Optional[str]


class ToolResults(TypedDict):
    results: List[ToolResult]


class _ToolResultRequired(TypedDict):
    # unique within the run
    tool_use_id: str
    # a text, a list of blocks, any JSON value
    content: Any


class ToolResult(_ToolResultRequired, total=False):
    is_error: bool


class ToolsSettled(TypedDict):
    run_id: str
    # of the run, from here on
    status: str
    phase: Optional[str]
    # tools whose results are missing
    remaining: int
    # these were the last, and the run goes on
    resumed: bool
    accepted: List[str]
    # ids that had a result before: that one stays
    duplicates: List[str]


class _ResumptionRequired(TypedDict):
    thread_id: str
    # the thread's id, under the name that engines know it by
    agent_uuid: str
    # of the newest run when this was last written
    agent_id: Optional[str]
    # left out: role and instructions of the newest run's agent version
    system_prompt: Optional[str]
    # left out: the default_model of the newest run's agent version
    model: Optional[str]
    # 50 unless told
    max_steps: int
    # 0 unless told
    thinking_tokens: int
    # 2048 unless told
    max_tokens: int
    # where code is executed
    container_id: Optional[str]
    # tools of the client: [{name, description, input_schema}]
    tool_schemas: List[Dict[str, Any]]
    # tools of the model's provider, objects
    server_tools: List[Dict[str, Any]]
    # texts
    beta_headers: List[str]
    # passed on to the provider: temperature …
    api_kwargs: Dict[str, Any]
    # how the stream is written: xml, json …
    formatter: Optional[str]
    stream_meta_history_and_tool_results: bool
    # the name of the type alone
    compactor_type: Optional[str]
    # the name of the type alone
    memory_store_type: Optional[str]
    # file id → {filename, storage_path …}
    file_registry: Dict[str, Any]
    # anything else of the application
    extras: Dict[str, Any]
    # 5 unless told
    max_retries: int
    # seconds before the first retry, to the millisecond; 1 unless told
    base_delay: float
    # of the last run
    last_known_input_tokens: int
    # of the last run
    last_known_output_tokens: int
    # to go on from
    current_step: int
    # the thread's
    title: Optional[str]
    # of tool_schemas
    tool_names: List[str]
    # that unfinished runs wait for: [{tool_use_id, name, input}]
    pending_frontend_tools: List[Dict[str, Any]]
    # that are in while others are missing
    pending_backend_results: List[Dict[str, Any]]
    awaiting_frontend_tools: bool
    created_at: str
    updated_at: str
    last_run_at: Optional[str]
    # of the thread that are nobody's children
    total_runs: int
    # the ETag's number
    version: int


class Resumption(_ResumptionRequired, total=False):
    # the compacted messages; what a write leaves out stays
    messages: List[Dict[str, Any]]
    # all messages of the run under way; its history entry takes them over when it ends
    conversation_history: List[Dict[str, Any]]


class ResumptionBody(TypedDict, total=False):
    # left out: role and instructions of the newest run's agent version
    system_prompt: Optional[str]
    # left out: the default_model of the newest run's agent version
    model: Optional[str]
    # 50 unless told
    max_steps: int
    # 0 unless told
    thinking_tokens: int
    # 2048 unless told
    max_tokens: int
    # where code is executed
    container_id: Optional[str]
    # the compacted messages; what a write leaves out stays
    messages: List[Dict[str, Any]]
    # tools of the client: [{name, description, input_schema}]
    tool_schemas: List[Dict[str, Any]]
    # tools of the model's provider, objects
    server_tools: List[Dict[str, Any]]
    # texts
    beta_headers: List[str]
    # passed on to the provider: temperature …
    api_kwargs: Dict[str, Any]
    # how the stream is written: xml, json …
    formatter: Optional[str]
    stream_meta_history_and_tool_results: bool
    # the name of the type alone
    compactor_type: Optional[str]
    # the name of the type alone
    memory_store_type: Optional[str]
    # file id → {filename, storage_path …}
    file_registry: Dict[str, Any]
    # anything else of the application
    extras: Dict[str, Any]
    # 5 unless told
    max_retries: int
    # seconds before the first retry, to the millisecond; 1 unless told
    base_delay: float
    # of the last run
    last_known_input_tokens: int
    # of the last run
    last_known_output_tokens: int
    # to go on from
    current_step: int
    # all messages of the run under way; its history entry takes them over when it ends
    conversation_history: List[Dict[str, Any]]
    # the thread's
    title: Optional[str]


class ResumptionPatch(TypedDict, total=False):
    # left out: role and instructions of the newest run's agent version
    system_prompt: Optional[str]
    # left out: the default_model of the newest run's agent version
    model: Optional[str]
    # 50 unless told
    max_steps: int
    # 0 unless told
    thinking_tokens: int
    # 2048 unless told
    max_tokens: int
    # where code is executed
    container_id: Optional[str]
    # the compacted messages; what a write leaves out stays
    messages: List[Dict[str, Any]]
    # tools of the client: [{name, description, input_schema}]
    tool_schemas: List[Dict[str, Any]]
    # tools of the model's provider, objects
    server_tools: List[Dict[str, Any]]
    # texts
    beta_headers: List[str]
    # passed on to the provider: temperature …
    api_kwargs: Dict[str, Any]
    # how the stream is written: xml, json …
    formatter: Optional[str]
    stream_meta_history_and_tool_results: bool
    # the name of the type alone
    compactor_type: Optional[str]
    # the name of the type alone
    memory_store_type: Optional[str]
    # file id → {filename, storage_path …}
    file_registry: Dict[str, Any]
    # anything else of the application
    extras: Dict[str, Any]
    # 5 unless told
    max_retries: int
    # seconds before the first retry, to the millisecond; 1 unless told
    base_delay: float
    # of the last run
    last_known_input_tokens: int
    # of the last run
    last_known_output_tokens: int
    # to go on from
    current_step: int
    # all messages of the run under way; its history entry takes them over when it ends
    conversation_history: List[Dict[str, Any]]
    # the thread's
    title: Optional[str]


class ResumptionAppend(TypedDict, total=False):
    # to the end of messages
    append: List[Dict[str, Any]]
    # to the end of conversation_history
    append_history: List[Dict[str, Any]]


class _HistoryEntryRequired(TypedDict):
    final_response: Optional[str]
    # end_turn, max_steps, tool_use …; failed and cancelled where nobody said
    stop_reason: Optional[str]
    # [{file_id, filename, …}]
    generated_files: List[Dict[str, Any]]
    extras: Dict[str, Any]
    conversation_id: str
    thread_id: str
    # the thread's id, under the name that engines know it by
    agent_uuid: str
    # 1, 2, 3 within the thread
    sequence_number: int
    run_id: str
    # the run's: completed, failed or cancelled
    status: Optional[str]
    agent_id: Optional[str]
    started_at: str
    completed_at: str
    user_message: str
    total_steps: int
    # of the run and its children
    usage: HistoryUsage
    # of the run and its children: input_cost, output_cost, total_cost …
    cost: Dict[str, Any]
    created_at: str
    updated_at: str
    # the ETag's number
    version: int


class HistoryEntry(_HistoryEntryRequired, total=False):
    # the whole conversation of the run, not compacted
    messages: List[Dict[str, Any]]


class HistoryUsage(TypedDict):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int


class HistoryPatch(TypedDict, total=False):
    # the whole conversation of the run, not compacted
    messages: List[Dict[str, Any]]
    final_response: Optional[str]
    # end_turn, max_steps, tool_use …; failed and cancelled where nobody said
    stop_reason: Optional[str]
    # [{file_id, filename, …}]
    generated_files: List[Dict[str, Any]]
    extras: Dict[str, Any]


class ThreadContext(TypedDict):
    # oldest first
    messages: List[Dict[str, Any]]
    runs_used: int
    # completed runs in the history of the thread
    runs_available: int
    estimated_tokens: int
    # the budget left out something of the runs that were asked for
    truncated: bool


class RunCreate(TypedDict, total=False):
    # the message that triggers the run
    user_input: Optional[str]
    ask_clarifications: bool
    # instead of the thread's run_policy
    policy: Optional[Literal["reject", "enqueue", "interrupt", "rollback", "None"]]
    # queue (a worker claims it; the default) or direct (the caller works on it)
    dispatch: Literal["queue", "direct"]
    parent_run_id: Optional[str]
    # the name to claim it by; when absent the agent's or the thread's
    agent: Optional[str]
    # the agent that the run is of
    agent_id: Optional[str]
    # with agent_id: the active one when absent
    agent_version: Optional[str]
    model: Optional[str]
    provider: Optional[str]
    # what asks for the run, whole: a message with attachments …
    request: Optional[Dict[str, Any]]
    state: Dict[str, Any]
    metadata: Dict[str, Any]


class _RunRequired(TypedDict):
    id: str
    status: Literal["queued", "running", "waiting_for_input", "paused", "completed", "failed",
        "cancelled"]
    metadata: Dict[str, Any]
    error: Optional[Dict[str, Any]]
    model: Optional[str]
    provider: Optional[str]
    # why the model stopped: end_turn, max_tokens …
    stop_reason: Optional[str]
    thread_id: str
    parent_run_id: Optional[str]
    dispatch: Literal["queue", "direct"]
    # the name to claim it by
    agent: Optional[str]
    agent_id: Optional[str]
    # of the agent's definition
    agent_version: Optional[str]
    # where it is in the life of an agent's instance
    phase: Literal["created", "initializing", "planning", "executing", "awaiting_tool",
        "awaiting_human", "reflecting", "completed", "failed", "cancelled"]
    forked_from_run_id: Optional[str]
    forked_from_checkpoint_id: Optional[str]
    turn_count: int
    step_count: int
    # of the run itself
    usage: RunUsage
    # of the run and its descendants
    total_usage: RunUsage
    ask_clarifications: bool
    # who holds the lease
    worker: Optional[str]
    lease_ms: Optional[int]
    # the fencing token of the newest claim
    fence: int
    started_at: Optional[str]
    finished_at: Optional[str]
    created_at: str
    updated_at: str
    version: int


class Run(_RunRequired, total=False):
    # the engine's checkpoint: phase, pending_input …
    state: Dict[str, Any]
    final_output: Any
    # what the run answered, for people
    content: Optional[str]
    content_type: Optional[str]
    citations: Any
    # what the engine measured
    metrics: Optional[Dict[str, Any]]
    # what asked for the run, whole
    request: Optional[Dict[str, Any]]
    user_input: Optional[str]
    # the newest answer to a question of the run
    input: Any


class RunUsage(TypedDict):
    llm_calls: int
    # neither written to a cache nor read from one
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    # of the calls that have a price; null when none of them has one
    cost_usd: Optional[float]
    # calls of models without a price: their cost is in no sum
    unpriced_calls: int


class _RunClaimRequired(TypedDict):
    # a name for people to read
    worker: str


class RunClaim(_RunClaimRequired, total=False):
    # 30000 unless told
    lease_ms: int
    # only runs of this agent
    agent: Optional[str]
    # only runs of this thread
    thread_id: Optional[str]


class _AgentRunCreateRequired(TypedDict):
    input: AgentRunInput


class AgentRunCreate(_AgentRunCreateRequired, total=False):
    # a new thread is made when it is absent
    thread_id: Optional[str]
    config: Optional[AgentRunConfig]
    # the active one when absent
    agent_version: Optional[str]
    parent_run_id: Optional[str]
    # instead of the thread's run_policy
    policy: Optional[Literal["reject", "enqueue", "interrupt", "rollback", "None"]]
    # queue (a worker claims it; the default) or direct (the caller works on it)
    dispatch: Literal["queue", "direct"]
    metadata: Dict[str, Any]


class _AgentRunInputRequired(TypedDict):
    message: str


class AgentRunInput(_AgentRunInputRequired, total=False):
    attachments: Optional[List[Any]]


class AgentRunConfig(TypedDict, total=False):
    # instead of the agent's default_model
    model_override: Optional[str]
    # taken and not needed: the thread's events can always be streamed
    stream: Optional[bool]


class _AgentRunRequired(TypedDict):
    # the same as id
    run_id: str
    id: str
    status: Literal["queued", "running", "waiting_for_input", "paused", "completed", "failed",
        "cancelled"]
    metadata: Dict[str, Any]
    error: Optional[Dict[str, Any]]
    model: Optional[str]
    provider: Optional[str]
    # why the model stopped: end_turn, max_tokens …
    stop_reason: Optional[str]
    thread_id: str
    parent_run_id: Optional[str]
    dispatch: Literal["queue", "direct"]
    # the name to claim it by
    agent: Optional[str]
    agent_id: Optional[str]
    # of the agent's definition
    agent_version: Optional[str]
    # where it is in the life of an agent's instance
    phase: Literal["created", "initializing", "planning", "executing", "awaiting_tool",
        "awaiting_human", "reflecting", "completed", "failed", "cancelled"]
    forked_from_run_id: Optional[str]
    forked_from_checkpoint_id: Optional[str]
    turn_count: int
    step_count: int
    # of the run itself
    usage: RunUsage
    # of the run and its descendants
    total_usage: RunUsage
    ask_clarifications: bool
    # who holds the lease
    worker: Optional[str]
    lease_ms: Optional[int]
    # the fencing token of the newest claim
    fence: int
    started_at: Optional[str]
    finished_at: Optional[str]
    created_at: str
    updated_at: str
    version: int


class AgentRun(_AgentRunRequired, total=False):
    # the engine's checkpoint: phase, pending_input …
    state: Dict[str, Any]
    final_output: Any
    # what the run answered, for people
    content: Optional[str]
    content_type: Optional[str]
    citations: Any
    # what the engine measured
    metrics: Optional[Dict[str, Any]]
    # what asked for the run, whole
    request: Optional[Dict[str, Any]]
    user_input: Optional[str]
    # the newest answer to a question of the run
    input: Any


class _RunWithMembersRequired(TypedDict):
    id: str
    status: Literal["queued", "running", "waiting_for_input", "paused", "completed", "failed",
        "cancelled"]
    metadata: Dict[str, Any]
    error: Optional[Dict[str, Any]]
    model: Optional[str]
    provider: Optional[str]
    # why the model stopped: end_turn, max_tokens …
    stop_reason: Optional[str]
    thread_id: str
    parent_run_id: Optional[str]
    dispatch: Literal["queue", "direct"]
    # the name to claim it by
    agent: Optional[str]
    agent_id: Optional[str]
    # of the agent's definition
    agent_version: Optional[str]
    # where it is in the life of an agent's instance
    phase: Literal["created", "initializing", "planning", "executing", "awaiting_tool",
        "awaiting_human", "reflecting", "completed", "failed", "cancelled"]
    forked_from_run_id: Optional[str]
    forked_from_checkpoint_id: Optional[str]
    turn_count: int
    step_count: int
    # of the run itself
    usage: RunUsage
    # of the run and its descendants
    total_usage: RunUsage
    ask_clarifications: bool
    # who holds the lease
    worker: Optional[str]
    lease_ms: Optional[int]
    # the fencing token of the newest claim
    fence: int
    started_at: Optional[str]
    finished_at: Optional[str]
    created_at: str
    updated_at: str
    version: int


class RunWithMembers(_RunWithMembersRequired, total=False):
    # the engine's checkpoint: phase, pending_input …
    state: Dict[str, Any]
    final_output: Any
    # what the run answered, for people
    content: Optional[str]
    content_type: Optional[str]
    citations: Any
    # what the engine measured
    metrics: Optional[Dict[str, Any]]
    # what asked for the run, whole
    request: Optional[Dict[str, Any]]
    user_input: Optional[str]
    # the newest answer to a question of the run
    input: Any
    # what its children answered, oldest first
    member_responses: List[MemberResponse]
    # older ones are left out: GET /v1/runs?parent_run_id= has them all
    more_members: Optional[bool]


class MemberResponse(TypedDict):
    run_id: str
    agent_id: Optional[str]
    agent: Optional[str]
    status: Literal["queued", "running", "waiting_for_input", "paused", "completed", "failed",
        "cancelled"]
    content: Optional[str]
    content_type: Optional[str]
    created_at: str


class RunTree(TypedDict):
    run_count: int
    # there are more descendants than a tree holds, 1000 runs
    is_cut: bool
    root: RunTreeNode


class RunTreeNode(TypedDict):
    run_id: str
    parent_run_id: Optional[str]
    agent_id: Optional[str]
    agent: Optional[str]
    agent_version: Optional[str]
    status: Literal["queued", "running", "waiting_for_input", "paused", "completed", "failed",
        "cancelled"]
    phase: Literal["created", "initializing", "planning", "executing", "awaiting_tool",
        "awaiting_human", "reflecting", "completed", "failed", "cancelled"]
    model: Optional[str]
    usage: RunUsage
    total_usage: RunUsage
    created_at: str
    started_at: Optional[str]
    finished_at: Optional[str]
    # oldest first
    children: List[RunTreeNode]


class _RunPhaseBodyRequired(TypedDict):
    to: Literal["created", "initializing", "planning", "executing", "awaiting_tool",
        "awaiting_human", "reflecting", "completed", "failed", "cancelled"]


class RunPhaseBody(_RunPhaseBodyRequired, total=False):
    # what leads there: plan_ready, tool_call …; what the table says when absent
    trigger: Optional[str]
    # for the log
    detail: Optional[Dict[str, Any]]


_RunPhaseOdd = TypedDict(
    "_RunPhaseOdd", {"from": Literal["created", "initializing", "planning", "executing",
    "awaiting_tool", "awaiting_human", "reflecting", "completed", "failed", "cancelled"]},
)


class RunPhase(_RunPhaseOdd):
    number: int
    to: Literal["created", "initializing", "planning", "executing", "awaiting_tool",
        "awaiting_human", "reflecting", "completed", "failed", "cancelled"]
    trigger: str
    detail: Optional[Dict[str, Any]]
    created_at: str


class _TurnCreateRequired(TypedDict):
    input: TurnInput


class TurnCreate(_TurnCreateRequired, total=False):
    # running, unless the output tells otherwise
    status: Literal["running", "complete", "awaiting_tool", "awaiting_human", "failed", "cancelled"]
    # a message, tool_calls …; its status, if it has one, is the turn's
    output: Optional[Dict[str, Any]]
    latency_ms: Optional[int]
    # of the run's thread
    checkpoint_id: Optional[str]
    # of one call of a model; its cost is computed
    usage: Optional[TurnUsageBody]


class TurnInput(TypedDict, total=False):
    # this or tool_results, or both
    message: Optional[str]
    attachments: Optional[List[Any]]
    # objects, each with its tool_use_id; 256 at the most
    tool_results: Optional[List[Dict[str, Any]]]


class TurnUsageBody(TypedDict, total=False):
    tokens_in: Optional[int]
    tokens_out: Optional[int]
    cache_creation_input_tokens: Optional[int]
    cache_read_input_tokens: Optional[int]
    # the run's when absent
    model: Optional[str]
    # the run's when absent
    provider: Optional[str]


class _TurnRequired(TypedDict):
    turn_id: str
    run_id: str
    # 1, 2, 3 within the run
    number: int
    status: Literal["running", "complete", "awaiting_tool", "awaiting_human", "failed", "cancelled"]
    usage: TurnUsage
    latency_ms: Optional[int]
    checkpoint_id: Optional[str]
    created_at: str
    finished_at: Optional[str]
    version: int


class Turn(_TurnRequired, total=False):
    input: Dict[str, Any]
    output: Optional[Dict[str, Any]]


class TurnUsage(TypedDict):
    tokens_in: int
    tokens_out: int
    # of the calls that have a price; null when none of them has one
    cost_usd: Optional[float]
    llm_calls: int
    unpriced_calls: int


class TurnPatch(TypedDict, total=False):
    # running, unless the output tells otherwise
    status: Literal["running", "complete", "awaiting_tool", "awaiting_human", "failed", "cancelled"]
    # a message, tool_calls …; its status, if it has one, is the turn's
    output: Optional[Dict[str, Any]]
    latency_ms: Optional[int]
    # of the run's thread
    checkpoint_id: Optional[str]
    # of one call of a model; its cost is computed
    usage: Optional[TurnUsageBody]


class _UsageBodyRequired(TypedDict):
    # neither written to a cache nor read from one
    input_tokens: int
    output_tokens: int


class UsageBody(_UsageBodyRequired, total=False):
    # the run's unless told
    model: Optional[str]
    # the run's unless told
    provider: Optional[str]
    # the turn of the run in which it happened
    turn_id: Optional[str]
    # written to a cache
    cache_creation_input_tokens: int
    # read from a cache
    cache_read_input_tokens: int
    # computed from the model's price, never given
    cost: Any
    # computed from the model's price, never given
    cost_usd: Any
    # computed from the model's price, never given
    total_cost: Any


class _CostRequired(TypedDict):
    input_cost: Optional[float]
    output_cost: Optional[float]
    cache_write_cost: Optional[float]
    cache_read_cost: Optional[float]
    # null when a call had no price
    total_cost: Optional[float]
    # what was written to a cache and read from one included
    total_input_tokens: int
    total_output_tokens: int
    total_cache_creation_tokens: int
    total_cache_read_tokens: int
    # null when it is not known, or when there are several: models names them
    model_id: Optional[str]
    # a call was long enough for the long-context rates
    long_context_applied: bool
    currency: Optional[str]
    llm_calls: int
    unpriced_calls: int


class Cost(_CostRequired, total=False):
    models: List[str]
    price_version: int
    # where some calls had no price, what the others cost
    priced_cost: float


class RunCost(TypedDict):
    run_id: str
    # of the run and its descendants
    total: Cost
    # the same, by model, provider and version of the price
    models: List[ModelUsage]


class ModelUsage(TypedDict):
    # empty when it is not known
    model: str
    provider: str
    # null: these calls had no price
    price_version: Optional[int]
    llm_calls: int
    long_context_calls: int
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    input_cost: Optional[float]
    output_cost: Optional[float]
    cache_write_cost: Optional[float]
    cache_read_cost: Optional[float]


class _PriceRequired(TypedDict):
    model: str
    # for a million tokens of input that is in no cache
    input: float
    # for a million tokens of output
    output: float
    # other rates for calls with more input than this
    long_context: Optional[LongContextPrice]
    provider: Optional[str]
    # USD unless told; that of all prices of the tenant
    currency: str
    # from this version on the model has no price
    deleted: bool
    created_at: str
    version: int


class Price(_PriceRequired, total=False):
    # for a million tokens written to a cache; 1.25 times input
    cache_write: float
    # for a million tokens read from a cache; 0.1 times input
    cache_read: float


class _LongContextPriceRequired(TypedDict):
    # of input, what is in a cache included
    above_tokens: int
    # for a million tokens of input that is in no cache
    input: float
    # for a million tokens of output
    output: float


class LongContextPrice(_LongContextPriceRequired, total=False):
    # for a million tokens written to a cache; 1.25 times input
    cache_write: float
    # for a million tokens read from a cache; 0.1 times input
    cache_read: float


class _PriceBodyRequired(TypedDict):
    # for a million tokens of input that is in no cache
    input: float
    # for a million tokens of output
    output: float


class PriceBody(_PriceBodyRequired, total=False):
    # for a million tokens written to a cache; 1.25 times input
    cache_write: float
    # for a million tokens read from a cache; 0.1 times input
    cache_read: float
    # other rates for calls with more input than this
    long_context: Optional[LongContextPrice]
    provider: Optional[str]
    # USD unless told; that of all prices of the tenant
    currency: str


class CostBody(TypedDict):
    model: str
    usage: TokenUsage


class _TokenUsageRequired(TypedDict):
    # neither written to a cache nor read from one
    input_tokens: int
    output_tokens: int


class TokenUsage(_TokenUsageRequired, total=False):
    # written to a cache
    cache_creation_input_tokens: int
    # read from a cache
    cache_read_input_tokens: int


_UsageOdd = TypedDict("_UsageOdd", {"from": str})


class Usage(_UsageOdd):
    data: List[UsageRow]
    has_more: bool
    next_cursor: Optional[str]
    to: str
    currency: str
    # of all pages
    totals: UsageTotal


class _UsageRowRequired(TypedDict):
    runs_started: int
    runs_completed: int
    runs_failed: int
    runs_cancelled: int
    llm_calls: int
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    # of the calls that had a price, in the tenant's currency
    cost_usd: float
    unpriced_calls: int


class UsageRow(_UsageRowRequired, total=False):
    # of UTC; here, as the next three, when it is in group_by
    day: str
    # empty: runs, which are counted under no model, and calls of an unknown one
    model: str
    provider: str
    # the nil id: runs of no agent
    agent_id: str


class UsageTotal(TypedDict):
    runs_started: int
    runs_completed: int
    runs_failed: int
    runs_cancelled: int
    llm_calls: int
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    # of the calls that had a price, in the tenant's currency
    cost_usd: float
    unpriced_calls: int


class _UsageAverageRequired(TypedDict):
    runs: int
    input_tokens: int
    output_tokens: int
    # of input and output a run, rounded
    avg_tokens: int


class UsageAverage(_UsageAverageRequired, total=False):
    thread_id: str
    # the nil id: runs of no agent
    agent_id: str


class _EvalBodyRequired(TypedDict):
    name: str
    # accuracy, performance, reliability, agent_as_judge or your own
    eval_type: str


class EvalBody(_EvalBodyRequired, total=False):
    agent_id: Optional[str]
    agent_version: Optional[str]
    # the run that was judged
    run_id: Optional[str]
    # that was evaluated
    model: Optional[str]
    provider: Optional[str]
    # what was evaluated, for people
    evaluated_name: Optional[str]
    # lists leave it and eval_data out
    eval_input: Dict[str, Any]
    eval_data: Dict[str, Any]
    # from 0 to 1, with up to 6 digits after the point
    score: Optional[float]
    passed: Optional[bool]
    metadata: Dict[str, Any]


class _EvalRequired(TypedDict):
    id: str
    name: str
    # accuracy, performance, reliability, agent_as_judge or your own
    eval_type: str
    agent_id: Optional[str]
    agent_version: Optional[str]
    # the run that was judged
    run_id: Optional[str]
    # that was evaluated
    model: Optional[str]
    provider: Optional[str]
    # what was evaluated, for people
    evaluated_name: Optional[str]
    # from 0 to 1, with up to 6 digits after the point
    score: Optional[float]
    passed: Optional[bool]
    metadata: Dict[str, Any]
    created_at: str
    updated_at: str
    version: int


class Eval(_EvalRequired, total=False):
    # lists leave it and eval_data out
    eval_input: Dict[str, Any]
    eval_data: Dict[str, Any]


class EvalPatch(TypedDict, total=False):
    name: str
    # accuracy, performance, reliability, agent_as_judge or your own
    eval_type: str
    agent_id: Optional[str]
    agent_version: Optional[str]
    # the run that was judged
    run_id: Optional[str]
    # that was evaluated
    model: Optional[str]
    provider: Optional[str]
    # what was evaluated, for people
    evaluated_name: Optional[str]
    # lists leave it and eval_data out
    eval_input: Dict[str, Any]
    eval_data: Dict[str, Any]
    # from 0 to 1, with up to 6 digits after the point
    score: Optional[float]
    passed: Optional[bool]
    metadata: Dict[str, Any]


class _NotebookBodyRequired(TypedDict):
    title: str


class NotebookBody(_NotebookBodyRequired, total=False):
    description: Optional[str]
    # for the agents that work in it; lists leave them out
    instructions: Optional[str]
    metadata: Dict[str, Any]


class _NotebookRequired(TypedDict):
    id: str
    title: str
    description: Optional[str]
    metadata: Dict[str, Any]
    # 1, 2, 3 within the tenant, for people
    number: int
    # how many it has
    sessions: int
    created_at: str
    updated_at: str
    version: int


class Notebook(_NotebookRequired, total=False):
    # for the agents that work in it; lists leave them out
    instructions: Optional[str]


class NotebookPatch(TypedDict, total=False):
    title: str
    description: Optional[str]
    # for the agents that work in it; lists leave them out
    instructions: Optional[str]
    metadata: Dict[str, Any]


class NotebookSessionBody(TypedDict, total=False):
    # a new thread when absent
    thread_id: Optional[str]


class NotebookSession(TypedDict):
    notebook_id: str
    thread_id: str
    # rises within the tenant
    number: int
    # the thread's
    title: Optional[str]
    status: str
    # when the thread came into the notebook
    created_at: str


class RunBody(TypedDict, total=False):
    status: Literal["queued", "running", "waiting_for_input", "paused", "completed", "failed",
        "cancelled"]
    # the engine's checkpoint: phase, pending_input …
    state: Dict[str, Any]
    metadata: Dict[str, Any]
    final_output: Any
    error: Optional[Dict[str, Any]]
    model: Optional[str]
    provider: Optional[str]
    # why the model stopped: end_turn, max_tokens …
    stop_reason: Optional[str]
    # what the run answered, for people
    content: Optional[str]
    content_type: Optional[str]
    citations: Any
    # what the engine measured
    metrics: Optional[Dict[str, Any]]


class RunInput(TypedDict):
    # any JSON value: the answer to the question
    input: Any


class RunHeartbeat(TypedDict, total=False):
    # 30000 unless told
    lease_ms: int


class StepAppend(TypedDict, total=False):
    # many steps instead of one; all are appended or none
    steps: List[StepInput]
    # of a line of a log; not kept, the step gets its own
    log_id: Optional[int]
    # of a line of a log; must be this run
    run_id: Optional[str]
    # of a line of a log; must be the run's thread or agent
    agent_uuid: Optional[str]
    # run_started, tool_execution …, or an application's own with a dot
    action_type: str
    # when it happened; now unless told
    timestamp: Optional[str]
    # 0 before the loop, then the iteration
    step_number: Optional[int]
    action_data: Dict[str, Any]
    # the messages at this point; kept for what is new in them
    messages_snapshot: Optional[List[Dict[str, Any]]]
    # how many messages_snapshot has, unless told
    messages_count: Optional[int]
    estimated_tokens: Optional[int]
    duration_ms: Optional[int]
    # the turn of this run that it belongs to
    turn_id: Optional[str]
    # of tool_execution and tool_error also in action_data
    tool_name: Optional[str]
    tool_use_id: Optional[str]
    # of types that have one, what the type and action_data say unless told
    outcome: Optional[Literal["success", "error", "None"]]
    # that was called; of steps of a call also in action_data
    model: Optional[str]
    provider: Optional[str]
    # the tokens of the call, which count for the run; also in action_data
    usage: Optional[StepUsage]


class StepInput(TypedDict, total=False):
    # of a line of a log; not kept, the step gets its own
    log_id: Optional[int]
    # of a line of a log; must be this run
    run_id: Optional[str]
    # of a line of a log; must be the run's thread or agent
    agent_uuid: Optional[str]
    # run_started, tool_execution …, or an application's own with a dot
    action_type: str
    # when it happened; now unless told
    timestamp: Optional[str]
    # 0 before the loop, then the iteration
    step_number: Optional[int]
    action_data: Dict[str, Any]
    # the messages at this point; kept for what is new in them
    messages_snapshot: Optional[List[Dict[str, Any]]]
    # how many messages_snapshot has, unless told
    messages_count: Optional[int]
    estimated_tokens: Optional[int]
    duration_ms: Optional[int]
    # the turn of this run that it belongs to
    turn_id: Optional[str]
    # of tool_execution and tool_error also in action_data
    tool_name: Optional[str]
    tool_use_id: Optional[str]
    # of types that have one, what the type and action_data say unless told
    outcome: Optional[Literal["success", "error", "None"]]
    # that was called; of steps of a call also in action_data
    model: Optional[str]
    provider: Optional[str]
    # the tokens of the call, which count for the run; also in action_data
    usage: Optional[StepUsage]


class StepUsage(TypedDict, total=False):
    input_tokens: Optional[int]
    output_tokens: Optional[int]
    cache_creation_input_tokens: Optional[int]
    cache_read_input_tokens: Optional[int]


class _StepRefRequired(TypedDict):
    number: int
    log_id: int


class StepRef(_StepRefRequired, total=False):
    # of the call of a model that has a price
    cost_usd: Optional[float]
    price_version: Optional[int]


class StepsAppended(TypedDict):
    count: int
    # the number of the first
    first: int
    last: int
    steps: List[StepRef]


class _StepRequired(TypedDict):
    # run_started, tool_execution …, or an application's own with a dot
    action_type: str
    # when it happened; now unless told
    timestamp: Optional[str]
    # 0 before the loop, then the iteration
    step_number: Optional[int]
    action_data: Dict[str, Any]
    # how many messages_snapshot has, unless told
    messages_count: Optional[int]
    estimated_tokens: Optional[int]
    duration_ms: Optional[int]
    # the turn of this run that it belongs to
    turn_id: Optional[str]
    # of tool_execution and tool_error also in action_data
    tool_name: Optional[str]
    tool_use_id: Optional[str]
    # of types that have one, what the type and action_data say unless told
    outcome: Optional[Literal["success", "error", "None"]]
    # that was called; of steps of a call also in action_data
    model: Optional[str]
    provider: Optional[str]
    # rises, with gaps, and is never given twice
    log_id: int
    run_id: str
    # 1, 2, 3 within the run, without gaps
    number: int
    thread_id: str
    agent_id: Optional[str]
    # of the call; null when the model has no price
    cost_usd: Optional[float]
    price_version: Optional[int]
    created_at: str


class Step(_StepRequired, total=False):
    # the messages at this point; kept for what is new in them
    messages_snapshot: Optional[List[Dict[str, Any]]]
    # the tokens of the call, which count for the run; also in action_data
    usage: Optional[StepUsage]


class _LlmCallRequired(TypedDict):
    # the log_id of the step that ended it
    id: int
    # of that step in the run
    number: int
    turn_id: Optional[str]
    step_number: Optional[int]
    status: Optional[Literal["success", "error", "None"]]
    latency_ms: Optional[int]
    # when it ended
    created_at: str
    model: Optional[str]
    provider: Optional[str]
    # the action_data of the step
    response: Dict[str, Any]
    stop_reason: Optional[str]
    tokens_in: Optional[int]
    tokens_out: Optional[int]
    cache_creation_input_tokens: Optional[int]
    cache_read_input_tokens: Optional[int]
    cost_usd: Optional[float]
    price_version: Optional[int]


class LlmCall(_LlmCallRequired, total=False):
    # what was sent, when it was logged and is asked for
    messages: Optional[List[Dict[str, Any]]]


class ToolCall(TypedDict):
    # the log_id of the step that ended it
    id: int
    # of that step in the run
    number: int
    turn_id: Optional[str]
    step_number: Optional[int]
    status: Optional[Literal["success", "error", "None"]]
    latency_ms: Optional[int]
    # when it ended
    created_at: str
    tool_name: Optional[str]
    tool_use_id: Optional[str]
    input: Any
    # result, output or error of the step's action_data, the first of them
    output: Any


class StepSummary(TypedDict):
    # of all types, also those that are not listed
    count: int
    errors: int
    duration_ms: int
    # by their names, the first 1000
    types: List[StepTypeSummary]
    # whether there are more than those
    more_types: bool


class StepTypeSummary(TypedDict):
    action_type: str
    count: int
    errors: int
    # of all of them together
    duration_ms: int
    first_at: str
    last_at: str


class EventAppend(TypedDict, total=False):
    # progress, status, warning, error, final, or an application kind with a dot
    kind: str
    # for people
    text: Optional[str]
    # for programs
    payload: Any
    # the run of this thread that it tells of
    run_id: Optional[str]
    # many events instead of one; all are appended or none
    events: List[EventInput]


class EventInput(TypedDict, total=False):
    # progress, status, warning, error, final, or an application kind with a dot
    kind: str
    # for people
    text: Optional[str]
    # for programs
    payload: Any
    # the run of this thread that it tells of
    run_id: Optional[str]


class Event(TypedDict):
    # the order and the cursor of the tenant-wide stream; rises, with gaps
    id: int
    thread_id: str
    # without gaps within the thread; the cursor of its stream
    seq: int
    run_id: Optional[str]
    kind: str
    text: Optional[str]
    payload: Any
    created_at: str


class EventsAppended(TypedDict):
    count: int
    first_seq: int
    last_seq: int


class EventPrune(TypedDict, total=False):
    # events up to this one
    through_seq: int
    # events before this time
    older_than: str
    # events before the first one of a run that still goes on
    finished: bool


class EventsPruned(TypedDict):
    # how many events went
    pruned: int


class _ParticipantJoinRequired(TypedDict):
    # user:NAME or agent:UUID; one participant each
    principal: str


class ParticipantJoin(_ParticipantJoinRequired, total=False):
    # user, and assistant for an agent, unless told
    role: Literal["user", "assistant"]
    # that of the principal unless told
    name: str
    # where a picture of it is
    image: Optional[str]
    # what it is doing, in its own words
    status: Optional[str]
    # read_write unless told
    permission: Literal["read", "read_write"]
    metadata: Dict[str, Any]


class _ParticipantRequired(TypedDict):
    id: str
    thread_id: str
    # user:NAME or agent:UUID; one participant each
    principal: str
    # user, and assistant for an agent, unless told
    role: Literal["user", "assistant"]
    # that of the principal unless told
    name: str
    # where a picture of it is
    image: Optional[str]
    # what it is doing, in its own words
    status: Optional[str]
    # read_write unless told
    permission: Literal["read", "read_write"]
    metadata: Dict[str, Any]
    # who has left is not, and has no access
    active: bool
    # somebody else took access away: no share gives it back, only somebody by name
    barred: bool
    # from one heartbeat until the time that it gave is over
    online: bool
    created_at: str
    updated_at: str
    # the ETag's number
    version: int


class Participant(_ParticipantRequired, total=False):
    # after a change that barred it: how many of the shares that it had made
    shares_revoked: int


class ParticipantPatch(TypedDict, total=False):
    # user, and assistant for an agent, unless told
    role: Literal["user", "assistant"]
    # that of the principal unless told
    name: str
    # where a picture of it is
    image: Optional[str]
    # what it is doing, in its own words
    status: Optional[str]
    # read_write unless told
    permission: Literal["read", "read_write"]
    metadata: Dict[str, Any]
    # who has left is not, and has no access
    active: bool


class ParticipantHeartbeat(TypedDict, total=False):
    # seconds that it counts as online, 60 unless told; 0: it is not any more
    ttl_s: int
    # what it is doing, in its own words
    status: str


class MessageCreate(TypedDict, total=False):
    # must be given, and may be empty; of a command: /name argument key=value
    content: str
    content_type: str
    # chat unless told
    type: Literal["chat", "command", "command-response", "log", "note", "notice"]
    # at most 100 KiB besides debug, which may have a mebibyte
    metadata: Dict[str, Any]
    # names of files of the thread
    filenames: List[str]
    # a participant; a key that acts for a principal sends as that one
    sender_id: Optional[str]
    # the run of this thread that it belongs to
    run_id: Optional[str]
    # a message of this thread; of a command-response: the command
    responds_to: Optional[str]
    # of a command: the participant that is to carry it out
    addressed_to: Optional[str]
    # many messages instead of one; all are created or none
    messages: List[MessageInput]


class MessageInput(TypedDict, total=False):
    # must be given, and may be empty; of a command: /name argument key=value
    content: str
    content_type: str
    # chat unless told
    type: Literal["chat", "command", "command-response", "log", "note", "notice"]
    # at most 100 KiB besides debug, which may have a mebibyte
    metadata: Dict[str, Any]
    # names of files of the thread
    filenames: List[str]
    # a participant; a key that acts for a principal sends as that one
    sender_id: Optional[str]
    # the run of this thread that it belongs to
    run_id: Optional[str]
    # a message of this thread; of a command-response: the command
    responds_to: Optional[str]
    # of a command: the participant that is to carry it out
    addressed_to: Optional[str]


class _MessageRequired(TypedDict):
    content: str
    # what the content is; text/plain unless told
    content_type: str
    # your own, and attribution, href, footer_items, tool_calls, tool_result; debug is kept apart,
    # and in an answer only when asked for
    metadata: Dict[str, Any]
    # names of files of the thread
    filenames: List[str]
    id: str
    thread_id: str
    # the order of the thread; that of its message.created event
    seq: int
    # a participant; null: the service that holds the key
    sender_id: Optional[str]
    # user, assistant or service
    sender_role: str
    type: Literal["chat", "command", "command-response", "log", "note", "notice"]
    run_id: Optional[str]
    responds_to: Optional[str]
    addressed_to: Optional[str]
    has_debug: bool
    # of a tombstone, which has no content
    deleted_at: Optional[str]
    created_at: str
    updated_at: str
    # the ETag's number
    version: int


class Message(_MessageRequired, total=False):
    # of a command: its name, arguments and options
    command: Dict[str, Any]
    # ids of the first 100 messages that answer it; not in lists
    responses: List[str]
    # of a search: what stands around the first word that was found
    snippet: str


class MessagesCreated(TypedDict):
    count: int
    first_seq: int
    last_seq: int
    ids: List[str]


class MessageBody(TypedDict, total=False):
    content: str
    # what the content is; text/plain unless told
    content_type: str
    # your own, and attribution, href, footer_items, tool_calls, tool_result; debug is kept apart,
    # and in an answer only when asked for
    metadata: Dict[str, Any]
    # names of files of the thread
    filenames: List[str]


class MessageDebug(TypedDict):
    message_id: str
    debug: Optional[Dict[str, Any]]


class MessageVersion(TypedDict):
    version: int
    content: str
    content_type: str
    metadata: Dict[str, Any]
    filenames: List[str]
    # when this version was written
    created_at: str


class _StorePutRequired(TypedDict):
    # labels of 1 to 128 bytes, none with a "." in it: ["users","42"]
    namespace: List[str]
    key: str
    # a JSON object of up to 1 MiB
    value: Dict[str, Any]


class StorePut(_StorePutRequired, total=False):
    # up to 16, by which it is found; without them it has none
    vectors: Optional[List[StoreVector]]
    # how many seconds it is there; for good unless told
    ttl_s: Optional[int]


class StoreVector(TypedDict):
    # what of the value it was made from, a name of your own
    path: str
    # 1 to 4096 numbers, kept with 32 bits each
    values: List[float]


class StoreItem(TypedDict):
    namespace: List[str]
    key: str
    value: Dict[str, Any]
    # the ETag's number; 1, 2, 3 for as long as the item is there
    version: int
    created_at: str
    updated_at: str
    # from then on it is gone
    expires_at: Optional[str]


class StoreSearch(TypedDict, total=False):
    # the first labels of their namespaces; everything unless told
    namespace_prefix: Optional[List[str]]
    # by member of the value: what it must be equal to, or $eq $ne $gt $gte $lt $lte $in $nin of it
    filter: Optional[Dict[str, Any]]
    # numbers: items whose vectors are most like it, by cosine
    vector: Optional[List[float]]
    # words: items that have some of them, the best first
    query: Optional[str]
    # 10 unless told
    limit: Optional[int]
    # how many to leave out at first; a cursor goes further
    offset: Optional[int]
    # next_cursor of the page before
    cursor: Optional[str]


class StoreFound(TypedDict):
    data: List[StoreFoundItem]
    # there is more to look at: go on with next_cursor
    has_more: bool
    next_cursor: Optional[str]


class StoreFoundItem(TypedDict):
    namespace: List[str]
    key: str
    value: Dict[str, Any]
    # the ETag's number; 1, 2, 3 for as long as the item is there
    version: int
    created_at: str
    updated_at: str
    # from then on it is gone
    expires_at: Optional[str]
    # how well it fits, 1 at most; null when nothing ranks
    score: Optional[float]


class StoreNamespaces(TypedDict, total=False):
    # their first labels; "*" is any label
    prefix: Optional[List[str]]
    # their last labels; "*" is any label
    suffix: Optional[List[str]]
    # longer ones are cut to so many labels, and told once
    max_depth: Optional[int]
    # 100 unless told
    limit: Optional[int]
    # how many to leave out at first; a cursor goes further
    offset: Optional[int]
    # next_cursor of the page before
    cursor: Optional[str]


class StoreFoundNamespaces(TypedDict):
    # namespaces, each a list of labels
    data: List[Any]
    # there is more to look at: go on with next_cursor
    has_more: bool
    next_cursor: Optional[str]


class StoreBatch(TypedDict):
    # carried out in this order; each takes the members of its own route
    operations: List[StoreOperation]


class _StoreOperationRequired(TypedDict):
    op: Literal["get", "put", "delete", "search", "namespaces"]


class StoreOperation(_StoreOperationRequired, total=False):
    # labels of 1 to 128 bytes, none with a "." in it: ["users","42"]
    namespace: List[str]
    key: str
    # a JSON object of up to 1 MiB
    value: Dict[str, Any]
    # up to 16, by which it is found; without them it has none
    vectors: Optional[List[StoreVector]]
    # how many seconds it is there; for good unless told
    ttl_s: Optional[int]
    # the first labels of their namespaces; everything unless told
    namespace_prefix: Optional[List[str]]
    # by member of the value: what it must be equal to, or $eq $ne $gt $gte $lt $lte $in $nin of it
    filter: Optional[Dict[str, Any]]
    # numbers: items whose vectors are most like it, by cosine
    vector: Optional[List[float]]
    # words: items that have some of them, the best first
    query: Optional[str]
    # their first labels; "*" is any label
    prefix: Optional[List[str]]
    # their last labels; "*" is any label
    suffix: Optional[List[str]]
    # longer ones are cut to so many labels, and told once
    max_depth: Optional[int]
    # of a search 10 unless told and 200 at most
    limit: Optional[int]
    # how many to leave out at first; a cursor goes further
    offset: Optional[int]
    # next_cursor of the page before
    cursor: Optional[str]


class StoreBatchAnswer(TypedDict):
    # of a get the item or null, of a put the item, of a delete null, of a search and of namespaces
    # a page
    results: List[Any]


class CheckpointPut(TypedDict, total=False):
    # any UUID; a new one of version 7 unless given
    id: str
    # "", the outermost graph, unless given
    namespace: str
    # the latest of the namespace unless given; null: none
    parent_id: Optional[str]
    # refuse with 409 when the latest is another one; null: when there is any
    expected_latest: Optional[str]
    run_id: Optional[str]
    # whole; or else changes
    channel_values: Dict[str, Any]
    # what differs from the values of the parent
    changes: CheckpointChanges
    # a number or a string for each channel
    channel_versions: Dict[str, Any]
    # for each node, the versions that it has seen
    versions_seen: Dict[str, Any]
    # [{channel, value}]: tool calls and messages that are queued
    pending_sends: List[Dict[str, Any]]
    # its scalar members can be filtered by
    metadata: Dict[str, Any]
    # where in the graph, for lists
    node: Optional[str]
    # write over a checkpoint of this id, instead of 409
    replace: bool


class CheckpointChanges(TypedDict, total=False):
    # channels and their new values
    set: Dict[str, Any]
    # channels that are lists, and what is added to each
    append: Dict[str, Any]
    # channels that go
    remove: List[str]
    # of the parent's channels: all, unless given, or those that have kept the version which
    # channel_versions names
    inherit: Literal["all", "versions"]


class _CheckpointRequired(TypedDict):
    id: str
    thread_id: str
    thread_key: Optional[str]
    # "" is the outermost graph
    namespace: str
    parent_id: Optional[str]
    run_id: Optional[str]
    # rises with what is put into the thread
    sequence_num: int
    node: Optional[str]
    metadata: Dict[str, Any]
    # of the values, as JSON
    size_bytes: int
    created_at: str


class Checkpoint(_CheckpointRequired, total=False):
    channel_versions: Dict[str, Any]
    versions_seen: Dict[str, Any]
    pending_sends: List[Dict[str, Any]]
    # with include=writes: what tasks have written towards the next checkpoint
    pending_writes: List[PendingWrite]
    # with include=values, and of one checkpoint: the values of its channels
    channel_values: Dict[str, Any]


class PendingWrite(TypedDict):
    task_id: str
    index: int
    task_path: str
    channel: str
    value: Any


class _CheckpointWritesPutRequired(TypedDict):
    task_id: str
    writes: List[CheckpointWrite]


class CheckpointWritesPut(_CheckpointWritesPutRequired, total=False):
    task_path: str
    # the checkpoint may be yet to come
    ahead: bool


class _CheckpointWriteRequired(TypedDict):
    channel: str
    value: Any


class CheckpointWrite(_CheckpointWriteRequired, total=False):
    # its place in the list unless given; a negative one is written over
    index: int


class CheckpointWritten(TypedDict):
    written: int
    # that were there already: the first to write one wins
    kept: int


class CheckpointWrites(TypedDict):
    checkpoint_id: str
    namespace: str
    # [{task_id, task_path, index, channel, value}], by task and index
    writes: List[PendingWrite]


class _CheckpointDeltasBodyRequired(TypedDict):
    # their names
    channels: List[str]


class CheckpointDeltasBody(_CheckpointDeltasBodyRequired, total=False):
    # unless given, the outermost one that has the checkpoint
    namespace: str


class CheckpointDeltas(TypedDict):
    checkpoint_id: str
    namespace: str
    # of each {writes: [{checkpoint_id, task_id, index, channel, value}], seed}, oldest first;
    # without a seed where no ancestor has a value
    channels: Dict[str, Any]
    # ancestors
    looked_at: int
    # for channels without a seed ask this one too: its writes are older
    next_checkpoint_id: Optional[str]


class CheckpointsPruned(TypedDict):
    pruned: int
    # there are others to go: ask again
    more: bool


class CheckpointPrune(TypedDict, total=False):
    # how many stay in each namespace; 1 unless given
    keep_latest: int
    # only what was put before this time
    older_than: str
    # the same as an age in seconds
    older_than_s: int
    # only this one
    namespace: str


class CheckpointCopy(TypedDict):
    to_thread_id: str


class CheckpointsCopied(TypedDict):
    copied: int
    # there are others to copy: ask again
    more: bool


class CheckpointDiff(TypedDict):
    from_id: str
    to_id: str
    # [{channel, change, from_version, to_version}]; added, removed or changed
    channels: List[Dict[str, Any]]
    # a JSON Patch (RFC 6902) that makes the values of one those of the other
    patch: List[Dict[str, Any]]


class Recovery(TypedDict):
    checkpoint_id: str
    namespace: str
    run_id: Optional[str]
    sequence_num: int
    node: Optional[str]
    # the values of the channels, as they were put
    recovered_state: Dict[str, Any]
    channel_versions: Dict[str, Any]
    versions_seen: Dict[str, Any]
    # what was queued, and may have to be carried out again
    pending_sends: List[Dict[str, Any]]
    # what tasks had done, and need not do again
    pending_writes: List[PendingWrite]
    metadata: Dict[str, Any]
    # [{checkpoint_id, reason}]: newer ones whose content is damaged
    skipped: List[Dict[str, Any]]
    # [{channel, detail}]: values without a version, and versions without a value
    warnings: List[Dict[str, Any]]


class _RunCheckpointRequired(TypedDict):
    id: str
    thread_id: str
    thread_key: Optional[str]
    # "" is the outermost graph
    namespace: str
    parent_id: Optional[str]
    run_id: Optional[str]
    # rises with what is put into the thread
    sequence_num: int
    node: Optional[str]
    metadata: Dict[str, Any]
    # of the values, as JSON
    size_bytes: int
    created_at: str


class RunCheckpoint(_RunCheckpointRequired, total=False):
    channel_versions: Dict[str, Any]
    versions_seen: Dict[str, Any]
    pending_sends: List[Dict[str, Any]]
    # with include=writes: what tasks have written towards the next checkpoint
    pending_writes: List[PendingWrite]
    # with include=values, and of one checkpoint: the values of its channels
    state: Dict[str, Any]


class _ReplayRequired(TypedDict):
    checkpoint_id: str


class Replay(_ReplayRequired, total=False):
    # unless given, the outermost one that has it
    namespace: str
    # channels and the values that they begin with instead
    modified_state: Optional[Dict[str, Any]]
    # instead of the thread's run_policy
    policy: Optional[Literal["reject", "enqueue", "interrupt", "rollback", "None"]]
    # queue (a worker claims it; the default) or direct (the caller works on it)
    dispatch: Literal["queue", "direct"]


class Replayed(TypedDict):
    new_run_id: str
    thread_id: str
    status: Literal["queued", "running", "waiting_for_input", "paused", "completed", "failed",
        "cancelled"]
    # the first of the new run, upon the one that it goes on from
    checkpoint_id: str


class _ShareCreateRequired(TypedDict):
    # participate: in this thread; copy: in a thread of one's own, made from it
    kind: Literal["participate", "copy"]


class ShareCreate(_ShareCreateRequired, total=False):
    # read unless told; of a copy read_write
    permission: Literal["read", "read_write"]
    # for people to read
    label: Optional[str]
    # how often it can be redeemed; any number of times when absent
    max_redemptions: Optional[int]
    # from then on it cannot be redeemed; access that it gave stays
    expires_at: Optional[str]


class ShareCreated(TypedDict):
    id: str
    thread_id: str
    # participate: in this thread; copy: in a thread of one's own, made from it
    kind: Literal["participate", "copy"]
    # read unless told; of a copy read_write
    permission: Literal["read", "read_write"]
    # for people to read
    label: Optional[str]
    # how often it can be redeemed; any number of times when absent
    max_redemptions: Optional[int]
    # from then on it cannot be redeemed; access that it gave stays
    expires_at: Optional[str]
    redemptions: int
    revoked_at: Optional[str]
    # the principal; null: a key of the whole tenant
    created_by: Optional[str]
    created_at: str
    updated_at: str
    # the ETag's number
    version: int
    # shown once; null in a replayed answer
    token: Optional[str]


class Share(TypedDict):
    id: str
    thread_id: str
    # participate: in this thread; copy: in a thread of one's own, made from it
    kind: Literal["participate", "copy"]
    # read unless told; of a copy read_write
    permission: Literal["read", "read_write"]
    # for people to read
    label: Optional[str]
    # how often it can be redeemed; any number of times when absent
    max_redemptions: Optional[int]
    # from then on it cannot be redeemed; access that it gave stays
    expires_at: Optional[str]
    redemptions: int
    revoked_at: Optional[str]
    # the principal; null: a key of the whole tenant
    created_by: Optional[str]
    created_at: str
    updated_at: str
    # the ETag's number
    version: int


class Redemption(TypedDict):
    id: str
    share_id: str
    principal: str
    participant_id: Optional[str]
    # that it had before, and has again when the share is revoked; null: none
    previous_permission: Optional[str]
    copied_thread_id: Optional[str]
    # whether revoking the share takes something back
    active: bool
    created_at: str


class _ShareRedeemRequired(TypedDict):
    token: str


class ShareRedeem(_ShareRedeemRequired, total=False):
    # of a new participant; that of the principal unless told
    name: str


class ShareRedeemed(TypedDict):
    share_id: str
    kind: Literal["participate", "copy"]
    # that one takes part in now; of a copy the new one
    thread_id: str
    participant_id: str
    permission: Literal["read", "read_write"]
    # false: one had all of it before, and it was not counted
    changed: bool


class File(TypedDict):
    id: str
    thread_id: str
    name: str
    # the current one; the number of the ETag of its bytes
    version: int
    size_bytes: int
    # of the bytes, in hexadecimal
    sha256: str
    content_type: str
    # the principal whose key brought this version; null for a key without one
    created_by: Optional[str]
    # an object of your own
    metadata: Dict[str, Any]
    created_at: str
    updated_at: str
    # counts every change; the number of the ETag of this document
    revision: int


class FilePatch(TypedDict, total=False):
    # an object of your own
    metadata: Dict[str, Any]


class FileVersion(TypedDict):
    version: int
    size_bytes: int
    sha256: str
    content_type: str
    created_by: Optional[str]
    created_at: str
    # the thread that it was copied from
    source_thread_id: Optional[str]
    source_name: Optional[str]
    source_version: Optional[int]
    # the version that it brought back
    restored_from: Optional[int]


_FileDiffOdd = TypedDict("_FileDiffOdd", {"from": int})


class FileDiff(_FileDiffOdd):
    name: str
    to: int
    # lines
    added: int
    # lines
    removed: int
    hunks: List[FileDiffHunk]


class FileDiffHunk(TypedDict):
    from_start: int
    from_lines: int
    to_start: int
    to_lines: int
    # each behind a blank, - or +; \ tells that the text ends without a newline
    lines: List[str]


class FileRestore(TypedDict):
    # the one to bring back
    version: int


class _FileCopyRequired(TypedDict):
    # where it goes
    thread_id: str


class FileCopy(_FileCopyRequired, total=False):
    # what it is called there; as here unless told
    name: Optional[str]
    # which one; the current one unless told
    version: Optional[int]
    # the versions before it too
    history: bool
    # when there is a file of that name: refuse, unless told to add_version
    if_exists: Literal["refuse", "add_version"]


class _UploadCreateRequired(TypedDict):
    # of the file that it becomes a version of
    name: str
    # of the whole
    size_bytes: int


class UploadCreate(_UploadCreateRequired, total=False):
    # guessed by the name unless told
    content_type: Optional[str]
    # what the file's version must be when it is completed; 0: no file is there
    expected_version: Optional[int]
    # of the whole, in hexadecimal: what came is compared with it
    sha256: Optional[str]


class Upload(TypedDict):
    id: str
    # of the file that it becomes a version of
    name: str
    # of the whole
    size_bytes: int
    # guessed by the name unless told
    content_type: Optional[str]
    # what the file's version must be when it is completed; 0: no file is there
    expected_version: Optional[int]
    # of the whole, in hexadecimal: what came is compared with it
    sha256: Optional[str]
    thread_id: str
    # how much has come: where to go on
    offset_bytes: int
    created_by: Optional[str]
    created_at: str
    updated_at: str
    # when it goes, unless more comes before
    expires_at: str


class _WorkflowStartRequired(TypedDict):
    user_input: str


class WorkflowStart(_WorkflowStartRequired, total=False):
    # the conversation to go on with; absent starts a new one
    workflow_id: Optional[str]
    ask_clarifications: bool
    # replaces the conversation's preferences
    preferences: Optional[Dict[str, Any]]


class Workflow(TypedDict):
    workflow_id: str
    # of the conversation
    status: str
    run_id: Optional[str]
    run_status: Optional[str]
    # as of before this call: a stream after it shows all that the call did
    cursor: int


class WorkflowInput(TypedDict):
    # the answer to the pending question
    input: Any


class _ProblemRequired(TypedDict):
    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    retryable: bool


class Problem(_ProblemRequired, total=False):
    errors: List[Dict[str, Any]]
    # how many more faults there are
    errors_untold: int
