# Written by tools/sdk from the server's OpenAPI document: make sdk. Do not edit.
from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Union, overload

from .._operation import (
    UNSET, AsyncContent, ETag, Options, Position, Scalar, Time, Unset, metadata_filter)
from .._async_calls import AsyncCaller, AsyncDownloads, AsyncPages
from .._async_extras import (
    AsyncFollowAll, AsyncFollowThread, AsyncWaitAndWork, AsyncResumableUploads)
from . import operations as _operations, types


class AsyncTenantsKeys:
    """tenants.keys"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self, tenant_id: str, *, name: str, scopes: Sequence[Literal["threads:read",
        "threads:write", "runs:read", "runs:write", "events:read", "events:write", "messages:read",
        "messages:write", "files:read", "files:write", "participants:read", "participants:write",
        "agents:read", "agents:write", "states:read", "states:write", "storage:read",
        "storage:write", "checkpoints:read", "checkpoints:write", "store:read", "store:write",
        "notebooks:read", "notebooks:write", "usage:read", "usage:write", "evals:read",
        "evals:write", "admin", "operator"]],
        rate_limit_per_minute: Union[Optional[int], Unset] = UNSET,
        expires_at: Union[Optional[Time], Unset] = UNSET,
        principal: Union[Optional[str], Unset] = UNSET, idempotency_key: Optional[str] = None,
        request_principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.KeyCreated:
        """Create a key for a tenant, such as one that lost its own.

        scopes: admin holds every scope of the tenant, operator also the tenants
        rate_limit_per_minute: requests a minute; none when absent
        principal: user:NAME or agent:UUID, for whom the key acts; null: for its whole tenant
        """
        answer: types.KeyCreated = await self._caller.call(
            _operations.TENANTS_KEYS_CREATE, [tenant_id], body={"name": name, "scopes": scopes,
            "rate_limit_per_minute": rate_limit_per_minute, "expires_at": expires_at,
            "principal": principal}, options=Options(idempotency_key=idempotency_key,
            principal=request_principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncTenants:
    """tenants"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.keys = AsyncTenantsKeys(caller)

    async def create(
        self, *, name: str, idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.TenantCreated:
        """Create a tenant and its first key.

        name: unique
        """
        answer: types.TenantCreated = await self._caller.call(
            _operations.TENANTS_CREATE, [], body={"name": name},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Tenant]:
        """List the tenants.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.TENANTS_LIST, [], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, tenant_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Tenant:
        """Read a tenant."""
        answer: types.Tenant = await self._caller.call(
            _operations.TENANTS_GET, [tenant_id], options=Options(if_none_match=if_none_match,
            principal=principal, consistency=consistency, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def update(
        self, tenant_id: str, *, name: Union[str, Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Tenant:
        """Rename a tenant.

        name: unique
        """
        answer: types.Tenant = await self._caller.call(
            _operations.TENANTS_UPDATE, [tenant_id], body={"name": name}, json_patch=json_patch,
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, tenant_id: str, *, if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a tenant and all that it owns."""
        await self._caller.call(
            _operations.TENANTS_DELETE, [tenant_id], options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncKeys:
    """keys"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self, *, name: str, scopes: Sequence[Literal["threads:read", "threads:write", "runs:read",
        "runs:write", "events:read", "events:write", "messages:read", "messages:write",
        "files:read", "files:write", "participants:read", "participants:write", "agents:read",
        "agents:write", "states:read", "states:write", "storage:read", "storage:write",
        "checkpoints:read", "checkpoints:write", "store:read", "store:write", "notebooks:read",
        "notebooks:write", "usage:read", "usage:write", "evals:read", "evals:write", "admin",
        "operator"]], rate_limit_per_minute: Union[Optional[int], Unset] = UNSET,
        expires_at: Union[Optional[Time], Unset] = UNSET,
        principal: Union[Optional[str], Unset] = UNSET, idempotency_key: Optional[str] = None,
        request_principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.KeyCreated:
        """Create an API key; its secret is shown once.

        scopes: admin holds every scope of the tenant, operator also the tenants
        rate_limit_per_minute: requests a minute; none when absent
        principal: user:NAME or agent:UUID, for whom the key acts; null: for its whole tenant
        """
        answer: types.KeyCreated = await self._caller.call(
            _operations.KEYS_CREATE, [], body={"name": name, "scopes": scopes,
            "rate_limit_per_minute": rate_limit_per_minute, "expires_at": expires_at,
            "principal": principal}, options=Options(idempotency_key=idempotency_key,
            principal=request_principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Key]:
        """List the keys.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.KEYS_LIST, [], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )

    async def get(
        self, key_id: str, *, principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Key:
        """Read a key."""
        answer: types.Key = await self._caller.call(
            _operations.KEYS_GET, [key_id], options=Options(principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def revoke(
        self, key_id: str, *, principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Key:
        """Revoke a key; its streams end."""
        answer: types.Key = await self._caller.call(
            _operations.KEYS_REVOKE, [key_id], options=Options(principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncAudit:
    """audit"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        action: Union[str, Unset] = UNSET, object_id: Union[str, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.AuditRecord]:
        """List the audit log, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.AUDIT_LIST, [],
            query={"cursor": cursor, "limit": limit, "action": action, "object_id": object_id},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def verify(
        self, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.AuditVerdict:
        """Check the audit log's hash chain."""
        answer: types.AuditVerdict = await self._caller.call(
            _operations.AUDIT_VERIFY, [], options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncAgentsVersions:
    """agents.versions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self, agent_id: str, *, version: Union[str, Unset] = UNSET,
        bump: Union[Literal["major", "minor", "patch"], Unset] = UNSET,
        description: Union[Optional[str], Unset] = UNSET, activate: Union[bool, Unset] = UNSET,
        system_prompt: Any = UNSET,
        workflow_graph: Union[Optional[types.WorkflowGraph], Unset] = UNSET,
        memory_config: Union[Optional[types.MemoryConfig], Unset] = UNSET,
        guardrail_config: Union[Optional[types.GuardrailConfig], Unset] = UNSET,
        llm_config: Union[Optional[types.LlmConfig], Unset] = UNSET,
        execution_config: Union[Optional[types.ExecutionConfig], Unset] = UNSET,
        tools: Union[Optional[Sequence[Any]], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.AgentVersion:
        """Make a version of an agent; what is left out is as in the newest.

        version: a semantic version greater than all of the agent's; or else bump
        bump: which number of the newest version to raise
        description: what is new in it
        activate: make it the active one at once; false unless told
        system_prompt: {role, instructions, examples}, or the instructions as text
        tools: names or ids of tools, or {tool, config_overrides, is_enabled} for each
        """
        answer: types.AgentVersion = await self._caller.call(
            _operations.AGENTS_VERSIONS_CREATE, [agent_id], body={"version": version, "bump": bump,
            "description": description, "activate": activate, "system_prompt": system_prompt,
            "workflow_graph": workflow_graph, "memory_config": memory_config,
            "guardrail_config": guardrail_config, "llm_config": llm_config,
            "execution_config": execution_config, "tools": tools},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, agent_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.AgentVersionHead]:
        """List the versions of an agent, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.AGENTS_VERSIONS_LIST, [agent_id], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, agent_id: str, semver: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.AgentVersion:
        """Read a version of an agent; also "active" and "latest"."""
        answer: types.AgentVersion = await self._caller.call(
            _operations.AGENTS_VERSIONS_GET, [agent_id, semver],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, agent_id: str, semver: str, *, description: Union[Optional[str], Unset] = UNSET,
        system_prompt: Any = UNSET,
        workflow_graph: Union[Optional[types.WorkflowGraph], Unset] = UNSET,
        memory_config: Union[Optional[types.MemoryConfig], Unset] = UNSET,
        guardrail_config: Union[Optional[types.GuardrailConfig], Unset] = UNSET,
        llm_config: Union[Optional[types.LlmConfig], Unset] = UNSET,
        execution_config: Union[Optional[types.ExecutionConfig], Unset] = UNSET,
        tools: Union[Optional[Sequence[Any]], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.AgentVersion:
        """Change a version of an agent that no run has used.

        description: what is new in it
        system_prompt: {role, instructions, examples}, or the instructions as text
        tools: names or ids of tools, or {tool, config_overrides, is_enabled} for each
        """
        answer: types.AgentVersion = await self._caller.call(
            _operations.AGENTS_VERSIONS_UPDATE, [agent_id, semver],
            body={"description": description, "system_prompt": system_prompt,
            "workflow_graph": workflow_graph, "memory_config": memory_config,
            "guardrail_config": guardrail_config, "llm_config": llm_config,
            "execution_config": execution_config, "tools": tools}, json_patch=json_patch,
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def activate(
        self, agent_id: str, semver: str, *, idempotency_key: Optional[str] = None,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Agent:
        """Make a version of an agent the one that new runs get."""
        answer: types.Agent = await self._caller.call(
            _operations.AGENTS_VERSIONS_ACTIVATE, [agent_id, semver],
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def diff(
        self, agent_id: str, semver: str, other: str, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.AgentDiff:
        """Tell what differs between two versions of an agent."""
        answer: types.AgentDiff = await self._caller.call(
            _operations.AGENTS_VERSIONS_DIFF, [agent_id, semver, other],
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncAgentsLinks:
    """agents.links"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, agent_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.AgentLink]:
        """List whom a team or a workflow is made of, by position.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.AGENTS_LINKS_LIST, [agent_id], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, agent_id: str, child_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.AgentLink:
        """Read the link to a child."""
        answer: types.AgentLink = await self._caller.call(
            _operations.AGENTS_LINKS_GET, [agent_id, child_id],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def put(
        self, agent_id: str, child_id: str, *, role: Union[str, Unset] = UNSET,
        position: Union[int, Unset] = UNSET, child_version: Union[Optional[str], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.AgentLink:
        """Make an agent a child of a team or a workflow, or change its link.

        role: what the child is there; member unless told
        position: its place among the children; behind the others unless told
        child_version: a version of the child; null: its active one
        """
        answer: types.AgentLink = await self._caller.call(
            _operations.AGENTS_LINKS_PUT, [agent_id, child_id], body={"role": role,
            "position": position, "child_version": child_version, "metadata": metadata},
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, agent_id: str, child_id: str, *, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Take a child out of a team or a workflow."""
        await self._caller.call(
            _operations.AGENTS_LINKS_DELETE, [agent_id, child_id],
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncAgentsConfigVersions:
    """agents.config.versions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, agent_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        include: Union[Literal["documents"], Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.StateVersion]:
        """List the versions of an agent's configuration.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: documents: data, json_schema and ui_schema too
        """
        return self._caller.page(
            _operations.AGENTS_CONFIG_VERSIONS_LIST, [agent_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, agent_id: str, version: int, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.StateVersion:
        """Read one version of an agent's configuration."""
        answer: types.StateVersion = await self._caller.call(
            _operations.AGENTS_CONFIG_VERSIONS_GET, [agent_id, version],
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncAgentsConfig:
    """agents.config"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.versions = AsyncAgentsConfigVersions(caller)

    async def get(
        self, agent_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Read the configuration of an agent."""
        answer: types.State = await self._caller.call(
            _operations.AGENTS_CONFIG_GET, [agent_id], options=Options(if_none_match=if_none_match,
            principal=principal, consistency=consistency, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def put(
        self, agent_id: str, *, data: Any, description: Union[Optional[str], Unset] = UNSET,
        json_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        ui_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Write the configuration of an agent; what is left out stays.

        data: an object or an array
        json_schema: JSON Schema 2020-12, which every write of data satisfies
        ui_schema: how to show it; Cairn only keeps it
        """
        answer: types.State = await self._caller.call(
            _operations.AGENTS_CONFIG_PUT, [agent_id], body={"description": description,
            "data": data, "json_schema": json_schema, "ui_schema": ui_schema},
            options=Options(if_match=if_match, if_none_match=if_none_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, agent_id: str, *, description: Union[Optional[str], Unset] = UNSET, data: Any = UNSET,
        json_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        ui_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Change the configuration of an agent.

        data: an object or an array
        json_schema: JSON Schema 2020-12, which every write of data satisfies
        ui_schema: how to show it; Cairn only keeps it
        """
        answer: types.State = await self._caller.call(
            _operations.AGENTS_CONFIG_UPDATE, [agent_id], body={"description": description,
            "data": data, "json_schema": json_schema, "ui_schema": ui_schema},
            json_patch=json_patch, options=Options(if_match=if_match, if_none_match=if_none_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncAgentsStorage:
    """agents.storage"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, agent_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        prefix: Union[str, Unset] = UNSET, include: Union[Literal["values"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.StorageItem]:
        """List what an agent has stored, by key.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        prefix: only keys that begin with this
        include: values: what is stored too
        """
        return self._caller.page(
            _operations.AGENTS_STORAGE_LIST, [agent_id],
            query={"cursor": cursor, "limit": limit, "prefix": prefix, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    def get(
        self, agent_id: str, key: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncDownloads:
        """Read what an agent has stored under a key, as it was written."""
        return self._caller.download(
            _operations.AGENTS_STORAGE_GET, [agent_id, key],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def put(
        self, agent_id: str, key: str, content: AsyncContent, *, content_type: Optional[str] = None,
        if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.StorageItem:
        """Store JSON, or bytes of any type, under a key of an agent."""
        answer: types.StorageItem = await self._caller.call(
            _operations.AGENTS_STORAGE_PUT, [agent_id, key],
            content=content, content_type=content_type, options=Options(if_match=if_match,
            if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, agent_id: str, key: str, *, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete what an agent has stored under a key."""
        await self._caller.call(
            _operations.AGENTS_STORAGE_DELETE, [agent_id, key], options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncAgentsStatesVersions:
    """agents.states.versions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, agent_id: str, name: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, include: Union[Literal["documents"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.StateVersion]:
        """List the versions of a state document of an agent.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: documents: data, json_schema and ui_schema too
        """
        return self._caller.page(
            _operations.AGENTS_STATES_VERSIONS_LIST, [agent_id, name],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, agent_id: str, name: str, version: int, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.StateVersion:
        """Read one version of a state document of an agent."""
        answer: types.StateVersion = await self._caller.call(
            _operations.AGENTS_STATES_VERSIONS_GET, [agent_id, name, version],
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncAgentsStates:
    """agents.states"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.versions = AsyncAgentsStatesVersions(caller)

    def list(
        self, agent_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        include: Union[Literal["documents"], Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.State]:
        """List the state documents of an agent by name.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: documents: data, json_schema and ui_schema too
        """
        return self._caller.page(
            _operations.AGENTS_STATES_LIST, [agent_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, agent_id: str, name: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Read a state document of an agent."""
        answer: types.State = await self._caller.call(
            _operations.AGENTS_STATES_GET, [agent_id, name],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def put(
        self, agent_id: str, name: str, *, data: Any,
        description: Union[Optional[str], Unset] = UNSET,
        json_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        ui_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Write a state document of an agent; what is left out stays.

        data: an object or an array
        json_schema: JSON Schema 2020-12, which every write of data satisfies
        ui_schema: how to show it; Cairn only keeps it
        """
        answer: types.State = await self._caller.call(
            _operations.AGENTS_STATES_PUT, [agent_id, name], body={"description": description,
            "data": data, "json_schema": json_schema, "ui_schema": ui_schema},
            options=Options(if_match=if_match, if_none_match=if_none_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, agent_id: str, name: str, *, description: Union[Optional[str], Unset] = UNSET,
        data: Any = UNSET, json_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        ui_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Change a state document of an agent.

        data: an object or an array
        json_schema: JSON Schema 2020-12, which every write of data satisfies
        ui_schema: how to show it; Cairn only keeps it
        """
        answer: types.State = await self._caller.call(
            _operations.AGENTS_STATES_UPDATE, [agent_id, name], body={"description": description,
            "data": data, "json_schema": json_schema, "ui_schema": ui_schema},
            json_patch=json_patch, options=Options(if_match=if_match, if_none_match=if_none_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, agent_id: str, name: str, *, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a state document of an agent and its versions."""
        await self._caller.call(
            _operations.AGENTS_STATES_DELETE, [agent_id, name], options=Options(if_match=if_match,
            if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def focus(
        self, agent_id: str, name: str, *, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Ask who watches to show a state document of an agent."""
        await self._caller.call(
            _operations.AGENTS_STATES_FOCUS, [agent_id, name],
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncAgentsRuns:
    """agents.runs"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self, agent_id: str, *, input: types.AgentRunInput,
        thread_id: Union[Optional[str], Unset] = UNSET,
        config: Union[Optional[types.AgentRunConfig], Unset] = UNSET,
        agent_version: Union[Optional[str], Unset] = UNSET,
        parent_run_id: Union[Optional[str], Unset] = UNSET, policy: Union[Optional[Literal["reject",
        "enqueue", "interrupt", "rollback", "None"]], Unset] = UNSET,
        dispatch: Union[Literal["queue", "direct"], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.AgentRun:
        """Start a run of an agent, on a thread or on a new one.

        thread_id: a new thread is made when it is absent
        agent_version: the active one when absent
        policy: instead of the thread's run_policy
        dispatch: queue (a worker claims it; the default) or direct (the caller works on it)
        """
        answer: types.AgentRun = await self._caller.call(
            _operations.AGENTS_RUNS_CREATE, [agent_id], body={"thread_id": thread_id,
            "input": input, "config": config, "agent_version": agent_version,
            "parent_run_id": parent_run_id, "policy": policy, "dispatch": dispatch,
            "metadata": metadata}, options=Options(idempotency_key=idempotency_key,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, agent_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        status: Union[Literal["queued", "running", "waiting_for_input", "paused", "completed",
        "failed", "cancelled"], Unset] = UNSET, agent: Union[str, Unset] = UNSET,
        parent_run_id: Union[str, Unset] = UNSET,
        include: Union[Literal["documents"], Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Run]:
        """List the runs of an agent, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        parent_run_id: the children of this run
        include: documents: user_input, request, state, input, content, final_output … too
        """
        return self._caller.page(
            _operations.AGENTS_RUNS_LIST, [agent_id], query={"cursor": cursor, "limit": limit,
            "status": status, "agent": agent, "parent_run_id": parent_run_id, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncAgents:
    """agents"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.versions = AsyncAgentsVersions(caller)
        self.links = AsyncAgentsLinks(caller)
        self.config = AsyncAgentsConfig(caller)
        self.storage = AsyncAgentsStorage(caller)
        self.states = AsyncAgentsStates(caller)
        self.runs = AsyncAgentsRuns(caller)

    async def create(
        self, *, name: str, kind: Union[Literal["agent", "team", "workflow"], Unset] = UNSET,
        description: Union[Optional[str], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, is_active: Union[bool, Unset] = UNSET,
        system_prompt: Any = UNSET,
        workflow_graph: Union[Optional[types.WorkflowGraph], Unset] = UNSET,
        memory_config: Union[Optional[types.MemoryConfig], Unset] = UNSET,
        guardrail_config: Union[Optional[types.GuardrailConfig], Unset] = UNSET,
        llm_config: Union[Optional[types.LlmConfig], Unset] = UNSET,
        execution_config: Union[Optional[types.ExecutionConfig], Unset] = UNSET,
        tools: Union[Optional[Sequence[Any]], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Agent:
        """Create an agent.

        name: no other agent of the tenant has it
        kind: agent unless told
        is_active: true unless told
        system_prompt: {role, instructions, examples}, or the instructions as text
        tools: names or ids of tools, or {tool, config_overrides, is_enabled} for each
        """
        answer: types.Agent = await self._caller.call(
            _operations.AGENTS_CREATE, [], body={"name": name, "kind": kind,
            "description": description, "metadata": metadata, "is_active": is_active,
            "system_prompt": system_prompt, "workflow_graph": workflow_graph,
            "memory_config": memory_config, "guardrail_config": guardrail_config,
            "llm_config": llm_config, "execution_config": execution_config, "tools": tools},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        name: Union[str, Unset] = UNSET,
        kind: Union[Literal["agent", "team", "workflow"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Agent]:
        """List agents, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        name: the agent of exactly this name
        """
        return self._caller.page(
            _operations.AGENTS_LIST, [],
            query={"cursor": cursor, "limit": limit, "name": name, "kind": kind},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, agent_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Agent:
        """Read an agent."""
        answer: types.Agent = await self._caller.call(
            _operations.AGENTS_GET, [agent_id], options=Options(if_none_match=if_none_match,
            principal=principal, consistency=consistency, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def update(
        self, agent_id: str, *, name: Union[str, Unset] = UNSET,
        description: Union[Optional[str], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, is_active: Union[bool, Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Agent:
        """Change an agent.

        name: no other agent of the tenant has it
        """
        answer: types.Agent = await self._caller.call(
            _operations.AGENTS_UPDATE, [agent_id], body={"name": name, "description": description,
            "metadata": metadata, "is_active": is_active}, json_patch=json_patch,
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, agent_id: str, *, if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete an agent, its versions, links, states, configuration and storage."""
        await self._caller.call(
            _operations.AGENTS_DELETE, [agent_id], options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def rollback(
        self, agent_id: str, *, idempotency_key: Optional[str] = None,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Agent:
        """Make the version active again that was before the last activation."""
        answer: types.Agent = await self._caller.call(
            _operations.AGENTS_ROLLBACK, [agent_id],
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def tree(
        self, agent_id: str, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.AgentTree:
        """Read an agent with its children, and theirs, as a tree."""
        answer: types.AgentTree = await self._caller.call(
            _operations.AGENTS_TREE, [agent_id], options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def export(
        self, agent_id: str, *, principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncDownloads:
        """Export an agent with its configuration, states and storage, as a tar file."""
        return self._caller.download(
            _operations.AGENTS_EXPORT, [agent_id], options=Options(principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncThreadsByKey:
    """threads.by_key"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def ensure(
        self, key: str, *,
        status: Union[Literal["active", "paused", "cancelled", "error"], Unset] = UNSET,
        title: Union[Optional[str], Unset] = UNSET, agent: Union[Optional[str], Unset] = UNSET,
        context: Union[Mapping[str, Any], Unset] = UNSET,
        preferences: Union[Mapping[str, Any], Unset] = UNSET, important_steps: Any = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET,
        error: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        run_policy: Union[Literal["reject", "enqueue", "interrupt", "rollback"], Unset] = UNSET,
        prune_on_completion: Union[bool, Unset] = UNSET,
        event_max_age_s: Union[Optional[int], Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Thread:
        """Create the thread with this key, or read it as it is.

        agent: who works on it; new runs take it over
        context: the conversation so far: summary, tail, meta
        metadata: its scalar members can be filtered by
        run_policy: what a start does while another run is active
        prune_on_completion: drop a run's events when it is finished
        event_max_age_s: drop events that are older
        """
        answer: types.Thread = await self._caller.call(
            _operations.THREADS_BY_KEY_ENSURE, [key], body={"status": status, "title": title,
            "agent": agent, "context": context, "preferences": preferences,
            "important_steps": important_steps, "metadata": metadata, "error": error,
            "run_policy": run_policy, "prune_on_completion": prune_on_completion,
            "event_max_age_s": event_max_age_s}, options=Options(principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def get(
        self, key: str, *, if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Thread:
        """Read the thread with this key."""
        answer: types.Thread = await self._caller.call(
            _operations.THREADS_BY_KEY_GET, [key], options=Options(if_none_match=if_none_match,
            principal=principal, consistency=consistency, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer


class AsyncThreadsStatesVersions:
    """threads.states.versions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, thread_id: str, name: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, include: Union[Literal["documents"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.StateVersion]:
        """List the versions of a state document of a thread.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: documents: data, json_schema and ui_schema too
        """
        return self._caller.page(
            _operations.THREADS_STATES_VERSIONS_LIST, [thread_id, name],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, thread_id: str, name: str, version: int, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.StateVersion:
        """Read one version of a state document of a thread."""
        answer: types.StateVersion = await self._caller.call(
            _operations.THREADS_STATES_VERSIONS_GET, [thread_id, name, version],
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsStates:
    """threads.states"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.versions = AsyncThreadsStatesVersions(caller)

    def list(
        self, thread_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, include: Union[Literal["documents"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.State]:
        """List the state documents of a thread by name.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: documents: data, json_schema and ui_schema too
        """
        return self._caller.page(
            _operations.THREADS_STATES_LIST, [thread_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, thread_id: str, name: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Read a state document of a thread."""
        answer: types.State = await self._caller.call(
            _operations.THREADS_STATES_GET, [thread_id, name],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def put(
        self, thread_id: str, name: str, *, data: Any,
        description: Union[Optional[str], Unset] = UNSET,
        json_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        ui_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Write a state document of a thread; what is left out stays.

        data: an object or an array
        json_schema: JSON Schema 2020-12, which every write of data satisfies
        ui_schema: how to show it; Cairn only keeps it
        """
        answer: types.State = await self._caller.call(
            _operations.THREADS_STATES_PUT, [thread_id, name], body={"description": description,
            "data": data, "json_schema": json_schema, "ui_schema": ui_schema},
            options=Options(if_match=if_match, if_none_match=if_none_match, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, name: str, *, description: Union[Optional[str], Unset] = UNSET,
        data: Any = UNSET, json_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        ui_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Change a state document of a thread.

        data: an object or an array
        json_schema: JSON Schema 2020-12, which every write of data satisfies
        ui_schema: how to show it; Cairn only keeps it
        """
        answer: types.State = await self._caller.call(
            _operations.THREADS_STATES_UPDATE, [thread_id, name], body={"description": description,
            "data": data, "json_schema": json_schema, "ui_schema": ui_schema},
            json_patch=json_patch, options=Options(if_match=if_match, if_none_match=if_none_match,
            principal=principal, fencing_token=fencing_token, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, thread_id: str, name: str, *, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a state document of a thread and its versions."""
        await self._caller.call(
            _operations.THREADS_STATES_DELETE, [thread_id, name], options=Options(if_match=if_match,
            if_none_match=if_none_match, principal=principal, fencing_token=fencing_token,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def focus(
        self, thread_id: str, name: str, *, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Ask who watches to show a state document of a thread."""
        await self._caller.call(
            _operations.THREADS_STATES_FOCUS, [thread_id, name],
            options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncThreadsAgentsStatesVersions:
    """threads.agents.states.versions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, thread_id: str, agent_id: str, name: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, include: Union[Literal["documents"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.StateVersion]:
        """List the versions of a state document of an agent in a thread.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: documents: data, json_schema and ui_schema too
        """
        return self._caller.page(
            _operations.THREADS_AGENTS_STATES_VERSIONS_LIST, [thread_id, agent_id, name],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, thread_id: str, agent_id: str, name: str, version: int, *,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.StateVersion:
        """Read one version of a state document of an agent in a thread."""
        answer: types.StateVersion = await self._caller.call(
            _operations.THREADS_AGENTS_STATES_VERSIONS_GET, [thread_id, agent_id, name, version],
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsAgentsStates:
    """threads.agents.states"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.versions = AsyncThreadsAgentsStatesVersions(caller)

    def list(
        self, thread_id: str, agent_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, include: Union[Literal["documents"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.State]:
        """List the state documents of an agent in a thread by name.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: documents: data, json_schema and ui_schema too
        """
        return self._caller.page(
            _operations.THREADS_AGENTS_STATES_LIST, [thread_id, agent_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, thread_id: str, agent_id: str, name: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Read a state document of an agent in a thread."""
        answer: types.State = await self._caller.call(
            _operations.THREADS_AGENTS_STATES_GET, [thread_id, agent_id, name],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def put(
        self, thread_id: str, agent_id: str, name: str, *, data: Any,
        description: Union[Optional[str], Unset] = UNSET,
        json_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        ui_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        if_match: Optional[ETag] = None, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Write a state document of an agent in a thread; what is left out stays.

        data: an object or an array
        json_schema: JSON Schema 2020-12, which every write of data satisfies
        ui_schema: how to show it; Cairn only keeps it
        """
        answer: types.State = await self._caller.call(
            _operations.THREADS_AGENTS_STATES_PUT, [thread_id, agent_id, name],
            body={"description": description, "data": data, "json_schema": json_schema,
            "ui_schema": ui_schema}, options=Options(if_match=if_match, if_none_match=if_none_match,
            principal=principal, fencing_token=fencing_token, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, agent_id: str, name: str, *,
        description: Union[Optional[str], Unset] = UNSET, data: Any = UNSET,
        json_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        ui_schema: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.State:
        """Change a state document of an agent in a thread.

        data: an object or an array
        json_schema: JSON Schema 2020-12, which every write of data satisfies
        ui_schema: how to show it; Cairn only keeps it
        """
        answer: types.State = await self._caller.call(
            _operations.THREADS_AGENTS_STATES_UPDATE, [thread_id, agent_id, name],
            body={"description": description, "data": data, "json_schema": json_schema,
            "ui_schema": ui_schema}, json_patch=json_patch, options=Options(if_match=if_match,
            if_none_match=if_none_match, principal=principal, fencing_token=fencing_token,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, thread_id: str, agent_id: str, name: str, *, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a state document of an agent in a thread and its versions."""
        await self._caller.call(
            _operations.THREADS_AGENTS_STATES_DELETE, [thread_id, agent_id, name],
            options=Options(if_match=if_match, if_none_match=if_none_match, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def focus(
        self, thread_id: str, agent_id: str, name: str, *, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Ask who watches to show a state document of an agent in a thread."""
        await self._caller.call(
            _operations.THREADS_AGENTS_STATES_FOCUS, [thread_id, agent_id, name],
            options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncThreadsAgents:
    """threads.agents"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.states = AsyncThreadsAgentsStates(caller)


class AsyncThreadsResumption:
    """threads.resumption"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def get(
        self, thread_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Resumption:
        """Read everything that is needed to resume a thread."""
        answer: types.Resumption = await self._caller.call(
            _operations.THREADS_RESUMPTION_GET, [thread_id],
            options=Options(if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def put(
        self, thread_id: str, *, system_prompt: Union[Optional[str], Unset] = UNSET,
        model: Union[Optional[str], Unset] = UNSET, max_steps: Union[int, Unset] = UNSET,
        thinking_tokens: Union[int, Unset] = UNSET, max_tokens: Union[int, Unset] = UNSET,
        container_id: Union[Optional[str], Unset] = UNSET,
        messages: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        tool_schemas: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        server_tools: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        beta_headers: Union[Sequence[str], Unset] = UNSET,
        api_kwargs: Union[Mapping[str, Any], Unset] = UNSET,
        formatter: Union[Optional[str], Unset] = UNSET,
        stream_meta_history_and_tool_results: Union[bool, Unset] = UNSET,
        compactor_type: Union[Optional[str], Unset] = UNSET,
        memory_store_type: Union[Optional[str], Unset] = UNSET,
        file_registry: Union[Mapping[str, Any], Unset] = UNSET,
        extras: Union[Mapping[str, Any], Unset] = UNSET, max_retries: Union[int, Unset] = UNSET,
        base_delay: Union[float, Unset] = UNSET, last_known_input_tokens: Union[int, Unset] = UNSET,
        last_known_output_tokens: Union[int, Unset] = UNSET,
        current_step: Union[int, Unset] = UNSET,
        conversation_history: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        title: Union[Optional[str], Unset] = UNSET, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        request_max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Resumption:
        """Write the resumption of a thread; what is left out gets its default.

        system_prompt: left out: role and instructions of the newest run's agent version
        model: left out: the default_model of the newest run's agent version
        max_steps: 50 unless told
        thinking_tokens: 0 unless told
        max_tokens: 2048 unless told
        container_id: where code is executed
        messages: the compacted messages; what a write leaves out stays
        tool_schemas: tools of the client: [{name, description, input_schema}]
        server_tools: tools of the model's provider, objects
        beta_headers: texts
        api_kwargs: passed on to the provider: temperature …
        formatter: how the stream is written: xml, json …
        compactor_type: the name of the type alone
        memory_store_type: the name of the type alone
        file_registry: file id → {filename, storage_path …}
        extras: anything else of the application
        max_retries: 5 unless told
        base_delay: seconds before the first retry, to the millisecond; 1 unless told
        last_known_input_tokens: of the last run
        last_known_output_tokens: of the last run
        current_step: to go on from
        conversation_history: all messages of the run under way; its history entry takes them over
            when it ends
        title: the thread's
        """
        answer: types.Resumption = await self._caller.call(
            _operations.THREADS_RESUMPTION_PUT, [thread_id], body={"system_prompt": system_prompt,
            "model": model, "max_steps": max_steps, "thinking_tokens": thinking_tokens,
            "max_tokens": max_tokens, "container_id": container_id, "messages": messages,
            "tool_schemas": tool_schemas, "server_tools": server_tools,
            "beta_headers": beta_headers, "api_kwargs": api_kwargs, "formatter": formatter,
            "stream_meta_history_and_tool_results": stream_meta_history_and_tool_results,
            "compactor_type": compactor_type, "memory_store_type": memory_store_type,
            "file_registry": file_registry, "extras": extras, "max_retries": max_retries,
            "base_delay": base_delay, "last_known_input_tokens": last_known_input_tokens,
            "last_known_output_tokens": last_known_output_tokens, "current_step": current_step,
            "conversation_history": conversation_history, "title": title},
            options=Options(if_match=if_match, if_none_match=if_none_match, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=request_max_retries,
            headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, *, system_prompt: Union[Optional[str], Unset] = UNSET,
        model: Union[Optional[str], Unset] = UNSET, max_steps: Union[int, Unset] = UNSET,
        thinking_tokens: Union[int, Unset] = UNSET, max_tokens: Union[int, Unset] = UNSET,
        container_id: Union[Optional[str], Unset] = UNSET,
        messages: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        tool_schemas: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        server_tools: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        beta_headers: Union[Sequence[str], Unset] = UNSET,
        api_kwargs: Union[Mapping[str, Any], Unset] = UNSET,
        formatter: Union[Optional[str], Unset] = UNSET,
        stream_meta_history_and_tool_results: Union[bool, Unset] = UNSET,
        compactor_type: Union[Optional[str], Unset] = UNSET,
        memory_store_type: Union[Optional[str], Unset] = UNSET,
        file_registry: Union[Mapping[str, Any], Unset] = UNSET,
        extras: Union[Mapping[str, Any], Unset] = UNSET, max_retries: Union[int, Unset] = UNSET,
        base_delay: Union[float, Unset] = UNSET, last_known_input_tokens: Union[int, Unset] = UNSET,
        last_known_output_tokens: Union[int, Unset] = UNSET,
        current_step: Union[int, Unset] = UNSET,
        conversation_history: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        title: Union[Optional[str], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        request_max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Resumption:
        """Change the resumption of a thread.

        system_prompt: left out: role and instructions of the newest run's agent version
        model: left out: the default_model of the newest run's agent version
        max_steps: 50 unless told
        thinking_tokens: 0 unless told
        max_tokens: 2048 unless told
        container_id: where code is executed
        messages: the compacted messages; what a write leaves out stays
        tool_schemas: tools of the client: [{name, description, input_schema}]
        server_tools: tools of the model's provider, objects
        beta_headers: texts
        api_kwargs: passed on to the provider: temperature …
        formatter: how the stream is written: xml, json …
        compactor_type: the name of the type alone
        memory_store_type: the name of the type alone
        file_registry: file id → {filename, storage_path …}
        extras: anything else of the application
        max_retries: 5 unless told
        base_delay: seconds before the first retry, to the millisecond; 1 unless told
        last_known_input_tokens: of the last run
        last_known_output_tokens: of the last run
        current_step: to go on from
        conversation_history: all messages of the run under way; its history entry takes them over
            when it ends
        title: the thread's
        """
        answer: types.Resumption = await self._caller.call(
            _operations.THREADS_RESUMPTION_UPDATE, [thread_id],
            body={"system_prompt": system_prompt, "model": model, "max_steps": max_steps,
            "thinking_tokens": thinking_tokens, "max_tokens": max_tokens,
            "container_id": container_id, "messages": messages, "tool_schemas": tool_schemas,
            "server_tools": server_tools, "beta_headers": beta_headers, "api_kwargs": api_kwargs,
            "formatter": formatter,
            "stream_meta_history_and_tool_results": stream_meta_history_and_tool_results,
            "compactor_type": compactor_type, "memory_store_type": memory_store_type,
            "file_registry": file_registry, "extras": extras, "max_retries": max_retries,
            "base_delay": base_delay, "last_known_input_tokens": last_known_input_tokens,
            "last_known_output_tokens": last_known_output_tokens, "current_step": current_step,
            "conversation_history": conversation_history, "title": title}, json_patch=json_patch,
            options=Options(if_match=if_match, if_none_match=if_none_match, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=request_max_retries,
            headers=headers),
        )
        return answer

    async def append(
        self, thread_id: str, *, append: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        append_history: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        idempotency_key: Optional[str] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Resumption:
        """Append to the messages of a resumption.

        append: to the end of messages
        append_history: to the end of conversation_history
        """
        answer: types.Resumption = await self._caller.call(
            _operations.THREADS_RESUMPTION_APPEND, [thread_id],
            body={"append": append, "append_history": append_history},
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsHistory:
    """threads.history"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, thread_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, include: Union[Literal["messages"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.HistoryEntry]:
        """List the finished runs of a thread as a conversation, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: messages: the whole conversation of each run too
        """
        return self._caller.page(
            _operations.THREADS_HISTORY_LIST, [thread_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, thread_id: str, sequence: int, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.HistoryEntry:
        """Read one entry of the history, whole."""
        answer: types.HistoryEntry = await self._caller.call(
            _operations.THREADS_HISTORY_GET, [thread_id, sequence],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, sequence: int, *,
        messages: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        final_response: Union[Optional[str], Unset] = UNSET,
        stop_reason: Union[Optional[str], Unset] = UNSET,
        generated_files: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        extras: Union[Mapping[str, Any], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.HistoryEntry:
        """Give an entry of the history its messages, files and extras.

        messages: the whole conversation of the run, not compacted
        stop_reason: end_turn, max_steps, tool_use …; failed and cancelled where nobody said
        generated_files: [{file_id, filename, …}]
        """
        answer: types.HistoryEntry = await self._caller.call(
            _operations.THREADS_HISTORY_UPDATE, [thread_id, sequence], body={"messages": messages,
            "final_response": final_response, "stop_reason": stop_reason,
            "generated_files": generated_files, "extras": extras}, json_patch=json_patch,
            options=Options(if_match=if_match, principal=principal, fencing_token=fencing_token,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsRuns:
    """threads.runs"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self, thread_id: str, *, user_input: Union[Optional[str], Unset] = UNSET,
        ask_clarifications: Union[bool, Unset] = UNSET, policy: Union[Optional[Literal["reject",
        "enqueue", "interrupt", "rollback", "None"]], Unset] = UNSET,
        dispatch: Union[Literal["queue", "direct"], Unset] = UNSET,
        parent_run_id: Union[Optional[str], Unset] = UNSET,
        agent: Union[Optional[str], Unset] = UNSET, agent_id: Union[Optional[str], Unset] = UNSET,
        agent_version: Union[Optional[str], Unset] = UNSET,
        model: Union[Optional[str], Unset] = UNSET, provider: Union[Optional[str], Unset] = UNSET,
        request: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        state: Union[Mapping[str, Any], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Start a run.

        user_input: the message that triggers the run
        policy: instead of the thread's run_policy
        dispatch: queue (a worker claims it; the default) or direct (the caller works on it)
        agent: the name to claim it by; when absent the agent's or the thread's
        agent_id: the agent that the run is of
        agent_version: with agent_id: the active one when absent
        request: what asks for the run, whole: a message with attachments …
        """
        answer: types.Run = await self._caller.call(
            _operations.THREADS_RUNS_CREATE, [thread_id], body={"user_input": user_input,
            "ask_clarifications": ask_clarifications, "policy": policy, "dispatch": dispatch,
            "parent_run_id": parent_run_id, "agent": agent, "agent_id": agent_id,
            "agent_version": agent_version, "model": model, "provider": provider,
            "request": request, "state": state, "metadata": metadata},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, thread_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, status: Union[Literal["queued", "running",
        "waiting_for_input", "paused", "completed", "failed", "cancelled"], Unset] = UNSET,
        agent: Union[str, Unset] = UNSET, parent_run_id: Union[str, Unset] = UNSET,
        include: Union[Literal["documents"], Unset] = UNSET, agent_id: Union[str, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Run]:
        """List the runs of a thread, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        parent_run_id: the children of this run
        include: documents: user_input, request, state, input, content, final_output … too
        """
        return self._caller.page(
            _operations.THREADS_RUNS_LIST, [thread_id], query={"cursor": cursor, "limit": limit,
            "status": status, "agent": agent, "parent_run_id": parent_run_id, "include": include,
            "agent_id": agent_id}, options=Options(principal=principal, consistency=consistency,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncThreadsEvents(AsyncFollowThread):
    """threads.events"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    @overload
    async def append(
        self, thread_id: str, *, events: Sequence[types.EventInput],
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.EventsAppended: ...

    @overload
    async def append(
        self, thread_id: str, *, kind: Union[str, Unset] = UNSET,
        text: Union[Optional[str], Unset] = UNSET, payload: Any = UNSET,
        run_id: Union[Optional[str], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Event: ...

    async def append(
        self, thread_id: str, *, kind: Union[str, Unset] = UNSET,
        text: Union[Optional[str], Unset] = UNSET, payload: Any = UNSET,
        run_id: Union[Optional[str], Unset] = UNSET,
        events: Union[Sequence[types.EventInput], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> Union[types.EventsAppended, types.Event]:
        """Append one event, or many at once.

        kind: progress, status, warning, error, final, or an application kind with a dot
        text: for people
        payload: for programs
        run_id: the run of this thread that it tells of
        events: many events instead of one; all are appended or none
        """
        answer: Union[types.EventsAppended, types.Event] = await self._caller.call(
            _operations.THREADS_EVENTS_APPEND, [thread_id], body={"kind": kind, "text": text,
            "payload": payload, "run_id": run_id, "events": events},
            options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, thread_id: str, *, after: Union[Position, Unset] = UNSET,
        kind: Union[str, Unset] = UNSET, run_id: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, wait: Union[int, Unset] = UNSET,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Event]:
        """Read events after a cursor; ?wait= is a long poll.

        after: the cursor: events after it. Absent: from the oldest that is kept
        limit: events a page, 100 unless told
        wait: seconds to wait for an event when there is none
        """
        return self._caller.page(
            _operations.THREADS_EVENTS_LIST, [thread_id],
            query={"after": after, "kind": kind, "run_id": run_id, "limit": limit, "wait": wait},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )

    async def prune(
        self, thread_id: str, *, through_seq: Union[int, Unset] = UNSET,
        older_than: Union[Time, Unset] = UNSET, finished: Union[bool, Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.EventsPruned:
        """Remove the oldest events of a thread.

        through_seq: events up to this one
        older_than: events before this time
        finished: events before the first one of a run that still goes on
        """
        answer: types.EventsPruned = await self._caller.call(
            _operations.THREADS_EVENTS_PRUNE, [thread_id],
            body={"through_seq": through_seq, "older_than": older_than, "finished": finished},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsParticipantsMe:
    """threads.participants.me"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def get(
        self, thread_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """Read your own participant."""
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_ME_GET, [thread_id],
            options=Options(if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, *, role: Union[Literal["user", "assistant"], Unset] = UNSET,
        name: Union[str, Unset] = UNSET, image: Union[Optional[str], Unset] = UNSET,
        status: Union[Optional[str], Unset] = UNSET,
        permission: Union[Literal["read", "read_write"], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, active: Union[bool, Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """Change your own participant.

        role: user, and assistant for an agent, unless told
        name: that of the principal unless told
        image: where a picture of it is
        status: what it is doing, in its own words
        permission: read_write unless told
        active: who has left is not, and has no access
        """
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_ME_UPDATE, [thread_id], body={"role": role,
            "name": name, "image": image, "status": status, "permission": permission,
            "metadata": metadata, "active": active}, json_patch=json_patch,
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def leave(
        self, thread_id: str, *, if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """Leave a thread."""
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_ME_LEAVE, [thread_id],
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def heartbeat(
        self, thread_id: str, *, ttl_s: Union[int, Unset] = UNSET,
        status: Union[str, Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """Say that you are online.

        ttl_s: seconds that it counts as online, 60 unless told; 0: it is not any more
        status: what it is doing, in its own words
        """
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_ME_HEARTBEAT, [thread_id],
            body={"ttl_s": ttl_s, "status": status},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsParticipants:
    """threads.participants"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.me = AsyncThreadsParticipantsMe(caller)

    async def add(
        self, thread_id: str, *, principal: str,
        role: Union[Literal["user", "assistant"], Unset] = UNSET, name: Union[str, Unset] = UNSET,
        image: Union[Optional[str], Unset] = UNSET, status: Union[Optional[str], Unset] = UNSET,
        permission: Union[Literal["read", "read_write"], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, idempotency_key: Optional[str] = None,
        request_principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """Add a participant, or let one who has left take part again.

        principal: user:NAME or agent:UUID; one participant each
        role: user, and assistant for an agent, unless told
        name: that of the principal unless told
        image: where a picture of it is
        status: what it is doing, in its own words
        permission: read_write unless told
        """
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_ADD, [thread_id], body={"principal": principal,
            "role": role, "name": name, "image": image, "status": status, "permission": permission,
            "metadata": metadata}, options=Options(idempotency_key=idempotency_key,
            principal=request_principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, thread_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, active: Union[bool, Unset] = UNSET,
        role: Union[Literal["user", "assistant"], Unset] = UNSET,
        principal: Union[str, Unset] = UNSET, request_principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Participant]:
        """List the participants of a thread, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        active: true: those who take part now; false: those who have left
        """
        return self._caller.page(
            _operations.THREADS_PARTICIPANTS_LIST, [thread_id], query={"cursor": cursor,
            "limit": limit, "active": active, "role": role, "principal": principal},
            options=Options(principal=request_principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )

    async def get(
        self, thread_id: str, participant_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """Read a participant."""
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_GET, [thread_id, participant_id],
            options=Options(if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, participant_id: str, *,
        role: Union[Literal["user", "assistant"], Unset] = UNSET, name: Union[str, Unset] = UNSET,
        image: Union[Optional[str], Unset] = UNSET, status: Union[Optional[str], Unset] = UNSET,
        permission: Union[Literal["read", "read_write"], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, active: Union[bool, Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """Change a participant.

        role: user, and assistant for an agent, unless told
        name: that of the principal unless told
        image: where a picture of it is
        status: what it is doing, in its own words
        permission: read_write unless told
        active: who has left is not, and has no access
        """
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_UPDATE, [thread_id, participant_id],
            body={"role": role, "name": name, "image": image, "status": status,
            "permission": permission, "metadata": metadata, "active": active},
            json_patch=json_patch, options=Options(if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def remove(
        self, thread_id: str, participant_id: str, *, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """End the access of a participant, who stays a sender of messages."""
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_REMOVE, [thread_id, participant_id],
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def heartbeat(
        self, thread_id: str, participant_id: str, *, ttl_s: Union[int, Unset] = UNSET,
        status: Union[str, Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Participant:
        """Say that a participant is online.

        ttl_s: seconds that it counts as online, 60 unless told; 0: it is not any more
        status: what it is doing, in its own words
        """
        answer: types.Participant = await self._caller.call(
            _operations.THREADS_PARTICIPANTS_HEARTBEAT, [thread_id, participant_id],
            body={"ttl_s": ttl_s, "status": status},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsMessagesVersions:
    """threads.messages.versions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, thread_id: str, message_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, include: Union[Literal["debug"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.MessageVersion]:
        """List what a message was before, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: debug: in the metadata, too
        """
        return self._caller.page(
            _operations.THREADS_MESSAGES_VERSIONS_LIST, [thread_id, message_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncThreadsMessages:
    """threads.messages"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.versions = AsyncThreadsMessagesVersions(caller)

    @overload
    async def create(
        self, thread_id: str, *, messages: Sequence[types.MessageInput],
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.MessagesCreated: ...

    @overload
    async def create(
        self, thread_id: str, *, content: Union[str, Unset] = UNSET,
        content_type: Union[str, Unset] = UNSET, type: Union[Literal["chat", "command",
        "command-response", "log", "note", "notice"], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET,
        filenames: Union[Sequence[str], Unset] = UNSET,
        sender_id: Union[Optional[str], Unset] = UNSET, run_id: Union[Optional[str], Unset] = UNSET,
        responds_to: Union[Optional[str], Unset] = UNSET,
        addressed_to: Union[Optional[str], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Message: ...

    async def create(
        self, thread_id: str, *, content: Union[str, Unset] = UNSET,
        content_type: Union[str, Unset] = UNSET, type: Union[Literal["chat", "command",
        "command-response", "log", "note", "notice"], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET,
        filenames: Union[Sequence[str], Unset] = UNSET,
        sender_id: Union[Optional[str], Unset] = UNSET, run_id: Union[Optional[str], Unset] = UNSET,
        responds_to: Union[Optional[str], Unset] = UNSET,
        addressed_to: Union[Optional[str], Unset] = UNSET,
        messages: Union[Sequence[types.MessageInput], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> Union[types.MessagesCreated, types.Message]:
        """Send one message, or many at once.

        content: must be given, and may be empty; of a command: /name argument key=value
        type: chat unless told
        metadata: at most 100 KiB besides debug, which may have a mebibyte
        filenames: names of files of the thread
        sender_id: a participant; a key that acts for a principal sends as that one
        run_id: the run of this thread that it belongs to
        responds_to: a message of this thread; of a command-response: the command
        addressed_to: of a command: the participant that is to carry it out
        messages: many messages instead of one; all are created or none
        """
        answer: Union[types.MessagesCreated, types.Message] = await self._caller.call(
            _operations.THREADS_MESSAGES_CREATE, [thread_id], body={"content": content,
            "content_type": content_type, "type": type, "metadata": metadata,
            "filenames": filenames, "sender_id": sender_id, "run_id": run_id,
            "responds_to": responds_to, "addressed_to": addressed_to, "messages": messages},
            options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, thread_id: str, *, before: Union[Position, Unset] = UNSET,
        after: Union[Position, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        type: Union[Literal["chat", "command", "command-response", "log", "note", "notice"],
        Unset] = UNSET, sender_id: Union[str, Unset] = UNSET, run_id: Union[str, Unset] = UNSET,
        include: Union[Literal["debug"], Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Message]:
        """Read messages before or after a cursor.

        before: a cursor: messages before it, newest first; so is a page without a cursor
        after: a cursor: messages after it, oldest first; 0: from the first one
        limit: items a page, 50 unless told
        include: debug: in the metadata, too
        """
        return self._caller.page(
            _operations.THREADS_MESSAGES_LIST, [thread_id], query={"before": before, "after": after,
            "limit": limit, "type": type, "sender_id": sender_id, "run_id": run_id,
            "include": include}, options=Options(principal=principal, consistency=consistency,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )

    def search(
        self, thread_id: str, *, q: Union[str, Unset] = UNSET, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Message]:
        """Find messages of a thread by their words, newest first.

        q: words that must all be there: word "a phrase" begin* -not
        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.THREADS_MESSAGES_SEARCH, [thread_id],
            query={"q": q, "cursor": cursor, "limit": limit}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def get(
        self, thread_id: str, message_id: str, *, include: Union[Literal["debug"], Unset] = UNSET,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Message:
        """Read a message.

        include: debug: in the metadata, too
        """
        answer: types.Message = await self._caller.call(
            _operations.THREADS_MESSAGES_GET, [thread_id, message_id], query={"include": include},
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, message_id: str, *, content: Union[str, Unset] = UNSET,
        content_type: Union[str, Unset] = UNSET, metadata: Union[Mapping[str, Any], Unset] = UNSET,
        filenames: Union[Sequence[str], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Message:
        """Edit a message; its version before is kept.

        content_type: what the content is; text/plain unless told
        metadata: your own, and attribution, href, footer_items, tool_calls, tool_result; debug is
            kept apart, and in an answer only when asked for
        filenames: names of files of the thread
        """
        answer: types.Message = await self._caller.call(
            _operations.THREADS_MESSAGES_UPDATE, [thread_id, message_id], body={"content": content,
            "content_type": content_type, "metadata": metadata, "filenames": filenames},
            json_patch=json_patch, options=Options(if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, thread_id: str, message_id: str, *, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a message: a tombstone stays, and its history."""
        await self._caller.call(
            _operations.THREADS_MESSAGES_DELETE, [thread_id, message_id],
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def debug(
        self, thread_id: str, message_id: str, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.MessageDebug:
        """Read the debug data of a message."""
        answer: types.MessageDebug = await self._caller.call(
            _operations.THREADS_MESSAGES_DEBUG, [thread_id, message_id],
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsCheckpointsWrites:
    """threads.checkpoints.writes"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def put(
        self, thread_id: str, checkpoint_id: str, *, task_id: str,
        writes: Sequence[types.CheckpointWrite], task_path: Union[str, Unset] = UNSET,
        ahead: Union[bool, Unset] = UNSET, namespace: Union[str, Unset] = UNSET,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.CheckpointWritten:
        """Write what a task has done towards the next checkpoint; the first one wins.

        ahead: the checkpoint may be yet to come
        namespace: unless given, the outermost one that has it
        """
        answer: types.CheckpointWritten = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_WRITES_PUT, [thread_id, checkpoint_id],
            query={"namespace": namespace},
            body={"task_id": task_id, "task_path": task_path, "ahead": ahead, "writes": writes},
            options=Options(principal=principal, fencing_token=fencing_token, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def get(
        self, thread_id: str, checkpoint_id: str, *, namespace: Union[str, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.CheckpointWrites:
        """Read the pending writes of a checkpoint.

        namespace: unless given, the outermost one that has it
        """
        answer: types.CheckpointWrites = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_WRITES_GET, [thread_id, checkpoint_id],
            query={"namespace": namespace}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsCheckpoints:
    """threads.checkpoints"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.writes = AsyncThreadsCheckpointsWrites(caller)

    async def put(
        self, thread_id: str, *, id: Union[str, Unset] = UNSET,
        namespace: Union[str, Unset] = UNSET, parent_id: Union[Optional[str], Unset] = UNSET,
        expected_latest: Union[Optional[str], Unset] = UNSET,
        run_id: Union[Optional[str], Unset] = UNSET,
        channel_values: Union[Mapping[str, Any], Unset] = UNSET,
        changes: Union[types.CheckpointChanges, Unset] = UNSET,
        channel_versions: Union[Mapping[str, Any], Unset] = UNSET,
        versions_seen: Union[Mapping[str, Any], Unset] = UNSET,
        pending_sends: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET,
        node: Union[Optional[str], Unset] = UNSET, replace: Union[bool, Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Checkpoint:
        """Put a checkpoint, whole or as what changed.

        id: any UUID; a new one of version 7 unless given
        namespace: "", the outermost graph, unless given
        parent_id: the latest of the namespace unless given; null: none
        expected_latest: refuse with 409 when the latest is another one; null: when there is any
        channel_values: whole; or else changes
        changes: what differs from the values of the parent
        channel_versions: a number or a string for each channel
        versions_seen: for each node, the versions that it has seen
        pending_sends: [{channel, value}]: tool calls and messages that are queued
        metadata: its scalar members can be filtered by
        node: where in the graph, for lists
        replace: write over a checkpoint of this id, instead of 409
        """
        answer: types.Checkpoint = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_PUT, [thread_id], body={"id": id,
            "namespace": namespace, "parent_id": parent_id, "expected_latest": expected_latest,
            "run_id": run_id, "channel_values": channel_values, "changes": changes,
            "channel_versions": channel_versions, "versions_seen": versions_seen,
            "pending_sends": pending_sends, "metadata": metadata, "node": node, "replace": replace},
            options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, thread_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, namespace: Union[str, Unset] = UNSET,
        id_before: Union[str, Unset] = UNSET,
        include: Union[Literal["values", "writes", "all"], Unset] = UNSET,
        before: Union[str, Unset] = UNSET, run_id: Union[str, Unset] = UNSET,
        metadata: Optional[Mapping[str, Scalar]] = None, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Checkpoint]:
        """List the checkpoints of a thread, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        namespace: only this one; empty: the outermost graph
        id_before: those whose ids are smaller than this one, which nobody need have
        include: values (with their versions), writes, or all of it
        before: those that were put before this checkpoint
        """
        return self._caller.page(
            _operations.THREADS_CHECKPOINTS_LIST, [thread_id], query={"cursor": cursor,
            "limit": limit, "namespace": namespace, "id_before": id_before, "include": include,
            "before": before, "run_id": run_id, **metadata_filter(metadata)},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def delete_all(
        self, thread_id: str, *, namespace: Union[str, Unset] = UNSET,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.CheckpointsPruned:
        """Delete the checkpoints of a thread or of one namespace.

        namespace: only this one; empty: the outermost graph
        """
        answer: types.CheckpointsPruned = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_DELETE_ALL, [thread_id], query={"namespace": namespace},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def latest(
        self, thread_id: str, *, namespace: Union[str, Unset] = UNSET,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Checkpoint:
        """Read the latest checkpoint of a namespace, with values and pending writes.

        namespace: unless given, the outermost one that has it
        """
        answer: types.Checkpoint = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_LATEST, [thread_id], query={"namespace": namespace},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def get(
        self, thread_id: str, checkpoint_id: str, *, namespace: Union[str, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Checkpoint:
        """Read a checkpoint with its values and pending writes.

        namespace: unless given, the outermost one that has it
        """
        answer: types.Checkpoint = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_GET, [thread_id, checkpoint_id],
            query={"namespace": namespace}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def deltas(
        self, thread_id: str, checkpoint_id: str, *, channels: Sequence[str],
        namespace: Union[str, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.CheckpointDeltas:
        """Read what tasks wrote to channels on the line of parents since their values.

        namespace: unless given, the outermost one that has the checkpoint
        channels: their names
        """
        answer: types.CheckpointDeltas = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_DELTAS, [thread_id, checkpoint_id],
            body={"namespace": namespace, "channels": channels},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def prune(
        self, thread_id: str, *, keep_latest: Union[int, Unset] = UNSET,
        older_than: Union[Time, Unset] = UNSET, older_than_s: Union[int, Unset] = UNSET,
        namespace: Union[str, Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.CheckpointsPruned:
        """Remove the oldest checkpoints, by number or by age.

        keep_latest: how many stay in each namespace; 1 unless given
        older_than: only what was put before this time
        older_than_s: the same as an age in seconds
        namespace: only this one
        """
        answer: types.CheckpointsPruned = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_PRUNE, [thread_id], body={"keep_latest": keep_latest,
            "older_than": older_than, "older_than_s": older_than_s, "namespace": namespace},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def copy(
        self, thread_id: str, *, to_thread_id: str, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.CheckpointsCopied:
        """Copy the checkpoints of a thread to another thread."""
        answer: types.CheckpointsCopied = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_COPY, [thread_id], body={"to_thread_id": to_thread_id},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def diff(
        self, thread_id: str, checkpoint_id: str, other_id: str, *,
        namespace: Union[str, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.CheckpointDiff:
        """Compare two checkpoints, channel by channel.

        namespace: unless given, the outermost one that has it
        """
        answer: types.CheckpointDiff = await self._caller.call(
            _operations.THREADS_CHECKPOINTS_DIFF, [thread_id, checkpoint_id, other_id],
            query={"namespace": namespace}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsSharesRedemptions:
    """threads.shares.redemptions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, thread_id: str, share_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Redemption]:
        """List who redeemed a share, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.THREADS_SHARES_REDEMPTIONS_LIST, [thread_id, share_id],
            query={"cursor": cursor, "limit": limit}, options=Options(principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncThreadsShares:
    """threads.shares"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.redemptions = AsyncThreadsSharesRedemptions(caller)

    async def create(
        self, thread_id: str, *, kind: Literal["participate", "copy"],
        permission: Union[Literal["read", "read_write"], Unset] = UNSET,
        label: Union[Optional[str], Unset] = UNSET,
        max_redemptions: Union[Optional[int], Unset] = UNSET,
        expires_at: Union[Optional[Time], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.ShareCreated:
        """Create a share of a thread; its token is shown once.

        kind: participate: in this thread; copy: in a thread of one's own, made from it
        permission: read unless told; of a copy read_write
        label: for people to read
        max_redemptions: how often it can be redeemed; any number of times when absent
        expires_at: from then on it cannot be redeemed; access that it gave stays
        """
        answer: types.ShareCreated = await self._caller.call(
            _operations.THREADS_SHARES_CREATE, [thread_id], body={"kind": kind,
            "permission": permission, "label": label, "max_redemptions": max_redemptions,
            "expires_at": expires_at}, options=Options(idempotency_key=idempotency_key,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, thread_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Share]:
        """List the shares of a thread, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.THREADS_SHARES_LIST, [thread_id], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )

    async def get(
        self, thread_id: str, share_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Share:
        """Read a share."""
        answer: types.Share = await self._caller.call(
            _operations.THREADS_SHARES_GET, [thread_id, share_id],
            options=Options(if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def revoke(
        self, thread_id: str, share_id: str, *, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Share:
        """Revoke a share; the access that it gave ends, also of open streams."""
        answer: types.Share = await self._caller.call(
            _operations.THREADS_SHARES_REVOKE, [thread_id, share_id],
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsFilesVersions:
    """threads.files.versions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, thread_id: str, name: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.FileVersion]:
        """List the versions of a file, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.THREADS_FILES_VERSIONS_LIST, [thread_id, name],
            query={"cursor": cursor, "limit": limit}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    def download(
        self, thread_id: str, name: str, version: int, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncDownloads:
        """Read the bytes of a version."""
        return self._caller.download(
            _operations.THREADS_FILES_VERSIONS_DOWNLOAD, [thread_id, name, version],
            options=Options(if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def delete(
        self, thread_id: str, name: str, version: int, *, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a version; with the last one the file goes."""
        await self._caller.call(
            _operations.THREADS_FILES_VERSIONS_DELETE, [thread_id, name, version],
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncThreadsFiles(AsyncResumableUploads):
    """threads.files"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.versions = AsyncThreadsFilesVersions(caller)

    def list(
        self, thread_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, prefix: Union[str, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.File]:
        """List the files of a thread by their names.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        prefix: what the names begin with
        """
        return self._caller.page(
            _operations.THREADS_FILES_LIST, [thread_id],
            query={"cursor": cursor, "limit": limit, "prefix": prefix},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def upload(
        self, thread_id: str, name: str, content: AsyncContent, *,
        content_type: Optional[str] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, if_none_match: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.File:
        """Upload a file, or the next version of one."""
        answer: types.File = await self._caller.call(
            _operations.THREADS_FILES_UPLOAD, [thread_id, name],
            content=content, content_type=content_type, options=Options(if_match=if_match,
            principal=principal, if_none_match=if_none_match, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def download(
        self, thread_id: str, name: str, *, version: Union[int, Unset] = UNSET,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncDownloads:
        """Read the bytes of a file, of the newest version unless told.

        version: which one; the newest unless told
        """
        return self._caller.download(
            _operations.THREADS_FILES_DOWNLOAD, [thread_id, name], query={"version": version},
            options=Options(if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def delete(
        self, thread_id: str, name: str, *, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a file with all of its versions."""
        await self._caller.call(
            _operations.THREADS_FILES_DELETE, [thread_id, name], options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def get(
        self, thread_id: str, name: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.File:
        """Read what is known of a file."""
        answer: types.File = await self._caller.call(
            _operations.THREADS_FILES_GET, [thread_id, name],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, name: str, *, metadata: Union[Mapping[str, Any], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.File:
        """Change a file's metadata.

        metadata: an object of your own
        """
        answer: types.File = await self._caller.call(
            _operations.THREADS_FILES_UPDATE, [thread_id, name], body={"metadata": metadata},
            json_patch=json_patch, options=Options(if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    @overload
    async def diff(
        self, thread_id: str, name: str, *, format: Literal["text"],
        from_: Union[int, Unset] = UNSET, to: Union[int, Unset] = UNSET,
        context: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> str: ...

    @overload
    async def diff(
        self, thread_id: str, name: str, *, format: Union[Literal["json"], Unset] = UNSET,
        from_: Union[int, Unset] = UNSET, to: Union[int, Unset] = UNSET,
        context: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.FileDiff: ...

    async def diff(
        self, thread_id: str, name: str, *, from_: Union[int, Unset] = UNSET,
        to: Union[int, Unset] = UNSET, format: Union[Literal["json", "text"], Unset] = UNSET,
        context: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Union[str, types.FileDiff]:
        """Compare two versions of a text, line by line.

        from_: the old version; the one before `to` unless told
        to: the new version; the newest unless told
        format: text: a unified diff, as Accept: text/x-diff asks for too
        context: unchanged lines around each change; 3 unless told
        """
        answer: Union[str, types.FileDiff] = await self._caller.call(
            _operations.THREADS_FILES_DIFF, [thread_id, name],
            query={"from": from_, "to": to, "format": format, "context": context},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def restore(
        self, thread_id: str, name: str, *, version: int, idempotency_key: Optional[str] = None,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.File:
        """Bring an old version back as a new one.

        version: the one to bring back
        """
        answer: types.File = await self._caller.call(
            _operations.THREADS_FILES_RESTORE, [thread_id, name], body={"version": version},
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def copy(
        self, thread_id: str, name: str, *, to_thread_id: str,
        to_name: Union[Optional[str], Unset] = UNSET, version: Union[Optional[int], Unset] = UNSET,
        history: Union[bool, Unset] = UNSET,
        if_exists: Union[Literal["refuse", "add_version"], Unset] = UNSET,
        idempotency_key: Optional[str] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.File:
        """Copy a file to another thread or name.

        to_thread_id: where it goes
        to_name: what it is called there; as here unless told
        version: which one; the current one unless told
        history: the versions before it too
        if_exists: when there is a file of that name: refuse, unless told to add_version
        """
        answer: types.File = await self._caller.call(
            _operations.THREADS_FILES_COPY, [thread_id, name], body={"thread_id": to_thread_id,
            "name": to_name, "version": version, "history": history, "if_exists": if_exists},
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreadsUploads:
    """threads.uploads"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self, thread_id: str, *, name: str, size_bytes: int,
        content_type: Union[Optional[str], Unset] = UNSET,
        expected_version: Union[Optional[int], Unset] = UNSET,
        sha256: Union[Optional[str], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Upload:
        """Begin an upload that can be resumed.

        name: of the file that it becomes a version of
        size_bytes: of the whole
        content_type: guessed by the name unless told
        expected_version: what the file's version must be when it is completed; 0: no file is there
        sha256: of the whole, in hexadecimal: what came is compared with it
        """
        answer: types.Upload = await self._caller.call(
            _operations.THREADS_UPLOADS_CREATE, [thread_id], body={"name": name,
            "size_bytes": size_bytes, "content_type": content_type,
            "expected_version": expected_version, "sha256": sha256},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, thread_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Upload]:
        """List the uploads that are under way, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.THREADS_UPLOADS_LIST, [thread_id], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )

    async def get(
        self, thread_id: str, upload_id: str, *, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Upload:
        """Read how far an upload has come."""
        answer: types.Upload = await self._caller.call(
            _operations.THREADS_UPLOADS_GET, [thread_id, upload_id],
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def append(
        self, thread_id: str, upload_id: str, content: AsyncContent, *,
        content_type: Optional[str] = None, offset: Union[int, Unset] = UNSET,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Upload:
        """Append bytes to an upload, from Upload-Offset on.

        offset: where the bytes belong, for who cannot send the header Upload-Offset
        """
        answer: types.Upload = await self._caller.call(
            _operations.THREADS_UPLOADS_APPEND, [thread_id, upload_id], query={"offset": offset},
            content=content, content_type=content_type, options=Options(principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, thread_id: str, upload_id: str, *, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Give an upload up."""
        await self._caller.call(
            _operations.THREADS_UPLOADS_DELETE, [thread_id, upload_id],
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )

    async def complete(
        self, thread_id: str, upload_id: str, *, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.File:
        """Make a version of an upload that has all of its bytes."""
        answer: types.File = await self._caller.call(
            _operations.THREADS_UPLOADS_COMPLETE, [thread_id, upload_id],
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncThreads:
    """threads"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.by_key = AsyncThreadsByKey(caller)
        self.states = AsyncThreadsStates(caller)
        self.agents = AsyncThreadsAgents(caller)
        self.resumption = AsyncThreadsResumption(caller)
        self.history = AsyncThreadsHistory(caller)
        self.runs = AsyncThreadsRuns(caller)
        self.events = AsyncThreadsEvents(caller)
        self.participants = AsyncThreadsParticipants(caller)
        self.messages = AsyncThreadsMessages(caller)
        self.checkpoints = AsyncThreadsCheckpoints(caller)
        self.shares = AsyncThreadsShares(caller)
        self.files = AsyncThreadsFiles(caller)
        self.uploads = AsyncThreadsUploads(caller)

    async def create(
        self, *, key: Union[Optional[str], Unset] = UNSET,
        status: Union[Literal["active", "paused", "cancelled", "error"], Unset] = UNSET,
        title: Union[Optional[str], Unset] = UNSET, agent: Union[Optional[str], Unset] = UNSET,
        context: Union[Mapping[str, Any], Unset] = UNSET,
        preferences: Union[Mapping[str, Any], Unset] = UNSET, important_steps: Any = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET,
        error: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        run_policy: Union[Literal["reject", "enqueue", "interrupt", "rollback"], Unset] = UNSET,
        prune_on_completion: Union[bool, Unset] = UNSET,
        event_max_age_s: Union[Optional[int], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Thread:
        """Create a thread.

        key: your own id of the conversation; no two threads of a tenant have the same
        agent: who works on it; new runs take it over
        context: the conversation so far: summary, tail, meta
        metadata: its scalar members can be filtered by
        run_policy: what a start does while another run is active
        prune_on_completion: drop a run's events when it is finished
        event_max_age_s: drop events that are older
        """
        answer: types.Thread = await self._caller.call(
            _operations.THREADS_CREATE, [], body={"key": key, "status": status, "title": title,
            "agent": agent, "context": context, "preferences": preferences,
            "important_steps": important_steps, "metadata": metadata, "error": error,
            "run_policy": run_policy, "prune_on_completion": prune_on_completion,
            "event_max_age_s": event_max_age_s}, options=Options(idempotency_key=idempotency_key,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        key: Union[str, Unset] = UNSET,
        status: Union[Literal["active", "paused", "cancelled", "error"], Unset] = UNSET,
        agent: Union[str, Unset] = UNSET, title: Union[str, Unset] = UNSET,
        created_after: Union[Time, Unset] = UNSET, created_before: Union[Time, Unset] = UNSET,
        include: Union[Literal["documents"], Unset] = UNSET,
        metadata: Optional[Mapping[str, Scalar]] = None, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Thread]:
        """List threads, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        key: the one thread with this key
        title: a part of the title; ASCII letters of any case
        created_after: at or after
        include: documents: context, preferences and important_steps too
        """
        return self._caller.page(
            _operations.THREADS_LIST, [], query={"cursor": cursor, "limit": limit, "key": key,
            "status": status, "agent": agent, "title": title, "created_after": created_after,
            "created_before": created_before, "include": include, **metadata_filter(metadata)},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, thread_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Thread:
        """Read a thread."""
        answer: types.Thread = await self._caller.call(
            _operations.THREADS_GET, [thread_id], options=Options(if_none_match=if_none_match,
            principal=principal, consistency=consistency, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def update(
        self, thread_id: str, *, key: Union[Optional[str], Unset] = UNSET,
        status: Union[Literal["active", "paused", "cancelled", "error"], Unset] = UNSET,
        title: Union[Optional[str], Unset] = UNSET, agent: Union[Optional[str], Unset] = UNSET,
        context: Union[Mapping[str, Any], Unset] = UNSET,
        preferences: Union[Mapping[str, Any], Unset] = UNSET, important_steps: Any = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET,
        error: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        run_policy: Union[Literal["reject", "enqueue", "interrupt", "rollback"], Unset] = UNSET,
        prune_on_completion: Union[bool, Unset] = UNSET,
        event_max_age_s: Union[Optional[int], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Thread:
        """Change a thread.

        key: your own id of the conversation; no two threads of a tenant have the same
        agent: who works on it; new runs take it over
        context: the conversation so far: summary, tail, meta
        metadata: its scalar members can be filtered by
        run_policy: what a start does while another run is active
        prune_on_completion: drop a run's events when it is finished
        event_max_age_s: drop events that are older
        """
        answer: types.Thread = await self._caller.call(
            _operations.THREADS_UPDATE, [thread_id], body={"key": key, "status": status,
            "title": title, "agent": agent, "context": context, "preferences": preferences,
            "important_steps": important_steps, "metadata": metadata, "error": error,
            "run_policy": run_policy, "prune_on_completion": prune_on_completion,
            "event_max_age_s": event_max_age_s}, json_patch=json_patch,
            options=Options(if_match=if_match, principal=principal, fencing_token=fencing_token,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, thread_id: str, *, if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a thread, its runs and its events."""
        await self._caller.call(
            _operations.THREADS_DELETE, [thread_id], options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def pause(
        self, thread_id: str, *, idempotency_key: Optional[str] = None,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Thread:
        """Pause a thread and its active runs."""
        answer: types.Thread = await self._caller.call(
            _operations.THREADS_PAUSE, [thread_id], options=Options(idempotency_key=idempotency_key,
            if_match=if_match, principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def resume(
        self, thread_id: str, *, idempotency_key: Optional[str] = None,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Thread:
        """Make a thread active again and resume its paused runs."""
        answer: types.Thread = await self._caller.call(
            _operations.THREADS_RESUME, [thread_id],
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def cancel(
        self, thread_id: str, *, reason: Union[Optional[str], Unset] = UNSET,
        idempotency_key: Optional[str] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Thread:
        """Cancel a thread and its active runs.

        reason: told in the event
        """
        answer: types.Thread = await self._caller.call(
            _operations.THREADS_CANCEL, [thread_id], body={"reason": reason},
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def export(
        self, thread_id: str, *, principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncDownloads:
        """Export a thread with all that is in it, as a tar file."""
        return self._caller.download(
            _operations.THREADS_EXPORT, [thread_id], options=Options(principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def context(
        self, thread_id: str, *, history_runs: Union[int, Unset] = UNSET,
        max_tokens: Union[int, Unset] = UNSET, include_system: Union[bool, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.ThreadContext:
        """Read the messages of the last runs, within a budget of tokens.

        history_runs: the last completed runs to take, 5 unless told
        max_tokens: the budget, 1000000 unless told; tokens are estimated
        include_system: begin with the system prompt of the thread's resumption
        """
        answer: types.ThreadContext = await self._caller.call(
            _operations.THREADS_CONTEXT, [thread_id], query={"history_runs": history_runs,
            "max_tokens": max_tokens, "include_system": include_system},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def notebook(
        self, thread_id: str, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Notebook:
        """Read the notebook that a thread is in."""
        answer: types.Notebook = await self._caller.call(
            _operations.THREADS_NOTEBOOK, [thread_id], options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def recovery(
        self, thread_id: str, *, checkpoint_id: Union[str, Unset] = UNSET,
        namespace: Union[str, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Recovery:
        """Read the newest state of a thread that is intact, and what to do again.

        checkpoint_id: this one, or an ancestor of it; the latest unless given
        namespace: the outermost graph unless given
        """
        answer: types.Recovery = await self._caller.call(
            _operations.THREADS_RECOVERY, [thread_id],
            query={"checkpoint_id": checkpoint_id, "namespace": namespace},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer


class AsyncArchives:
    """archives"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def export(
        self, *, principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncDownloads:
        """Export all threads and agents of the tenant, as a tar file."""
        return self._caller.download(
            _operations.ARCHIVES_EXPORT, [], options=Options(principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def import_archive(
        self, content: AsyncContent, *, content_type: Optional[str] = None,
        ids: Union[Literal["keep", "remap"], Unset] = UNSET, dry_run: Union[bool, Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Import:
        """Import an archive: all of it or nothing.

        ids: keep them, or remap to new ones; keep unless told
        dry_run: verify it and look for conflicts, and change nothing
        """
        answer: types.Import = await self._caller.call(
            _operations.ARCHIVES_IMPORT_ARCHIVE, [], query={"ids": ids, "dry_run": dry_run},
            content=content, content_type=content_type,
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncRunsTools:
    """runs.tools"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def ask(
        self, run_id: str, *, tools: Sequence[types.ToolAsked],
        backend_results: Union[Sequence[types.BackendResult], Unset] = UNSET,
        current_step: Union[int, Unset] = UNSET,
        messages: Union[Sequence[Mapping[str, Any]], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.ToolsPause:
        """Pause a run until the results of tools are in.

        backend_results: that the engine has already, to go with the others
        current_step: of the thread's resumption
        messages: of the thread's resumption
        """
        answer: types.ToolsPause = await self._caller.call(
            _operations.RUNS_TOOLS_ASK, [run_id], body={"tools": tools,
            "backend_results": backend_results, "current_step": current_step, "messages": messages},
            options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, run_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        open: Union[bool, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.AwaitedTool]:
        """List the tools that a run has waited for.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        open: true: only those whose results are missing
        """
        return self._caller.page(
            _operations.RUNS_TOOLS_LIST, [run_id],
            query={"cursor": cursor, "limit": limit, "open": open},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def answer(
        self, run_id: str, *, results: Sequence[types.ToolResult],
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.ToolsSettled:
        """Give results of tools; with the last one a run goes on."""
        answer: types.ToolsSettled = await self._caller.call(
            _operations.RUNS_TOOLS_ANSWER, [run_id], body={"results": results},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncRunsPhases:
    """runs.phases"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, run_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.RunPhase]:
        """List the changes of phase of a run, oldest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.RUNS_PHASES_LIST, [run_id], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncRunsTurns:
    """runs.turns"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self, run_id: str, *, input: types.TurnInput, status: Union[Literal["running", "complete",
        "awaiting_tool", "awaiting_human", "failed", "cancelled"], Unset] = UNSET,
        output: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        latency_ms: Union[Optional[int], Unset] = UNSET,
        checkpoint_id: Union[Optional[str], Unset] = UNSET,
        usage: Union[Optional[types.TurnUsageBody], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Turn:
        """Begin a turn of a run, or record a whole one.

        status: running, unless the output tells otherwise
        output: a message, tool_calls …; its status, if it has one, is the turn's
        checkpoint_id: of the run's thread
        usage: of one call of a model; its cost is computed
        """
        answer: types.Turn = await self._caller.call(
            _operations.RUNS_TURNS_CREATE, [run_id], body={"input": input, "status": status,
            "output": output, "latency_ms": latency_ms, "checkpoint_id": checkpoint_id,
            "usage": usage}, options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, run_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        include: Union[Literal["documents"], Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Turn]:
        """List the turns of a run, oldest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: documents: input and output too
        """
        return self._caller.page(
            _operations.RUNS_TURNS_LIST, [run_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, run_id: str, turn_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Turn:
        """Read a turn of a run."""
        answer: types.Turn = await self._caller.call(
            _operations.RUNS_TURNS_GET, [run_id, turn_id],
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, run_id: str, turn_id: str, *, status: Union[Literal["running", "complete",
        "awaiting_tool", "awaiting_human", "failed", "cancelled"], Unset] = UNSET,
        output: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        latency_ms: Union[Optional[int], Unset] = UNSET,
        checkpoint_id: Union[Optional[str], Unset] = UNSET,
        usage: Union[Optional[types.TurnUsageBody], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Turn:
        """Complete or change a turn of a run.

        status: running, unless the output tells otherwise
        output: a message, tool_calls …; its status, if it has one, is the turn's
        checkpoint_id: of the run's thread
        usage: of one call of a model; its cost is computed
        """
        answer: types.Turn = await self._caller.call(
            _operations.RUNS_TURNS_UPDATE, [run_id, turn_id], body={"status": status,
            "output": output, "latency_ms": latency_ms, "checkpoint_id": checkpoint_id,
            "usage": usage}, json_patch=json_patch, options=Options(if_match=if_match,
            principal=principal, fencing_token=fencing_token, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncRunsUsage:
    """runs.usage"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def add(
        self, run_id: str, *, input_tokens: int, output_tokens: int,
        model: Union[Optional[str], Unset] = UNSET, provider: Union[Optional[str], Unset] = UNSET,
        turn_id: Union[Optional[str], Unset] = UNSET,
        cache_creation_input_tokens: Union[int, Unset] = UNSET,
        cache_read_input_tokens: Union[int, Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Cost:
        """Tell of a call of a model by a run, and get its cost.

        model: the run's unless told
        provider: the run's unless told
        turn_id: the turn of the run in which it happened
        input_tokens: neither written to a cache nor read from one
        cache_creation_input_tokens: written to a cache
        cache_read_input_tokens: read from a cache
        """
        answer: types.Cost = await self._caller.call(
            _operations.RUNS_USAGE_ADD, [run_id], body={"model": model, "provider": provider,
            "turn_id": turn_id, "input_tokens": input_tokens, "output_tokens": output_tokens,
            "cache_creation_input_tokens": cache_creation_input_tokens,
            "cache_read_input_tokens": cache_read_input_tokens},
            options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def get(
        self, run_id: str, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.RunCost:
        """Read what a run and its descendants used and cost."""
        answer: types.RunCost = await self._caller.call(
            _operations.RUNS_USAGE_GET, [run_id], options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncRunsSteps:
    """runs.steps"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    @overload
    async def append(
        self, run_id: str, *, steps: Sequence[types.StepInput],
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.StepsAppended: ...

    @overload
    async def append(
        self, run_id: str, *, log_id: Union[Optional[int], Unset] = UNSET,
        body_run_id: Union[Optional[str], Unset] = UNSET,
        agent_uuid: Union[Optional[str], Unset] = UNSET, action_type: Union[str, Unset] = UNSET,
        timestamp: Union[Optional[Time], Unset] = UNSET,
        step_number: Union[Optional[int], Unset] = UNSET,
        action_data: Union[Mapping[str, Any], Unset] = UNSET,
        messages_snapshot: Union[Optional[Sequence[Mapping[str, Any]]], Unset] = UNSET,
        messages_count: Union[Optional[int], Unset] = UNSET,
        estimated_tokens: Union[Optional[int], Unset] = UNSET,
        duration_ms: Union[Optional[int], Unset] = UNSET,
        turn_id: Union[Optional[str], Unset] = UNSET,
        tool_name: Union[Optional[str], Unset] = UNSET,
        tool_use_id: Union[Optional[str], Unset] = UNSET,
        outcome: Union[Optional[Literal["success", "error", "None"]], Unset] = UNSET,
        model: Union[Optional[str], Unset] = UNSET, provider: Union[Optional[str], Unset] = UNSET,
        usage: Union[Optional[types.StepUsage], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.StepRef: ...

    async def append(
        self, run_id: str, *, steps: Union[Sequence[types.StepInput], Unset] = UNSET,
        log_id: Union[Optional[int], Unset] = UNSET,
        body_run_id: Union[Optional[str], Unset] = UNSET,
        agent_uuid: Union[Optional[str], Unset] = UNSET, action_type: Union[str, Unset] = UNSET,
        timestamp: Union[Optional[Time], Unset] = UNSET,
        step_number: Union[Optional[int], Unset] = UNSET,
        action_data: Union[Mapping[str, Any], Unset] = UNSET,
        messages_snapshot: Union[Optional[Sequence[Mapping[str, Any]]], Unset] = UNSET,
        messages_count: Union[Optional[int], Unset] = UNSET,
        estimated_tokens: Union[Optional[int], Unset] = UNSET,
        duration_ms: Union[Optional[int], Unset] = UNSET,
        turn_id: Union[Optional[str], Unset] = UNSET,
        tool_name: Union[Optional[str], Unset] = UNSET,
        tool_use_id: Union[Optional[str], Unset] = UNSET,
        outcome: Union[Optional[Literal["success", "error", "None"]], Unset] = UNSET,
        model: Union[Optional[str], Unset] = UNSET, provider: Union[Optional[str], Unset] = UNSET,
        usage: Union[Optional[types.StepUsage], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> Union[types.StepsAppended, types.StepRef]:
        """Append one step to a run's log, or many at once.

        steps: many steps instead of one; all are appended or none
        log_id: of a line of a log; not kept, the step gets its own
        body_run_id: of a line of a log; must be this run
        agent_uuid: of a line of a log; must be the run's thread or agent
        action_type: run_started, tool_execution …, or an application's own with a dot
        timestamp: when it happened; now unless told
        step_number: 0 before the loop, then the iteration
        messages_snapshot: the messages at this point; kept for what is new in them
        messages_count: how many messages_snapshot has, unless told
        turn_id: the turn of this run that it belongs to
        tool_name: of tool_execution and tool_error also in action_data
        outcome: of types that have one, what the type and action_data say unless told
        model: that was called; of steps of a call also in action_data
        usage: the tokens of the call, which count for the run; also in action_data
        """
        answer: Union[types.StepsAppended, types.StepRef] = await self._caller.call(
            _operations.RUNS_STEPS_APPEND, [run_id], body={"steps": steps, "log_id": log_id,
            "run_id": body_run_id, "agent_uuid": agent_uuid, "action_type": action_type,
            "timestamp": timestamp, "step_number": step_number, "action_data": action_data,
            "messages_snapshot": messages_snapshot, "messages_count": messages_count,
            "estimated_tokens": estimated_tokens, "duration_ms": duration_ms, "turn_id": turn_id,
            "tool_name": tool_name, "tool_use_id": tool_use_id, "outcome": outcome, "model": model,
            "provider": provider, "usage": usage}, options=Options(idempotency_key=idempotency_key,
            principal=principal, fencing_token=fencing_token, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, run_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        include: Union[Literal["messages"], Unset] = UNSET, action_type: Union[str, Unset] = UNSET,
        step_number: Union[int, Unset] = UNSET, from_: Union[Time, Unset] = UNSET,
        to: Union[Time, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Step]:
        """List the steps of a run, oldest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: messages: the lists of messages, too
        step_number: of this iteration
        from_: at this time or later
        to: before this time
        """
        return self._caller.page(
            _operations.RUNS_STEPS_LIST, [run_id], query={"cursor": cursor, "limit": limit,
            "include": include, "action_type": action_type, "step_number": step_number,
            "from": from_, "to": to}, options=Options(principal=principal, consistency=consistency,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def get(
        self, run_id: str, number: int, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Step:
        """Read a step with its messages."""
        answer: types.Step = await self._caller.call(
            _operations.RUNS_STEPS_GET, [run_id, number], options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncRunsLlmCalls:
    """runs.llm_calls"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, run_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        include: Union[Literal["messages"], Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.LlmCall]:
        """List a run's calls of models, oldest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: messages: the lists of messages, too
        """
        return self._caller.page(
            _operations.RUNS_LLM_CALLS_LIST, [run_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncRunsToolCalls:
    """runs.tool_calls"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, run_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        include: Union[Literal["messages"], Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.ToolCall]:
        """List a run's calls of tools, oldest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: messages: the lists of messages, too
        """
        return self._caller.page(
            _operations.RUNS_TOOL_CALLS_LIST, [run_id],
            query={"cursor": cursor, "limit": limit, "include": include},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncRunsCheckpoints:
    """runs.checkpoints"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, run_id: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        namespace: Union[str, Unset] = UNSET, id_before: Union[str, Unset] = UNSET,
        include: Union[Literal["values", "writes", "all"], Unset] = UNSET,
        before: Union[str, Unset] = UNSET, metadata: Optional[Mapping[str, Scalar]] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.RunCheckpoint]:
        """List the checkpoints of a run, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        namespace: only this one; empty: the outermost graph
        id_before: those whose ids are smaller than this one, which nobody need have
        include: values (with their versions), writes, or all of it
        before: those that were put before this checkpoint
        """
        return self._caller.page(
            _operations.RUNS_CHECKPOINTS_LIST, [run_id], query={"cursor": cursor, "limit": limit,
            "namespace": namespace, "id_before": id_before, "include": include, "before": before,
            **metadata_filter(metadata)}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def get(
        self, run_id: str, checkpoint_id: str, *, namespace: Union[str, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.RunCheckpoint:
        """Read a checkpoint of a run, with its state.

        namespace: unless given, the outermost one that has it
        """
        answer: types.RunCheckpoint = await self._caller.call(
            _operations.RUNS_CHECKPOINTS_GET, [run_id, checkpoint_id],
            query={"namespace": namespace}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncRuns(AsyncWaitAndWork):
    """runs"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.tools = AsyncRunsTools(caller)
        self.phases = AsyncRunsPhases(caller)
        self.turns = AsyncRunsTurns(caller)
        self.usage = AsyncRunsUsage(caller)
        self.steps = AsyncRunsSteps(caller)
        self.llm_calls = AsyncRunsLlmCalls(caller)
        self.tool_calls = AsyncRunsToolCalls(caller)
        self.checkpoints = AsyncRunsCheckpoints(caller)

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        status: Union[Literal["queued", "running", "waiting_for_input", "paused", "completed",
        "failed", "cancelled"], Unset] = UNSET, agent: Union[str, Unset] = UNSET,
        parent_run_id: Union[str, Unset] = UNSET,
        include: Union[Literal["documents"], Unset] = UNSET, agent_id: Union[str, Unset] = UNSET,
        thread_id: Union[str, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Run]:
        """List runs of all threads, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        parent_run_id: the children of this run
        include: documents: user_input, request, state, input, content, final_output … too
        """
        return self._caller.page(
            _operations.RUNS_LIST, [], query={"cursor": cursor, "limit": limit, "status": status,
            "agent": agent, "parent_run_id": parent_run_id, "include": include,
            "agent_id": agent_id, "thread_id": thread_id}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def claim(
        self, *, worker: str, lease_ms: Union[int, Unset] = UNSET,
        agent: Union[Optional[str], Unset] = UNSET, thread_id: Union[Optional[str], Unset] = UNSET,
        wait: Union[int, Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> Optional[types.Run]:
        """Claim the next queued run under a lease; 204 when there is none.

        worker: a name for people to read
        lease_ms: 30000 unless told
        agent: only runs of this agent
        thread_id: only runs of this thread
        wait: seconds to wait for a run when there is none
        """
        answer: Optional[types.Run] = await self._caller.call(
            _operations.RUNS_CLAIM, [], query={"wait": wait},
            body={"worker": worker, "lease_ms": lease_ms, "agent": agent, "thread_id": thread_id},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def get(
        self, run_id: str, *, include: Union[Literal["member_responses"], Unset] = UNSET,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.RunWithMembers:
        """Read a run.

        include: member_responses: what its children answered too
        """
        answer: types.RunWithMembers = await self._caller.call(
            _operations.RUNS_GET, [run_id], query={"include": include},
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def update(
        self, run_id: str, *, status: Union[Literal["queued", "running", "waiting_for_input",
        "paused", "completed", "failed", "cancelled"], Unset] = UNSET,
        state: Union[Mapping[str, Any], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, final_output: Any = UNSET,
        error: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        model: Union[Optional[str], Unset] = UNSET, provider: Union[Optional[str], Unset] = UNSET,
        stop_reason: Union[Optional[str], Unset] = UNSET,
        content: Union[Optional[str], Unset] = UNSET,
        content_type: Union[Optional[str], Unset] = UNSET, citations: Any = UNSET,
        metrics: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Change a run's status, state, output, error or metadata.

        state: the engine's checkpoint: phase, pending_input …
        stop_reason: why the model stopped: end_turn, max_tokens …
        content: what the run answered, for people
        metrics: what the engine measured
        """
        answer: types.Run = await self._caller.call(
            _operations.RUNS_UPDATE, [run_id], body={"status": status, "state": state,
            "metadata": metadata, "final_output": final_output, "error": error, "model": model,
            "provider": provider, "stop_reason": stop_reason, "content": content,
            "content_type": content_type, "citations": citations, "metrics": metrics},
            json_patch=json_patch, options=Options(if_match=if_match, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def tree(
        self, run_id: str, *, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.RunTree:
        """Read a run with its descendants, nested."""
        answer: types.RunTree = await self._caller.call(
            _operations.RUNS_TREE, [run_id], options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def set_phase(
        self, run_id: str, *, to: Literal["created", "initializing", "planning", "executing",
        "awaiting_tool", "awaiting_human", "reflecting", "completed", "failed", "cancelled"],
        trigger: Union[Optional[str], Unset] = UNSET,
        detail: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        idempotency_key: Optional[str] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Move a run to another phase, and its status with it.

        trigger: what leads there: plan_ready, tool_call …; what the table says when absent
        detail: for the log
        """
        answer: types.Run = await self._caller.call(
            _operations.RUNS_SET_PHASE, [run_id],
            body={"to": to, "trigger": trigger, "detail": detail},
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def input(
        self, run_id: str, *, input: Any, idempotency_key: Optional[str] = None,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Answer a run that waits for input.

        input: any JSON value: the answer to the question
        """
        answer: types.Run = await self._caller.call(
            _operations.RUNS_INPUT, [run_id], body={"input": input},
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def pause(
        self, run_id: str, *, idempotency_key: Optional[str] = None,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Pause a run."""
        answer: types.Run = await self._caller.call(
            _operations.RUNS_PAUSE, [run_id], options=Options(idempotency_key=idempotency_key,
            if_match=if_match, principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def resume(
        self, run_id: str, *, idempotency_key: Optional[str] = None,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Resume a paused run."""
        answer: types.Run = await self._caller.call(
            _operations.RUNS_RESUME, [run_id], options=Options(idempotency_key=idempotency_key,
            if_match=if_match, principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def cancel(
        self, run_id: str, *, reason: Union[Optional[str], Unset] = UNSET,
        idempotency_key: Optional[str] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Cancel a run and its children.

        reason: told in the event
        """
        answer: types.Run = await self._caller.call(
            _operations.RUNS_CANCEL, [run_id], body={"reason": reason},
            options=Options(idempotency_key=idempotency_key, if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def heartbeat(
        self, run_id: str, *, lease_ms: Union[int, Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        fencing_token: Optional[ETag] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Keep a run's lease.

        lease_ms: 30000 unless told
        """
        answer: types.Run = await self._caller.call(
            _operations.RUNS_HEARTBEAT, [run_id], body={"lease_ms": lease_ms},
            options=Options(idempotency_key=idempotency_key, principal=principal,
            fencing_token=fencing_token, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def release(
        self, run_id: str, *, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, fencing_token: Optional[ETag] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Run:
        """Give a claimed run back to the queue."""
        answer: types.Run = await self._caller.call(
            _operations.RUNS_RELEASE, [run_id], options=Options(idempotency_key=idempotency_key,
            principal=principal, fencing_token=fencing_token, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def recovery(
        self, run_id: str, *, checkpoint_id: Union[str, Unset] = UNSET,
        namespace: Union[str, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Recovery:
        """Read the newest state of a run that is intact, and what to do again.

        checkpoint_id: this one, or an ancestor of it; the latest unless given
        namespace: the outermost graph unless given
        """
        answer: types.Recovery = await self._caller.call(
            _operations.RUNS_RECOVERY, [run_id],
            query={"checkpoint_id": checkpoint_id, "namespace": namespace},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def replay(
        self, run_id: str, *, checkpoint_id: str, namespace: Union[str, Unset] = UNSET,
        modified_state: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        policy: Union[Optional[Literal["reject", "enqueue", "interrupt", "rollback", "None"]],
        Unset] = UNSET, dispatch: Union[Literal["queue", "direct"], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Replayed:
        """Go on from a checkpoint of a run in a new run, with another state.

        namespace: unless given, the outermost one that has it
        modified_state: channels and the values that they begin with instead
        policy: instead of the thread's run_policy
        dispatch: queue (a worker claims it; the default) or direct (the caller works on it)
        """
        answer: types.Replayed = await self._caller.call(
            _operations.RUNS_REPLAY, [run_id], body={"checkpoint_id": checkpoint_id,
            "namespace": namespace, "modified_state": modified_state, "policy": policy,
            "dispatch": dispatch}, options=Options(idempotency_key=idempotency_key,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncPricesVersions:
    """prices.versions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, model: str, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Price]:
        """List the versions of a model's price, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.PRICES_VERSIONS_LIST, [model], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncPrices:
    """prices"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.versions = AsyncPricesVersions(caller)

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Price]:
        """List the prices of models by name, the newest version of each.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.PRICES_LIST, [], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, model: str, *, if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Price:
        """Read the price of a model."""
        answer: types.Price = await self._caller.call(
            _operations.PRICES_GET, [model], options=Options(if_none_match=if_none_match,
            principal=principal, consistency=consistency, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def put(
        self, model: str, *, input: float, output: float, cache_write: Union[float, Unset] = UNSET,
        cache_read: Union[float, Unset] = UNSET,
        long_context: Union[Optional[types.LongContextPrice], Unset] = UNSET,
        provider: Union[Optional[str], Unset] = UNSET, currency: Union[str, Unset] = UNSET,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Price:
        """Give a model a price: the next version of it.

        input: for a million tokens of input that is in no cache
        output: for a million tokens of output
        cache_write: for a million tokens written to a cache; 1.25 times input
        cache_read: for a million tokens read from a cache; 0.1 times input
        long_context: other rates for calls with more input than this
        currency: USD unless told; that of all prices of the tenant
        """
        answer: types.Price = await self._caller.call(
            _operations.PRICES_PUT, [model], body={"input": input, "output": output,
            "cache_write": cache_write, "cache_read": cache_read, "long_context": long_context,
            "provider": provider, "currency": currency}, options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, model: str, *, if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """From here on a model has no price; its versions stay."""
        await self._caller.call(
            _operations.PRICES_DELETE, [model], options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def cost(
        self, *, model: str, usage: types.TokenUsage, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Cost:
        """Compute what a call of a model costs; nothing is stored."""
        answer: types.Cost = await self._caller.call(
            _operations.PRICES_COST, [], body={"model": model, "usage": usage},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer


class AsyncUsage:
    """usage"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def get(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        from_: Union[str, Unset] = UNSET, to: Union[str, Unset] = UNSET,
        group_by: Union[str, Unset] = UNSET, model: Union[str, Unset] = UNSET,
        provider: Union[str, Unset] = UNSET, agent_id: Union[str, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Usage:
        """Runs, tokens and cost by day, model, provider and agent.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        from_: the first day, such as 2026-01-31; 29 days before the last unless told
        to: the last day; today unless told
        group_by: any of day, model, provider and agent, with commas between; day unless told
        """
        answer: types.Usage = await self._caller.call(
            _operations.USAGE_GET, [], query={"cursor": cursor, "limit": limit, "from": from_,
            "to": to, "group_by": group_by, "model": model, "provider": provider,
            "agent_id": agent_id}, options=Options(principal=principal, consistency=consistency,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    def averages(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        days: Union[int, Unset] = UNSET, group_by: Union[Literal["thread", "agent"], Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.UsageAverage]:
        """Average tokens of the runs of the last days, by thread or agent.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        days: runs that started within the last so many days; 7 unless told
        group_by: thread unless told
        """
        return self._caller.page(
            _operations.USAGE_AVERAGES, [],
            query={"cursor": cursor, "limit": limit, "days": days, "group_by": group_by},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncEvals:
    """evals"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self, *, name: str, eval_type: str, agent_id: Union[Optional[str], Unset] = UNSET,
        agent_version: Union[Optional[str], Unset] = UNSET,
        run_id: Union[Optional[str], Unset] = UNSET, model: Union[Optional[str], Unset] = UNSET,
        provider: Union[Optional[str], Unset] = UNSET,
        evaluated_name: Union[Optional[str], Unset] = UNSET,
        eval_input: Union[Mapping[str, Any], Unset] = UNSET,
        eval_data: Union[Mapping[str, Any], Unset] = UNSET,
        score: Union[Optional[float], Unset] = UNSET, passed: Union[Optional[bool], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Eval:
        """Record an eval run.

        eval_type: accuracy, performance, reliability, agent_as_judge or your own
        run_id: the run that was judged
        model: that was evaluated
        evaluated_name: what was evaluated, for people
        eval_input: lists leave it and eval_data out
        score: from 0 to 1, with up to 6 digits after the point
        """
        answer: types.Eval = await self._caller.call(
            _operations.EVALS_CREATE, [], body={"name": name, "eval_type": eval_type,
            "agent_id": agent_id, "agent_version": agent_version, "run_id": run_id, "model": model,
            "provider": provider, "evaluated_name": evaluated_name, "eval_input": eval_input,
            "eval_data": eval_data, "score": score, "passed": passed, "metadata": metadata},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        eval_type: Union[str, Unset] = UNSET, agent_id: Union[str, Unset] = UNSET,
        run_id: Union[str, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Eval]:
        """List eval runs, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.EVALS_LIST, [], query={"cursor": cursor, "limit": limit,
            "eval_type": eval_type, "agent_id": agent_id, "run_id": run_id},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, eval_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Eval:
        """Read an eval run."""
        answer: types.Eval = await self._caller.call(
            _operations.EVALS_GET, [eval_id], options=Options(if_none_match=if_none_match,
            principal=principal, consistency=consistency, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def update(
        self, eval_id: str, *, name: Union[str, Unset] = UNSET,
        eval_type: Union[str, Unset] = UNSET, agent_id: Union[Optional[str], Unset] = UNSET,
        agent_version: Union[Optional[str], Unset] = UNSET,
        run_id: Union[Optional[str], Unset] = UNSET, model: Union[Optional[str], Unset] = UNSET,
        provider: Union[Optional[str], Unset] = UNSET,
        evaluated_name: Union[Optional[str], Unset] = UNSET,
        eval_input: Union[Mapping[str, Any], Unset] = UNSET,
        eval_data: Union[Mapping[str, Any], Unset] = UNSET,
        score: Union[Optional[float], Unset] = UNSET, passed: Union[Optional[bool], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Eval:
        """Change an eval run.

        eval_type: accuracy, performance, reliability, agent_as_judge or your own
        run_id: the run that was judged
        model: that was evaluated
        evaluated_name: what was evaluated, for people
        eval_input: lists leave it and eval_data out
        score: from 0 to 1, with up to 6 digits after the point
        """
        answer: types.Eval = await self._caller.call(
            _operations.EVALS_UPDATE, [eval_id], body={"name": name, "eval_type": eval_type,
            "agent_id": agent_id, "agent_version": agent_version, "run_id": run_id, "model": model,
            "provider": provider, "evaluated_name": evaluated_name, "eval_input": eval_input,
            "eval_data": eval_data, "score": score, "passed": passed, "metadata": metadata},
            json_patch=json_patch, options=Options(if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, eval_id: str, *, if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete an eval run."""
        await self._caller.call(
            _operations.EVALS_DELETE, [eval_id], options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncNotebooksSessions:
    """notebooks.sessions"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def add(
        self, notebook_id: str, *, thread_id: Union[Optional[str], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.NotebookSession:
        """Put a thread into a notebook, or a new one.

        thread_id: a new thread when absent
        """
        answer: types.NotebookSession = await self._caller.call(
            _operations.NOTEBOOKS_SESSIONS_ADD, [notebook_id], body={"thread_id": thread_id},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, notebook_id: str, *, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.NotebookSession]:
        """List the threads of a notebook, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.NOTEBOOKS_SESSIONS_LIST, [notebook_id],
            query={"cursor": cursor, "limit": limit}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def remove(
        self, notebook_id: str, thread_id: str, *, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Take a thread out of a notebook; the thread stays."""
        await self._caller.call(
            _operations.NOTEBOOKS_SESSIONS_REMOVE, [notebook_id, thread_id],
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )


class AsyncNotebooks:
    """notebooks"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.sessions = AsyncNotebooksSessions(caller)

    async def create(
        self, *, title: str, description: Union[Optional[str], Unset] = UNSET,
        instructions: Union[Optional[str], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Notebook:
        """Create a notebook.

        instructions: for the agents that work in it; lists leave them out
        """
        answer: types.Notebook = await self._caller.call(
            _operations.NOTEBOOKS_CREATE, [], body={"title": title, "description": description,
            "instructions": instructions, "metadata": metadata},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Notebook]:
        """List notebooks, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.NOTEBOOKS_LIST, [], query={"cursor": cursor, "limit": limit},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    async def get(
        self, notebook_id: str, *, if_none_match: Optional[ETag] = None,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Notebook:
        """Read a notebook."""
        answer: types.Notebook = await self._caller.call(
            _operations.NOTEBOOKS_GET, [notebook_id], options=Options(if_none_match=if_none_match,
            principal=principal, consistency=consistency, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )
        return answer

    async def update(
        self, notebook_id: str, *, title: Union[str, Unset] = UNSET,
        description: Union[Optional[str], Unset] = UNSET,
        instructions: Union[Optional[str], Unset] = UNSET,
        metadata: Union[Mapping[str, Any], Unset] = UNSET,
        json_patch: Optional[Sequence[Mapping[str, Any]]] = None, if_match: Optional[ETag] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Notebook:
        """Change a notebook.

        instructions: for the agents that work in it; lists leave them out
        """
        answer: types.Notebook = await self._caller.call(
            _operations.NOTEBOOKS_UPDATE, [notebook_id], body={"title": title,
            "description": description, "instructions": instructions, "metadata": metadata},
            json_patch=json_patch, options=Options(if_match=if_match, principal=principal,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, notebook_id: str, *, if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a notebook; the threads in it stay."""
        await self._caller.call(
            _operations.NOTEBOOKS_DELETE, [notebook_id], options=Options(if_match=if_match,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncSteps:
    """steps"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        include: Union[Literal["messages"], Unset] = UNSET, action_type: Union[str, Unset] = UNSET,
        outcome: Union[Literal["success", "error"], Unset] = UNSET,
        agent_id: Union[str, Unset] = UNSET, thread_id: Union[str, Unset] = UNSET,
        model: Union[str, Unset] = UNSET, tool_name: Union[str, Unset] = UNSET,
        from_: Union[Time, Unset] = UNSET, to: Union[Time, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Step]:
        """List steps of all runs, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        include: messages: the lists of messages, too
        from_: at this time or later
        to: before this time
        """
        return self._caller.page(
            _operations.STEPS_LIST, [], query={"cursor": cursor, "limit": limit, "include": include,
            "action_type": action_type, "outcome": outcome, "agent_id": agent_id,
            "thread_id": thread_id, "model": model, "tool_name": tool_name, "from": from_,
            "to": to}, options=Options(principal=principal, consistency=consistency,
            timeout=timeout, max_retries=max_retries, headers=headers),
        )

    async def summary(
        self, *, run_id: Union[str, Unset] = UNSET, thread_id: Union[str, Unset] = UNSET,
        principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.StepSummary:
        """How often each type of action came in a run or a thread, and how long it took."""
        answer: types.StepSummary = await self._caller.call(
            _operations.STEPS_SUMMARY, [], query={"run_id": run_id, "thread_id": thread_id},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncEvents(AsyncFollowAll):
    """events"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, *, after: Union[Position, Unset] = UNSET, kind: Union[str, Unset] = UNSET,
        run_id: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        wait: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Event]:
        """Read the events of all threads after a cursor.

        after: the cursor: events after it. Absent: from the oldest that is kept
        limit: events a page, 100 unless told
        wait: seconds to wait for an event when there is none
        """
        return self._caller.page(
            _operations.EVENTS_LIST, [],
            query={"after": after, "kind": kind, "run_id": run_id, "limit": limit, "wait": wait},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )


class AsyncMessages:
    """messages"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def search(
        self, *, q: Union[str, Unset] = UNSET, cursor: Union[str, Unset] = UNSET,
        limit: Union[int, Unset] = UNSET, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Message]:
        """Find messages of all threads by their words, newest first.

        q: words that must all be there: word "a phrase" begin* -not
        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        """
        return self._caller.page(
            _operations.MESSAGES_SEARCH, [], query={"q": q, "cursor": cursor, "limit": limit},
            options=Options(principal=principal, consistency=consistency, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )


class AsyncStore:
    """store"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def put(
        self, *, namespace: Sequence[str], key: str, value: Mapping[str, Any],
        vectors: Union[Optional[Sequence[types.StoreVector]], Unset] = UNSET,
        ttl_s: Union[Optional[int], Unset] = UNSET, if_match: Optional[ETag] = None,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.StoreItem:
        """Put an item into the store; it replaces the one under the same key.

        namespace: labels of 1 to 128 bytes, none with a "." in it: ["users","42"]
        value: a JSON object of up to 1 MiB
        vectors: up to 16, by which it is found; without them it has none
        ttl_s: how many seconds it is there; for good unless told
        """
        answer: types.StoreItem = await self._caller.call(
            _operations.STORE_PUT, [], body={"namespace": namespace, "key": key, "value": value,
            "vectors": vectors, "ttl_s": ttl_s}, options=Options(if_match=if_match,
            if_none_match=if_none_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def get(
        self, *, namespace: Union[Sequence[str], Unset] = UNSET, key: Union[str, Unset] = UNSET,
        if_none_match: Optional[ETag] = None, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.StoreItem:
        """Read an item of the store.

        namespace: its labels with a "." between them: users.42
        """
        answer: types.StoreItem = await self._caller.call(
            _operations.STORE_GET, [], query={"namespace": namespace, "key": key},
            options=Options(if_none_match=if_none_match, principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def delete(
        self, *, namespace: Union[Sequence[str], Unset] = UNSET, key: Union[str, Unset] = UNSET,
        if_match: Optional[ETag] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete an item of the store.

        namespace: its labels with a "." between them: users.42
        """
        await self._caller.call(
            _operations.STORE_DELETE, [], query={"namespace": namespace, "key": key},
            options=Options(if_match=if_match, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    def search(
        self, *, namespace_prefix: Union[Optional[Sequence[str]], Unset] = UNSET,
        filter: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        vector: Union[Optional[Sequence[float]], Unset] = UNSET,
        query: Union[Optional[str], Unset] = UNSET, limit: Union[Optional[int], Unset] = UNSET,
        offset: Union[Optional[int], Unset] = UNSET, cursor: Union[Optional[str], Unset] = UNSET,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.StoreFoundItem]:
        """Search items under a prefix, newest first, or best first by words.

        namespace_prefix: the first labels of their namespaces; everything unless told
        filter: by member of the value: what it must be equal to, or $eq $ne $gt $gte $lt $lte $in
            $nin of it
        vector: numbers: items whose vectors are most like it, by cosine
        query: words: items that have some of them, the best first
        limit: 10 unless told
        offset: how many to leave out at first; a cursor goes further
        cursor: next_cursor of the page before
        """
        return self._caller.page(
            _operations.STORE_SEARCH, [], body={"namespace_prefix": namespace_prefix,
            "filter": filter, "vector": vector, "query": query, "limit": limit, "offset": offset,
            "cursor": cursor}, options=Options(principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )

    def namespaces(
        self, *, prefix: Union[Optional[Sequence[str]], Unset] = UNSET,
        suffix: Union[Optional[Sequence[str]], Unset] = UNSET,
        max_depth: Union[Optional[int], Unset] = UNSET, limit: Union[Optional[int], Unset] = UNSET,
        offset: Union[Optional[int], Unset] = UNSET, cursor: Union[Optional[str], Unset] = UNSET,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[Any]:
        """List the namespaces that have items, each once, sorted.

        prefix: their first labels; "*" is any label
        suffix: their last labels; "*" is any label
        max_depth: longer ones are cut to so many labels, and told once
        limit: 100 unless told
        offset: how many to leave out at first; a cursor goes further
        cursor: next_cursor of the page before
        """
        return self._caller.page(
            _operations.STORE_NAMESPACES, [], body={"prefix": prefix, "suffix": suffix,
            "max_depth": max_depth, "limit": limit, "offset": offset, "cursor": cursor},
            options=Options(principal=principal, timeout=timeout, max_retries=max_retries,
            headers=headers),
        )

    async def batch(
        self, *, operations: Sequence[types.StoreOperation], idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.StoreBatchAnswer:
        """Carry out up to 100 operations of the store, all or none, in their order.

        operations: carried out in this order; each takes the members of its own route
        """
        answer: types.StoreBatchAnswer = await self._caller.call(
            _operations.STORE_BATCH, [], body={"operations": operations},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncCheckpoints:
    """checkpoints"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self, *, cursor: Union[str, Unset] = UNSET, limit: Union[int, Unset] = UNSET,
        namespace: Union[str, Unset] = UNSET, id_before: Union[str, Unset] = UNSET,
        include: Union[Literal["values", "writes", "all"], Unset] = UNSET,
        metadata: Optional[Mapping[str, Scalar]] = None, principal: Optional[str] = None,
        consistency: Optional[Literal["strong", "eventual"]] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncPages[types.Checkpoint]:
        """List the checkpoints of all threads, newest first.

        cursor: next_cursor of the page before
        limit: items a page, 50 unless told
        namespace: only this one; empty: the outermost graph
        id_before: those whose ids are smaller than this one, which nobody need have
        include: values (with their versions), writes, or all of it
        """
        return self._caller.page(
            _operations.CHECKPOINTS_LIST, [], query={"cursor": cursor, "limit": limit,
            "namespace": namespace, "id_before": id_before, "include": include,
            **metadata_filter(metadata)}, options=Options(principal=principal,
            consistency=consistency, timeout=timeout, max_retries=max_retries, headers=headers),
        )


class AsyncShares:
    """shares"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def redeem(
        self, *, token: str, name: Union[str, Unset] = UNSET, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.ShareRedeemed:
        """Redeem a share for the principal that the request acts for.

        name: of a new participant; that of the principal unless told
        """
        answer: types.ShareRedeemed = await self._caller.call(
            _operations.SHARES_REDEEM, [], body={"token": token, "name": name},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncWorkflows:
    """workflows"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def start(
        self, *, user_input: str, workflow_id: Union[Optional[str], Unset] = UNSET,
        ask_clarifications: Union[bool, Unset] = UNSET,
        preferences: Union[Optional[Mapping[str, Any]], Unset] = UNSET,
        idempotency_key: Optional[str] = None, principal: Optional[str] = None,
        timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Workflow:
        """Start a run on a new or known workflow.

        workflow_id: the conversation to go on with; absent starts a new one
        preferences: replaces the conversation's preferences
        """
        answer: types.Workflow = await self._caller.call(
            _operations.WORKFLOWS_START, [], body={"workflow_id": workflow_id,
            "user_input": user_input, "ask_clarifications": ask_clarifications,
            "preferences": preferences}, options=Options(idempotency_key=idempotency_key,
            principal=principal, timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def input(
        self, workflow_id: str, *, input: Any, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Workflow:
        """Answer the workflow's pending question.

        input: the answer to the pending question
        """
        answer: types.Workflow = await self._caller.call(
            _operations.WORKFLOWS_INPUT, [workflow_id], body={"input": input},
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def pause(
        self, workflow_id: str, *, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Workflow:
        """Pause a workflow and its run."""
        answer: types.Workflow = await self._caller.call(
            _operations.WORKFLOWS_PAUSE, [workflow_id],
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def resume(
        self, workflow_id: str, *, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Workflow:
        """Resume a workflow and its run."""
        answer: types.Workflow = await self._caller.call(
            _operations.WORKFLOWS_RESUME, [workflow_id],
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer

    async def cancel(
        self, workflow_id: str, *, idempotency_key: Optional[str] = None,
        principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Workflow:
        """Cancel a workflow and its run."""
        answer: types.Workflow = await self._caller.call(
            _operations.WORKFLOWS_CANCEL, [workflow_id],
            options=Options(idempotency_key=idempotency_key, principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer


class AsyncRoot:
    """The client itself"""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.tenants = AsyncTenants(caller)
        self.keys = AsyncKeys(caller)
        self.audit = AsyncAudit(caller)
        self.agents = AsyncAgents(caller)
        self.threads = AsyncThreads(caller)
        self.archives = AsyncArchives(caller)
        self.runs = AsyncRuns(caller)
        self.prices = AsyncPrices(caller)
        self.usage = AsyncUsage(caller)
        self.evals = AsyncEvals(caller)
        self.notebooks = AsyncNotebooks(caller)
        self.steps = AsyncSteps(caller)
        self.events = AsyncEvents(caller)
        self.messages = AsyncMessages(caller)
        self.store = AsyncStore(caller)
        self.checkpoints = AsyncCheckpoints(caller)
        self.shares = AsyncShares(caller)
        self.workflows = AsyncWorkflows(caller)

    async def health(
        self, *, timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Health:
        """Whether the process answers."""
        answer: types.Health = await self._caller.call(
            _operations.HEALTH, [],
            options=Options(timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def ready(
        self, *, timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> types.Health:
        """Whether the store answers too."""
        answer: types.Health = await self._caller.call(
            _operations.READY, [],
            options=Options(timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def metrics(
        self, *, timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> str:
        """Figures in Prometheus' text format."""
        answer: str = await self._caller.call(
            _operations.METRICS, [],
            options=Options(timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def openapi(
        self, *, timeout: Optional[float] = None, max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dict[str, Any]:
        """This API as an OpenAPI 3.1 document."""
        answer: Dict[str, Any] = await self._caller.call(
            _operations.OPENAPI, [],
            options=Options(timeout=timeout, max_retries=max_retries, headers=headers),
        )
        return answer

    async def whoami(
        self, *, principal: Optional[str] = None, timeout: Optional[float] = None,
        max_retries: Optional[int] = None, headers: Optional[Mapping[str, str]] = None,
    ) -> types.Whoami:
        """The tenant and the scopes of the key."""
        answer: types.Whoami = await self._caller.call(
            _operations.WHOAMI, [], options=Options(principal=principal, timeout=timeout,
            max_retries=max_retries, headers=headers),
        )
        return answer
