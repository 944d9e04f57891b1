-- SPDX-License-Identifier: Apache-2.0
-- The principals that may start runs of an agent and add it to their threads; NULL: none.
ALTER TABLE agents ADD COLUMN granted_to {{json}};
