-- SPDX-License-Identifier: Apache-2.0
-- types: tenants json, since int

-- name: tail_revoked_keys
{{postgres:
SELECT tenant_id, id FROM api_keys
WHERE tenant_id = ANY (ARRAY(SELECT v::uuid FROM json_array_elements_text(:tenants) AS v))
    AND revoked_at > :since;
}}

-- name: tail_deleted_tenants
{{postgres:
SELECT v::uuid FROM json_array_elements_text(:tenants) AS v
WHERE NOT EXISTS (SELECT 1 FROM tenants AS t WHERE t.id = v::uuid);
}}
