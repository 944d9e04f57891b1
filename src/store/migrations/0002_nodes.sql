-- SPDX-License-Identifier: Apache-2.0
-- What only the process that wrote an event knew: other nodes read it from here.
-- Bits: 1, a run may have become ready to be claimed; 2, the thread goes with this event.
ALTER TABLE events ADD COLUMN marks {{int}} NOT NULL DEFAULT 0;

-- Since when (lease time) it may be removed. With many nodes it stays for a while, until each of
-- them has told its listeners of the events.
ALTER TABLE event_garbage ADD COLUMN added_at {{int}} NOT NULL DEFAULT 0;
