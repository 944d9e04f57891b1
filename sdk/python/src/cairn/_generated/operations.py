# Written by tools/sdk from the server's OpenAPI document: make sdk. Do not edit.
"""Every operation of the API, and how it is sent."""
from .._operation import Operation

API_VERSION = "0.1.0"

HEALTH = Operation("health", "GET", "/healthz", "none", "json")
READY = Operation("ready", "GET", "/readyz", "none", "json")
METRICS = Operation("metrics", "GET", "/metrics", "none", "text")
OPENAPI = Operation("openapi", "GET", "/openapi.json", "none", "json")
WHOAMI = Operation(
    "whoami", "GET", "/v1/whoami", "none", "json", headers=frozenset(["Cairn-Principal"]),
)
TENANTS_CREATE = Operation(
    "tenants.create", "POST", "/v1/tenants", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
TENANTS_LIST = Operation(
    "tenants.list", "GET", "/v1/tenants", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
TENANTS_GET = Operation(
    "tenants.get", "GET", "/v1/tenants/{tenant_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
TENANTS_UPDATE = Operation(
    "tenants.update", "PATCH", "/v1/tenants/{tenant_id}", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
TENANTS_DELETE = Operation(
    "tenants.delete", "DELETE", "/v1/tenants/{tenant_id}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
TENANTS_KEYS_CREATE = Operation(
    "tenants.keys.create", "POST", "/v1/tenants/{tenant_id}/keys", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
KEYS_CREATE = Operation(
    "keys.create", "POST", "/v1/keys", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
KEYS_LIST = Operation(
    "keys.list", "GET", "/v1/keys", "none", "page", headers=frozenset(["Cairn-Principal"]),
    cursors=("cursor",),
)
KEYS_GET = Operation(
    "keys.get", "GET", "/v1/keys/{key_id}", "none", "json", headers=frozenset(["Cairn-Principal"]),
)
KEYS_REVOKE = Operation(
    "keys.revoke", "DELETE", "/v1/keys/{key_id}", "none", "json",
    headers=frozenset(["Cairn-Principal"]),
)
AUDIT_LIST = Operation(
    "audit.list", "GET", "/v1/audit", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
AUDIT_VERIFY = Operation(
    "audit.verify", "GET", "/v1/audit/verify", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_CREATE = Operation(
    "agents.create", "POST", "/v1/agents", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
AGENTS_LIST = Operation(
    "agents.list", "GET", "/v1/agents", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
AGENTS_GET = Operation(
    "agents.get", "GET", "/v1/agents/{agent_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_UPDATE = Operation(
    "agents.update", "PATCH", "/v1/agents/{agent_id}", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
AGENTS_DELETE = Operation(
    "agents.delete", "DELETE", "/v1/agents/{agent_id}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
AGENTS_VERSIONS_CREATE = Operation(
    "agents.versions.create", "POST", "/v1/agents/{agent_id}/versions", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
AGENTS_VERSIONS_LIST = Operation(
    "agents.versions.list", "GET", "/v1/agents/{agent_id}/versions", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
AGENTS_VERSIONS_GET = Operation(
    "agents.versions.get", "GET", "/v1/agents/{agent_id}/versions/{semver}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_VERSIONS_UPDATE = Operation(
    "agents.versions.update", "PATCH", "/v1/agents/{agent_id}/versions/{semver}", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
AGENTS_VERSIONS_ACTIVATE = Operation(
    "agents.versions.activate", "POST", "/v1/agents/{agent_id}/versions/{semver}/activate", "none",
    "json", headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
AGENTS_VERSIONS_DIFF = Operation(
    "agents.versions.diff", "GET", "/v1/agents/{agent_id}/versions/{semver}/diff/{other}", "none",
    "json", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_ROLLBACK = Operation(
    "agents.rollback", "POST", "/v1/agents/{agent_id}/rollback", "none", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
AGENTS_LINKS_LIST = Operation(
    "agents.links.list", "GET", "/v1/agents/{agent_id}/links", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
AGENTS_LINKS_GET = Operation(
    "agents.links.get", "GET", "/v1/agents/{agent_id}/links/{child_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_LINKS_PUT = Operation(
    "agents.links.put", "PUT", "/v1/agents/{agent_id}/links/{child_id}", "json", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
AGENTS_LINKS_DELETE = Operation(
    "agents.links.delete", "DELETE", "/v1/agents/{agent_id}/links/{child_id}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
AGENTS_TREE = Operation(
    "agents.tree", "GET", "/v1/agents/{agent_id}/tree", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_CONFIG_GET = Operation(
    "agents.config.get", "GET", "/v1/agents/{agent_id}/config", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_CONFIG_PUT = Operation(
    "agents.config.put", "PUT", "/v1/agents/{agent_id}/config", "json", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal"]),
)
AGENTS_CONFIG_UPDATE = Operation(
    "agents.config.update", "PATCH", "/v1/agents/{agent_id}/config", "patch", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal"]),
)
AGENTS_CONFIG_VERSIONS_LIST = Operation(
    "agents.config.versions.list", "GET", "/v1/agents/{agent_id}/config/versions", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
AGENTS_CONFIG_VERSIONS_GET = Operation(
    "agents.config.versions.get", "GET", "/v1/agents/{agent_id}/config/versions/{version}", "none",
    "json", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_STORAGE_LIST = Operation(
    "agents.storage.list", "GET", "/v1/agents/{agent_id}/storage", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
AGENTS_STORAGE_GET = Operation(
    "agents.storage.get", "GET", "/v1/agents/{agent_id}/storage/{key}", "none", "bytes",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_STORAGE_PUT = Operation(
    "agents.storage.put", "PUT", "/v1/agents/{agent_id}/storage/{key}", "bytes", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal"]),
)
AGENTS_STORAGE_DELETE = Operation(
    "agents.storage.delete", "DELETE", "/v1/agents/{agent_id}/storage/{key}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_BY_KEY_ENSURE = Operation(
    "threads.by_key.ensure", "PUT", "/v1/threads/by-key/{key}", "json", "json",
    headers=frozenset(["Cairn-Principal"]),
)
THREADS_BY_KEY_GET = Operation(
    "threads.by_key.get", "GET", "/v1/threads/by-key/{key}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_STATES_LIST = Operation(
    "agents.states.list", "GET", "/v1/agents/{agent_id}/states", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
AGENTS_STATES_GET = Operation(
    "agents.states.get", "GET", "/v1/agents/{agent_id}/states/{name}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
AGENTS_STATES_PUT = Operation(
    "agents.states.put", "PUT", "/v1/agents/{agent_id}/states/{name}", "json", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal"]),
)
AGENTS_STATES_UPDATE = Operation(
    "agents.states.update", "PATCH", "/v1/agents/{agent_id}/states/{name}", "patch", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal"]),
)
AGENTS_STATES_DELETE = Operation(
    "agents.states.delete", "DELETE", "/v1/agents/{agent_id}/states/{name}", "none", "none",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal"]),
)
AGENTS_STATES_FOCUS = Operation(
    "agents.states.focus", "POST", "/v1/agents/{agent_id}/states/{name}/focus", "none", "none",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
AGENTS_STATES_VERSIONS_LIST = Operation(
    "agents.states.versions.list", "GET", "/v1/agents/{agent_id}/states/{name}/versions", "none",
    "page", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
AGENTS_STATES_VERSIONS_GET = Operation(
    "agents.states.versions.get", "GET", "/v1/agents/{agent_id}/states/{name}/versions/{version}",
    "none", "json", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_STATES_LIST = Operation(
    "threads.states.list", "GET", "/v1/threads/{thread_id}/states", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_STATES_GET = Operation(
    "threads.states.get", "GET", "/v1/threads/{thread_id}/states/{name}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_STATES_PUT = Operation(
    "threads.states.put", "PUT", "/v1/threads/{thread_id}/states/{name}", "json", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_STATES_UPDATE = Operation(
    "threads.states.update", "PATCH", "/v1/threads/{thread_id}/states/{name}", "patch", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_STATES_DELETE = Operation(
    "threads.states.delete", "DELETE", "/v1/threads/{thread_id}/states/{name}", "none", "none",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_STATES_FOCUS = Operation(
    "threads.states.focus", "POST", "/v1/threads/{thread_id}/states/{name}/focus", "none", "none",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_STATES_VERSIONS_LIST = Operation(
    "threads.states.versions.list", "GET", "/v1/threads/{thread_id}/states/{name}/versions", "none",
    "page", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_STATES_VERSIONS_GET = Operation(
    "threads.states.versions.get", "GET",
    "/v1/threads/{thread_id}/states/{name}/versions/{version}", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_AGENTS_STATES_LIST = Operation(
    "threads.agents.states.list", "GET", "/v1/threads/{thread_id}/agents/{agent_id}/states", "none",
    "page", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_AGENTS_STATES_GET = Operation(
    "threads.agents.states.get", "GET", "/v1/threads/{thread_id}/agents/{agent_id}/states/{name}",
    "none", "json", headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_AGENTS_STATES_PUT = Operation(
    "threads.agents.states.put", "PUT", "/v1/threads/{thread_id}/agents/{agent_id}/states/{name}",
    "json", "json", headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal",
    "Cairn-Fencing-Token"]),
)
THREADS_AGENTS_STATES_UPDATE = Operation(
    "threads.agents.states.update", "PATCH",
    "/v1/threads/{thread_id}/agents/{agent_id}/states/{name}", "patch", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_AGENTS_STATES_DELETE = Operation(
    "threads.agents.states.delete", "DELETE",
    "/v1/threads/{thread_id}/agents/{agent_id}/states/{name}", "none", "none",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_AGENTS_STATES_FOCUS = Operation(
    "threads.agents.states.focus", "POST",
    "/v1/threads/{thread_id}/agents/{agent_id}/states/{name}/focus", "none", "none",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_AGENTS_STATES_VERSIONS_LIST = Operation(
    "threads.agents.states.versions.list", "GET",
    "/v1/threads/{thread_id}/agents/{agent_id}/states/{name}/versions", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_AGENTS_STATES_VERSIONS_GET = Operation(
    "threads.agents.states.versions.get", "GET",
    "/v1/threads/{thread_id}/agents/{agent_id}/states/{name}/versions/{version}", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_CREATE = Operation(
    "threads.create", "POST", "/v1/threads", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_LIST = Operation(
    "threads.list", "GET", "/v1/threads", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_GET = Operation(
    "threads.get", "GET", "/v1/threads/{thread_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_UPDATE = Operation(
    "threads.update", "PATCH", "/v1/threads/{thread_id}", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_DELETE = Operation(
    "threads.delete", "DELETE", "/v1/threads/{thread_id}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_PAUSE = Operation(
    "threads.pause", "POST", "/v1/threads/{thread_id}/pause", "none", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
THREADS_RESUME = Operation(
    "threads.resume", "POST", "/v1/threads/{thread_id}/resume", "none", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
THREADS_CANCEL = Operation(
    "threads.cancel", "POST", "/v1/threads/{thread_id}/cancel", "json", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
THREADS_EXPORT = Operation(
    "threads.export", "GET", "/v1/threads/{thread_id}/export", "none", "bytes",
    headers=frozenset(["Cairn-Principal"]), ranges=True,
)
AGENTS_EXPORT = Operation(
    "agents.export", "GET", "/v1/agents/{agent_id}/export", "none", "bytes",
    headers=frozenset(["Cairn-Principal"]), ranges=True,
)
ARCHIVES_EXPORT = Operation(
    "archives.export", "GET", "/v1/export", "none", "bytes", headers=frozenset(["Cairn-Principal"]),
    ranges=True,
)
ARCHIVES_IMPORT_ARCHIVE = Operation(
    "archives.import_archive", "POST", "/v1/imports", "bytes", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
RUNS_TOOLS_ASK = Operation(
    "runs.tools.ask", "POST", "/v1/runs/{run_id}/tools", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_TOOLS_LIST = Operation(
    "runs.tools.list", "GET", "/v1/runs/{run_id}/tools", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_TOOLS_ANSWER = Operation(
    "runs.tools.answer", "POST", "/v1/runs/{run_id}/tool-results", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_RESUMPTION_GET = Operation(
    "threads.resumption.get", "GET", "/v1/threads/{thread_id}/resumption", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal"]),
)
THREADS_RESUMPTION_PUT = Operation(
    "threads.resumption.put", "PUT", "/v1/threads/{thread_id}/resumption", "json", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_RESUMPTION_UPDATE = Operation(
    "threads.resumption.update", "PATCH", "/v1/threads/{thread_id}/resumption", "patch", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_RESUMPTION_APPEND = Operation(
    "threads.resumption.append", "POST", "/v1/threads/{thread_id}/resumption/messages", "json",
    "json", headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal",
    "Cairn-Fencing-Token"]),
)
THREADS_HISTORY_LIST = Operation(
    "threads.history.list", "GET", "/v1/threads/{thread_id}/history", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_HISTORY_GET = Operation(
    "threads.history.get", "GET", "/v1/threads/{thread_id}/history/{sequence}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_HISTORY_UPDATE = Operation(
    "threads.history.update", "PATCH", "/v1/threads/{thread_id}/history/{sequence}", "patch",
    "json", headers=frozenset(["If-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_CONTEXT = Operation(
    "threads.context", "GET", "/v1/threads/{thread_id}/context", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_RUNS_CREATE = Operation(
    "threads.runs.create", "POST", "/v1/threads/{thread_id}/runs", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_RUNS_LIST = Operation(
    "threads.runs.list", "GET", "/v1/threads/{thread_id}/runs", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_LIST = Operation(
    "runs.list", "GET", "/v1/runs", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_CLAIM = Operation(
    "runs.claim", "POST", "/v1/runs/claim", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
AGENTS_RUNS_CREATE = Operation(
    "agents.runs.create", "POST", "/v1/agents/{agent_id}/runs", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
AGENTS_RUNS_LIST = Operation(
    "agents.runs.list", "GET", "/v1/agents/{agent_id}/runs", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_GET = Operation(
    "runs.get", "GET", "/v1/runs/{run_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
RUNS_UPDATE = Operation(
    "runs.update", "PATCH", "/v1/runs/{run_id}", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_TREE = Operation(
    "runs.tree", "GET", "/v1/runs/{run_id}/tree", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
RUNS_SET_PHASE = Operation(
    "runs.set_phase", "POST", "/v1/runs/{run_id}/phase", "json", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_PHASES_LIST = Operation(
    "runs.phases.list", "GET", "/v1/runs/{run_id}/phases", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_TURNS_CREATE = Operation(
    "runs.turns.create", "POST", "/v1/runs/{run_id}/turns", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_TURNS_LIST = Operation(
    "runs.turns.list", "GET", "/v1/runs/{run_id}/turns", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_TURNS_GET = Operation(
    "runs.turns.get", "GET", "/v1/runs/{run_id}/turns/{turn_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
RUNS_TURNS_UPDATE = Operation(
    "runs.turns.update", "PATCH", "/v1/runs/{run_id}/turns/{turn_id}", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_USAGE_ADD = Operation(
    "runs.usage.add", "POST", "/v1/runs/{run_id}/usage", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_USAGE_GET = Operation(
    "runs.usage.get", "GET", "/v1/runs/{run_id}/usage", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
PRICES_LIST = Operation(
    "prices.list", "GET", "/v1/prices", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
PRICES_GET = Operation(
    "prices.get", "GET", "/v1/prices/{model}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
PRICES_PUT = Operation(
    "prices.put", "PUT", "/v1/prices/{model}", "json", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
PRICES_DELETE = Operation(
    "prices.delete", "DELETE", "/v1/prices/{model}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
PRICES_VERSIONS_LIST = Operation(
    "prices.versions.list", "GET", "/v1/prices/{model}/versions", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
PRICES_COST = Operation(
    "prices.cost", "POST", "/v1/costs", "json", "json", headers=frozenset(["Cairn-Principal"]),
)
USAGE_GET = Operation(
    "usage.get", "GET", "/v1/usage", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
USAGE_AVERAGES = Operation(
    "usage.averages", "GET", "/v1/usage/averages", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
EVALS_CREATE = Operation(
    "evals.create", "POST", "/v1/evals", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
EVALS_LIST = Operation(
    "evals.list", "GET", "/v1/evals", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
EVALS_GET = Operation(
    "evals.get", "GET", "/v1/evals/{eval_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
EVALS_UPDATE = Operation(
    "evals.update", "PATCH", "/v1/evals/{eval_id}", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
EVALS_DELETE = Operation(
    "evals.delete", "DELETE", "/v1/evals/{eval_id}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
NOTEBOOKS_CREATE = Operation(
    "notebooks.create", "POST", "/v1/notebooks", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
NOTEBOOKS_LIST = Operation(
    "notebooks.list", "GET", "/v1/notebooks", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
NOTEBOOKS_GET = Operation(
    "notebooks.get", "GET", "/v1/notebooks/{notebook_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
NOTEBOOKS_UPDATE = Operation(
    "notebooks.update", "PATCH", "/v1/notebooks/{notebook_id}", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
NOTEBOOKS_DELETE = Operation(
    "notebooks.delete", "DELETE", "/v1/notebooks/{notebook_id}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
NOTEBOOKS_SESSIONS_ADD = Operation(
    "notebooks.sessions.add", "POST", "/v1/notebooks/{notebook_id}/sessions", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
NOTEBOOKS_SESSIONS_LIST = Operation(
    "notebooks.sessions.list", "GET", "/v1/notebooks/{notebook_id}/sessions", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
NOTEBOOKS_SESSIONS_REMOVE = Operation(
    "notebooks.sessions.remove", "DELETE", "/v1/notebooks/{notebook_id}/sessions/{thread_id}",
    "none", "none", headers=frozenset(["Cairn-Principal"]),
)
THREADS_NOTEBOOK = Operation(
    "threads.notebook", "GET", "/v1/threads/{thread_id}/notebook", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
RUNS_INPUT = Operation(
    "runs.input", "POST", "/v1/runs/{run_id}/input", "json", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
RUNS_PAUSE = Operation(
    "runs.pause", "POST", "/v1/runs/{run_id}/pause", "none", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
RUNS_RESUME = Operation(
    "runs.resume", "POST", "/v1/runs/{run_id}/resume", "none", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
RUNS_CANCEL = Operation(
    "runs.cancel", "POST", "/v1/runs/{run_id}/cancel", "json", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
RUNS_HEARTBEAT = Operation(
    "runs.heartbeat", "POST", "/v1/runs/{run_id}/heartbeat", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_RELEASE = Operation(
    "runs.release", "POST", "/v1/runs/{run_id}/release", "none", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_STEPS_APPEND = Operation(
    "runs.steps.append", "POST", "/v1/runs/{run_id}/steps", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
RUNS_STEPS_LIST = Operation(
    "runs.steps.list", "GET", "/v1/runs/{run_id}/steps", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_STEPS_GET = Operation(
    "runs.steps.get", "GET", "/v1/runs/{run_id}/steps/{number}", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
RUNS_LLM_CALLS_LIST = Operation(
    "runs.llm_calls.list", "GET", "/v1/runs/{run_id}/llm-calls", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_TOOL_CALLS_LIST = Operation(
    "runs.tool_calls.list", "GET", "/v1/runs/{run_id}/tool-calls", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
STEPS_LIST = Operation(
    "steps.list", "GET", "/v1/steps", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
STEPS_SUMMARY = Operation(
    "steps.summary", "GET", "/v1/steps/summary", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_EVENTS_APPEND = Operation(
    "threads.events.append", "POST", "/v1/threads/{thread_id}/events", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_EVENTS_LIST = Operation(
    "threads.events.list", "GET", "/v1/threads/{thread_id}/events", "none", "page",
    headers=frozenset(["Cairn-Principal"]), cursors=("after",),
)
THREADS_EVENTS_SSE = Operation(
    "threads.events.sse", "GET", "/v1/threads/{thread_id}/events/stream", "none", "sse",
    headers=frozenset(["Cairn-Principal"]),
)
THREADS_EVENTS_WEBSOCKET = Operation(
    "threads.events.websocket", "GET", "/v1/threads/{thread_id}/events/ws", "none", "websocket",
    headers=frozenset(["Cairn-Principal"]),
)
THREADS_EVENTS_PRUNE = Operation(
    "threads.events.prune", "POST", "/v1/threads/{thread_id}/events/prune", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
EVENTS_LIST = Operation(
    "events.list", "GET", "/v1/events", "none", "page", headers=frozenset(["Cairn-Principal"]),
    cursors=("after",),
)
EVENTS_SSE = Operation(
    "events.sse", "GET", "/v1/events/stream", "none", "sse", headers=frozenset(["Cairn-Principal"]),
)
EVENTS_WEBSOCKET = Operation(
    "events.websocket", "GET", "/v1/events/ws", "none", "websocket",
    headers=frozenset(["Cairn-Principal"]),
)
THREADS_PARTICIPANTS_ADD = Operation(
    "threads.participants.add", "POST", "/v1/threads/{thread_id}/participants", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_PARTICIPANTS_LIST = Operation(
    "threads.participants.list", "GET", "/v1/threads/{thread_id}/participants", "none", "page",
    headers=frozenset(["Cairn-Principal"]), cursors=("cursor",),
)
THREADS_PARTICIPANTS_ME_GET = Operation(
    "threads.participants.me.get", "GET", "/v1/threads/{thread_id}/participants/me", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal"]),
)
THREADS_PARTICIPANTS_ME_UPDATE = Operation(
    "threads.participants.me.update", "PATCH", "/v1/threads/{thread_id}/participants/me", "patch",
    "json", headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_PARTICIPANTS_ME_LEAVE = Operation(
    "threads.participants.me.leave", "DELETE", "/v1/threads/{thread_id}/participants/me", "none",
    "json", headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_PARTICIPANTS_ME_HEARTBEAT = Operation(
    "threads.participants.me.heartbeat", "POST",
    "/v1/threads/{thread_id}/participants/me/heartbeat", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_PARTICIPANTS_GET = Operation(
    "threads.participants.get", "GET", "/v1/threads/{thread_id}/participants/{participant_id}",
    "none", "json", headers=frozenset(["If-None-Match", "Cairn-Principal"]),
)
THREADS_PARTICIPANTS_UPDATE = Operation(
    "threads.participants.update", "PATCH", "/v1/threads/{thread_id}/participants/{participant_id}",
    "patch", "json", headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_PARTICIPANTS_REMOVE = Operation(
    "threads.participants.remove", "DELETE",
    "/v1/threads/{thread_id}/participants/{participant_id}", "none", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_PARTICIPANTS_HEARTBEAT = Operation(
    "threads.participants.heartbeat", "POST",
    "/v1/threads/{thread_id}/participants/{participant_id}/heartbeat", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_MESSAGES_CREATE = Operation(
    "threads.messages.create", "POST", "/v1/threads/{thread_id}/messages", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_MESSAGES_LIST = Operation(
    "threads.messages.list", "GET", "/v1/threads/{thread_id}/messages", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("after", "before",),
)
MESSAGES_SEARCH = Operation(
    "messages.search", "GET", "/v1/messages/search", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_MESSAGES_SEARCH = Operation(
    "threads.messages.search", "GET", "/v1/threads/{thread_id}/messages/search", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_MESSAGES_GET = Operation(
    "threads.messages.get", "GET", "/v1/threads/{thread_id}/messages/{message_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_MESSAGES_UPDATE = Operation(
    "threads.messages.update", "PATCH", "/v1/threads/{thread_id}/messages/{message_id}", "patch",
    "json", headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_MESSAGES_DELETE = Operation(
    "threads.messages.delete", "DELETE", "/v1/threads/{thread_id}/messages/{message_id}", "none",
    "none", headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_MESSAGES_DEBUG = Operation(
    "threads.messages.debug", "GET", "/v1/threads/{thread_id}/messages/{message_id}/debug", "none",
    "json", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_MESSAGES_VERSIONS_LIST = Operation(
    "threads.messages.versions.list", "GET",
    "/v1/threads/{thread_id}/messages/{message_id}/versions", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
STORE_PUT = Operation(
    "store.put", "PUT", "/v1/store/items", "json", "json",
    headers=frozenset(["If-Match", "If-None-Match", "Cairn-Principal"]),
)
STORE_GET = Operation(
    "store.get", "GET", "/v1/store/items", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]),
)
STORE_DELETE = Operation(
    "store.delete", "DELETE", "/v1/store/items", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
STORE_SEARCH = Operation(
    "store.search", "POST", "/v1/store/search", "json", "page",
    headers=frozenset(["Cairn-Principal"]), cursors=("cursor",),
)
STORE_NAMESPACES = Operation(
    "store.namespaces", "POST", "/v1/store/namespaces", "json", "page",
    headers=frozenset(["Cairn-Principal"]), cursors=("cursor",),
)
STORE_BATCH = Operation(
    "store.batch", "POST", "/v1/store/batch", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_CHECKPOINTS_PUT = Operation(
    "threads.checkpoints.put", "POST", "/v1/threads/{thread_id}/checkpoints", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_CHECKPOINTS_LIST = Operation(
    "threads.checkpoints.list", "GET", "/v1/threads/{thread_id}/checkpoints", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_CHECKPOINTS_DELETE_ALL = Operation(
    "threads.checkpoints.delete_all", "DELETE", "/v1/threads/{thread_id}/checkpoints", "none",
    "json", headers=frozenset(["Cairn-Principal"]),
)
THREADS_CHECKPOINTS_LATEST = Operation(
    "threads.checkpoints.latest", "GET", "/v1/threads/{thread_id}/checkpoints/latest", "none",
    "json", headers=frozenset(["Cairn-Principal"]),
)
THREADS_CHECKPOINTS_GET = Operation(
    "threads.checkpoints.get", "GET", "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}", "none",
    "json", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_CHECKPOINTS_WRITES_PUT = Operation(
    "threads.checkpoints.writes.put", "PUT",
    "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/writes", "json", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Fencing-Token"]),
)
THREADS_CHECKPOINTS_WRITES_GET = Operation(
    "threads.checkpoints.writes.get", "GET",
    "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/writes", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
CHECKPOINTS_LIST = Operation(
    "checkpoints.list", "GET", "/v1/checkpoints", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_CHECKPOINTS_DELTAS = Operation(
    "threads.checkpoints.deltas", "POST",
    "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/deltas", "json", "json",
    headers=frozenset(["Cairn-Principal"]),
)
THREADS_CHECKPOINTS_PRUNE = Operation(
    "threads.checkpoints.prune", "POST", "/v1/threads/{thread_id}/checkpoints/prune", "json",
    "json", headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_CHECKPOINTS_COPY = Operation(
    "threads.checkpoints.copy", "POST", "/v1/threads/{thread_id}/checkpoints/copy", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_CHECKPOINTS_DIFF = Operation(
    "threads.checkpoints.diff", "GET",
    "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/diff/{other_id}", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
THREADS_RECOVERY = Operation(
    "threads.recovery", "GET", "/v1/threads/{thread_id}/recovery", "none", "json",
    headers=frozenset(["Cairn-Principal"]),
)
RUNS_CHECKPOINTS_LIST = Operation(
    "runs.checkpoints.list", "GET", "/v1/runs/{run_id}/checkpoints", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
RUNS_CHECKPOINTS_GET = Operation(
    "runs.checkpoints.get", "GET", "/v1/runs/{run_id}/checkpoints/{checkpoint_id}", "none", "json",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]),
)
RUNS_RECOVERY = Operation(
    "runs.recovery", "GET", "/v1/runs/{run_id}/recovery", "none", "json",
    headers=frozenset(["Cairn-Principal"]),
)
RUNS_REPLAY = Operation(
    "runs.replay", "POST", "/v1/runs/{run_id}/replay", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_SHARES_CREATE = Operation(
    "threads.shares.create", "POST", "/v1/threads/{thread_id}/shares", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_SHARES_LIST = Operation(
    "threads.shares.list", "GET", "/v1/threads/{thread_id}/shares", "none", "page",
    headers=frozenset(["Cairn-Principal"]), cursors=("cursor",),
)
THREADS_SHARES_GET = Operation(
    "threads.shares.get", "GET", "/v1/threads/{thread_id}/shares/{share_id}", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal"]),
)
THREADS_SHARES_REVOKE = Operation(
    "threads.shares.revoke", "DELETE", "/v1/threads/{thread_id}/shares/{share_id}", "none", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_SHARES_REDEMPTIONS_LIST = Operation(
    "threads.shares.redemptions.list", "GET",
    "/v1/threads/{thread_id}/shares/{share_id}/redemptions", "none", "page",
    headers=frozenset(["Cairn-Principal"]), cursors=("cursor",),
)
SHARES_REDEEM = Operation(
    "shares.redeem", "POST", "/v1/shares/redeem", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_FILES_LIST = Operation(
    "threads.files.list", "GET", "/v1/threads/{thread_id}/files", "none", "page",
    headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_FILES_UPLOAD = Operation(
    "threads.files.upload", "PUT", "/v1/threads/{thread_id}/files/{name}", "bytes", "json",
    headers=frozenset(["If-Match", "Cairn-Principal", "If-None-Match"]),
)
THREADS_FILES_DOWNLOAD = Operation(
    "threads.files.download", "GET", "/v1/threads/{thread_id}/files/{name}", "none", "bytes",
    headers=frozenset(["If-None-Match", "Cairn-Principal"]), ranges=True,
)
THREADS_FILES_DELETE = Operation(
    "threads.files.delete", "DELETE", "/v1/threads/{thread_id}/files/{name}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_FILES_GET = Operation(
    "threads.files.get", "GET", "/v1/threads/{thread_id}/files/{name}/info", "none", "json",
    headers=frozenset(["If-None-Match", "Cairn-Principal", "Cairn-Consistency"]), etag_prefix="r",
)
THREADS_FILES_UPDATE = Operation(
    "threads.files.update", "PATCH", "/v1/threads/{thread_id}/files/{name}/info", "patch", "json",
    headers=frozenset(["If-Match", "Cairn-Principal"]), etag_prefix="r",
)
THREADS_FILES_VERSIONS_LIST = Operation(
    "threads.files.versions.list", "GET", "/v1/threads/{thread_id}/files/{name}/versions", "none",
    "page", headers=frozenset(["Cairn-Principal", "Cairn-Consistency"]), cursors=("cursor",),
)
THREADS_FILES_VERSIONS_DOWNLOAD = Operation(
    "threads.files.versions.download", "GET",
    "/v1/threads/{thread_id}/files/{name}/versions/{version}", "none", "bytes",
    headers=frozenset(["If-None-Match", "Cairn-Principal"]), ranges=True,
)
THREADS_FILES_VERSIONS_DELETE = Operation(
    "threads.files.versions.delete", "DELETE",
    "/v1/threads/{thread_id}/files/{name}/versions/{version}", "none", "none",
    headers=frozenset(["If-Match", "Cairn-Principal"]),
)
THREADS_FILES_DIFF = Operation(
    "threads.files.diff", "GET", "/v1/threads/{thread_id}/files/{name}/diff", "none", "json",
    headers=frozenset(["Cairn-Principal"]),
)
THREADS_FILES_RESTORE = Operation(
    "threads.files.restore", "POST", "/v1/threads/{thread_id}/files/{name}/restore", "json", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
THREADS_FILES_COPY = Operation(
    "threads.files.copy", "POST", "/v1/threads/{thread_id}/files/{name}/copy", "json", "json",
    headers=frozenset(["Idempotency-Key", "If-Match", "Cairn-Principal"]),
)
THREADS_UPLOADS_CREATE = Operation(
    "threads.uploads.create", "POST", "/v1/threads/{thread_id}/uploads", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
THREADS_UPLOADS_LIST = Operation(
    "threads.uploads.list", "GET", "/v1/threads/{thread_id}/uploads", "none", "page",
    headers=frozenset(["Cairn-Principal"]), cursors=("cursor",),
)
THREADS_UPLOADS_GET = Operation(
    "threads.uploads.get", "GET", "/v1/threads/{thread_id}/uploads/{upload_id}", "none", "json",
    headers=frozenset(["Cairn-Principal"]),
)
THREADS_UPLOADS_APPEND = Operation(
    "threads.uploads.append", "PATCH", "/v1/threads/{thread_id}/uploads/{upload_id}", "bytes",
    "json", headers=frozenset(["Cairn-Principal"]),
)
THREADS_UPLOADS_DELETE = Operation(
    "threads.uploads.delete", "DELETE", "/v1/threads/{thread_id}/uploads/{upload_id}", "none",
    "none", headers=frozenset(["Cairn-Principal"]),
)
THREADS_UPLOADS_COMPLETE = Operation(
    "threads.uploads.complete", "POST", "/v1/threads/{thread_id}/uploads/{upload_id}/complete",
    "none", "json", headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
WORKFLOWS_START = Operation(
    "workflows.start", "POST", "/workflow/start", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
WORKFLOWS_INPUT = Operation(
    "workflows.input", "POST", "/workflow/input/{workflow_id}", "json", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
WORKFLOWS_PAUSE = Operation(
    "workflows.pause", "POST", "/workflow/pause/{workflow_id}", "none", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
WORKFLOWS_RESUME = Operation(
    "workflows.resume", "POST", "/workflow/resume/{workflow_id}", "none", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
WORKFLOWS_CANCEL = Operation(
    "workflows.cancel", "POST", "/workflow/cancel/{workflow_id}", "none", "json",
    headers=frozenset(["Idempotency-Key", "Cairn-Principal"]),
)
WORKFLOWS_WEBSOCKET = Operation(
    "workflows.websocket", "GET", "/workflow/ws/{workflow_id}", "none", "websocket",
    headers=frozenset(["Cairn-Principal"]),
)

ALL = (
    HEALTH, READY, METRICS, OPENAPI, WHOAMI, TENANTS_CREATE, TENANTS_LIST, TENANTS_GET,
    TENANTS_UPDATE, TENANTS_DELETE, TENANTS_KEYS_CREATE, KEYS_CREATE, KEYS_LIST, KEYS_GET,
    KEYS_REVOKE, AUDIT_LIST, AUDIT_VERIFY, AGENTS_CREATE, AGENTS_LIST, AGENTS_GET, AGENTS_UPDATE,
    AGENTS_DELETE, AGENTS_VERSIONS_CREATE, AGENTS_VERSIONS_LIST, AGENTS_VERSIONS_GET,
    AGENTS_VERSIONS_UPDATE, AGENTS_VERSIONS_ACTIVATE, AGENTS_VERSIONS_DIFF, AGENTS_ROLLBACK,
    AGENTS_LINKS_LIST, AGENTS_LINKS_GET, AGENTS_LINKS_PUT, AGENTS_LINKS_DELETE, AGENTS_TREE,
    AGENTS_CONFIG_GET, AGENTS_CONFIG_PUT, AGENTS_CONFIG_UPDATE, AGENTS_CONFIG_VERSIONS_LIST,
    AGENTS_CONFIG_VERSIONS_GET, AGENTS_STORAGE_LIST, AGENTS_STORAGE_GET, AGENTS_STORAGE_PUT,
    AGENTS_STORAGE_DELETE, THREADS_BY_KEY_ENSURE, THREADS_BY_KEY_GET, AGENTS_STATES_LIST,
    AGENTS_STATES_GET, AGENTS_STATES_PUT, AGENTS_STATES_UPDATE, AGENTS_STATES_DELETE,
    AGENTS_STATES_FOCUS, AGENTS_STATES_VERSIONS_LIST, AGENTS_STATES_VERSIONS_GET,
    THREADS_STATES_LIST, THREADS_STATES_GET, THREADS_STATES_PUT, THREADS_STATES_UPDATE,
    THREADS_STATES_DELETE, THREADS_STATES_FOCUS, THREADS_STATES_VERSIONS_LIST,
    THREADS_STATES_VERSIONS_GET, THREADS_AGENTS_STATES_LIST, THREADS_AGENTS_STATES_GET,
    THREADS_AGENTS_STATES_PUT, THREADS_AGENTS_STATES_UPDATE, THREADS_AGENTS_STATES_DELETE,
    THREADS_AGENTS_STATES_FOCUS, THREADS_AGENTS_STATES_VERSIONS_LIST,
    THREADS_AGENTS_STATES_VERSIONS_GET, THREADS_CREATE, THREADS_LIST, THREADS_GET, THREADS_UPDATE,
    THREADS_DELETE, THREADS_PAUSE, THREADS_RESUME, THREADS_CANCEL, THREADS_EXPORT, AGENTS_EXPORT,
    ARCHIVES_EXPORT, ARCHIVES_IMPORT_ARCHIVE, RUNS_TOOLS_ASK, RUNS_TOOLS_LIST, RUNS_TOOLS_ANSWER,
    THREADS_RESUMPTION_GET, THREADS_RESUMPTION_PUT, THREADS_RESUMPTION_UPDATE,
    THREADS_RESUMPTION_APPEND, THREADS_HISTORY_LIST, THREADS_HISTORY_GET, THREADS_HISTORY_UPDATE,
    THREADS_CONTEXT, THREADS_RUNS_CREATE, THREADS_RUNS_LIST, RUNS_LIST, RUNS_CLAIM,
    AGENTS_RUNS_CREATE, AGENTS_RUNS_LIST, RUNS_GET, RUNS_UPDATE, RUNS_TREE, RUNS_SET_PHASE,
    RUNS_PHASES_LIST, RUNS_TURNS_CREATE, RUNS_TURNS_LIST, RUNS_TURNS_GET, RUNS_TURNS_UPDATE,
    RUNS_USAGE_ADD, RUNS_USAGE_GET, PRICES_LIST, PRICES_GET, PRICES_PUT, PRICES_DELETE,
    PRICES_VERSIONS_LIST, PRICES_COST, USAGE_GET, USAGE_AVERAGES, EVALS_CREATE, EVALS_LIST,
    EVALS_GET, EVALS_UPDATE, EVALS_DELETE, NOTEBOOKS_CREATE, NOTEBOOKS_LIST, NOTEBOOKS_GET,
    NOTEBOOKS_UPDATE, NOTEBOOKS_DELETE, NOTEBOOKS_SESSIONS_ADD, NOTEBOOKS_SESSIONS_LIST,
    NOTEBOOKS_SESSIONS_REMOVE, THREADS_NOTEBOOK, RUNS_INPUT, RUNS_PAUSE, RUNS_RESUME, RUNS_CANCEL,
    RUNS_HEARTBEAT, RUNS_RELEASE, RUNS_STEPS_APPEND, RUNS_STEPS_LIST, RUNS_STEPS_GET,
    RUNS_LLM_CALLS_LIST, RUNS_TOOL_CALLS_LIST, STEPS_LIST, STEPS_SUMMARY, THREADS_EVENTS_APPEND,
    THREADS_EVENTS_LIST, THREADS_EVENTS_SSE, THREADS_EVENTS_WEBSOCKET, THREADS_EVENTS_PRUNE,
    EVENTS_LIST, EVENTS_SSE, EVENTS_WEBSOCKET, THREADS_PARTICIPANTS_ADD, THREADS_PARTICIPANTS_LIST,
    THREADS_PARTICIPANTS_ME_GET, THREADS_PARTICIPANTS_ME_UPDATE, THREADS_PARTICIPANTS_ME_LEAVE,
    THREADS_PARTICIPANTS_ME_HEARTBEAT, THREADS_PARTICIPANTS_GET, THREADS_PARTICIPANTS_UPDATE,
    THREADS_PARTICIPANTS_REMOVE, THREADS_PARTICIPANTS_HEARTBEAT, THREADS_MESSAGES_CREATE,
    THREADS_MESSAGES_LIST, MESSAGES_SEARCH, THREADS_MESSAGES_SEARCH, THREADS_MESSAGES_GET,
    THREADS_MESSAGES_UPDATE, THREADS_MESSAGES_DELETE, THREADS_MESSAGES_DEBUG,
    THREADS_MESSAGES_VERSIONS_LIST, STORE_PUT, STORE_GET, STORE_DELETE, STORE_SEARCH,
    STORE_NAMESPACES, STORE_BATCH, THREADS_CHECKPOINTS_PUT, THREADS_CHECKPOINTS_LIST,
    THREADS_CHECKPOINTS_DELETE_ALL, THREADS_CHECKPOINTS_LATEST, THREADS_CHECKPOINTS_GET,
    THREADS_CHECKPOINTS_WRITES_PUT, THREADS_CHECKPOINTS_WRITES_GET, CHECKPOINTS_LIST,
    THREADS_CHECKPOINTS_DELTAS, THREADS_CHECKPOINTS_PRUNE, THREADS_CHECKPOINTS_COPY,
    THREADS_CHECKPOINTS_DIFF, THREADS_RECOVERY, RUNS_CHECKPOINTS_LIST, RUNS_CHECKPOINTS_GET,
    RUNS_RECOVERY, RUNS_REPLAY, THREADS_SHARES_CREATE, THREADS_SHARES_LIST, THREADS_SHARES_GET,
    THREADS_SHARES_REVOKE, THREADS_SHARES_REDEMPTIONS_LIST, SHARES_REDEEM, THREADS_FILES_LIST,
    THREADS_FILES_UPLOAD, THREADS_FILES_DOWNLOAD, THREADS_FILES_DELETE, THREADS_FILES_GET,
    THREADS_FILES_UPDATE, THREADS_FILES_VERSIONS_LIST, THREADS_FILES_VERSIONS_DOWNLOAD,
    THREADS_FILES_VERSIONS_DELETE, THREADS_FILES_DIFF, THREADS_FILES_RESTORE, THREADS_FILES_COPY,
    THREADS_UPLOADS_CREATE, THREADS_UPLOADS_LIST, THREADS_UPLOADS_GET, THREADS_UPLOADS_APPEND,
    THREADS_UPLOADS_DELETE, THREADS_UPLOADS_COMPLETE, WORKFLOWS_START, WORKFLOWS_INPUT,
    WORKFLOWS_PAUSE, WORKFLOWS_RESUME, WORKFLOWS_CANCEL, WORKFLOWS_WEBSOCKET,
)
