-- SPDX-License-Identifier: Apache-2.0
-- The principal in whose namespace the key of a thread is; NULL: the tenant's namespace.
ALTER TABLE threads ADD COLUMN key_owner TEXT {{postgres: COLLATE "C"}};
DROP INDEX threads_by_key;
CREATE UNIQUE INDEX threads_by_key ON threads (tenant_id, key, (coalesce(key_owner, '')))
    WHERE key IS NOT NULL;
