-- SPDX-License-Identifier: Apache-2.0
-- Facts that only the process that wrote an event knew; other nodes read them from here. Bits: 1, a
-- run may have become ready to be claimed; 2, the thread is deleted with this event.
ALTER TABLE events ADD COLUMN marks {{int}} NOT NULL DEFAULT 0;

-- The time (lease time) after which the events may be deleted. With several nodes they are kept for
-- a while, until each node has sent them to its subscribers.
ALTER TABLE event_garbage ADD COLUMN added_at {{int}} NOT NULL DEFAULT 0;
