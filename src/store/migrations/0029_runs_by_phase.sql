-- SPDX-License-Identifier: Apache-2.0
-- Lists of unfinished runs in a phase; those of final phases are lists by status. A run from before
-- phases were introduced has none and is shown as created.
{{postgres: SET LOCAL cairn.tenant = '*';}}
UPDATE runs SET phase = 'created'
WHERE phase IS NULL AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_by_phase ON runs (tenant_id, phase, id)
    WHERE phase NOT IN ('completed', 'failed', 'cancelled');
{{postgres: SET LOCAL cairn.tenant = '';}}
