-- SPDX-License-Identifier: Apache-2.0
-- Counters of threads and of the bytes of content, in tenant_usage. A counter is NULL, and then
-- costs no update, while the tenant has no such quota. The statement that starts a counter
-- (quota_count_stored) must see the rows of every transaction whose trigger has not seen the
-- counter: it locks the tenant's row against the FOR KEY SHARE of such transactions. An insert has
-- that lock from its foreign key, a deletion takes it here.
{{sqlite:
CREATE TRIGGER threads_added AFTER INSERT ON threads BEGIN
    UPDATE tenant_usage SET threads = threads + 1
    WHERE tenant_id = new.tenant_id AND threads IS NOT NULL;
END;
CREATE TRIGGER threads_removed AFTER DELETE ON threads BEGIN
    UPDATE tenant_usage SET threads = threads - 1
    WHERE tenant_id = old.tenant_id AND threads IS NOT NULL;
END;
CREATE TRIGGER blobs_added AFTER INSERT ON blobs BEGIN
    UPDATE tenant_usage SET bytes = bytes + new.size_bytes
    WHERE tenant_id = new.tenant_id AND bytes IS NOT NULL;
END;
CREATE TRIGGER blobs_removed AFTER DELETE ON blobs BEGIN
    UPDATE tenant_usage SET bytes = bytes - old.size_bytes
    WHERE tenant_id = old.tenant_id AND bytes IS NOT NULL;
END;
}}
{{postgres:
CREATE FUNCTION count_threads() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM FROM tenants WHERE id IN (SELECT tenant_id FROM changed) FOR KEY SHARE;
    END IF;
    UPDATE tenant_usage AS u
    SET threads = u.threads + CASE WHEN TG_OP = 'DELETE' THEN -c.count ELSE c.count END
    FROM (SELECT tenant_id, count(*) AS count FROM changed GROUP BY tenant_id) AS c
    WHERE u.tenant_id = c.tenant_id AND u.threads IS NOT NULL;
    RETURN NULL;
END $$;
CREATE FUNCTION count_blobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM FROM tenants WHERE id IN (SELECT tenant_id FROM changed) FOR KEY SHARE;
    END IF;
    UPDATE tenant_usage AS u
    SET bytes = u.bytes + CASE WHEN TG_OP = 'DELETE' THEN -c.bytes ELSE c.bytes END
    FROM (SELECT tenant_id, sum(size_bytes)::bigint AS bytes FROM changed GROUP BY tenant_id) AS c
    WHERE u.tenant_id = c.tenant_id AND u.bytes IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER threads_added AFTER INSERT ON threads
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_threads();
CREATE TRIGGER threads_removed AFTER DELETE ON threads
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_threads();
CREATE TRIGGER blobs_added AFTER INSERT ON blobs
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_blobs();
CREATE TRIGGER blobs_removed AFTER DELETE ON blobs
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_blobs();
}}
