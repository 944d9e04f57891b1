-- SPDX-License-Identifier: Apache-2.0
-- The orders in which archives list rows that no other index has. Without them every page of an
-- export would sort the rows that remain.
CREATE INDEX files_by_thread ON files (tenant_id, thread_id, id);
CREATE INDEX state_documents_by_agent ON state_documents (tenant_id, agent_id, thread_id, id);
CREATE INDEX awaited_tools_by_pause ON awaited_tools (tenant_id, run_id, pause, position);
