-- SPDX-License-Identifier: Apache-2.0
-- Awaited tools have a deadline, and the turn that named them.
ALTER TABLE awaited_tools ADD COLUMN deadline {{int}};
ALTER TABLE awaited_tools ADD COLUMN turn_id {{uuid}};
-- The first deadline of the tools whose results the run waits for; NULL: none.
ALTER TABLE runs ADD COLUMN tool_deadline {{int}};
CREATE INDEX runs_by_tool_deadline ON runs (tool_deadline) WHERE tool_deadline IS NOT NULL;
