-- SPDX-License-Identifier: Apache-2.0
-- Vectors of items of the store, which a search compares one by one.

CREATE TABLE store_vectors (
    tenant_id {{uuid}} NOT NULL,
    number {{int}} NOT NULL,
    -- 1, 2, 3 in the item.
    place {{int}} NOT NULL,
    -- What of the value it was made from; a name of the client's.
    path TEXT NOT NULL,
    dimensions {{int}} NOT NULL,
    -- As many numbers of IEEE 754 with 32 bits, the lowest byte of each first.
    bytes {{bytes}} NOT NULL,
    PRIMARY KEY (tenant_id, number, place),
    FOREIGN KEY (tenant_id, number) REFERENCES store_items (tenant_id, number) ON DELETE CASCADE
);

{{postgres:
SELECT fence_by_tenant('store_vectors');
}}
