-- SPDX-License-Identifier: Apache-2.0
-- Vectors of items of the store. A search compares them one by one.

CREATE TABLE store_vectors (
    tenant_id {{uuid}} NOT NULL,
    number {{int}} NOT NULL,
    -- 1, 2, 3 in the item.
    place {{int}} NOT NULL,
    -- The part of the value that the vector represents; a name chosen by the client.
    path TEXT NOT NULL,
    dimensions {{int}} NOT NULL,
    -- 32-bit IEEE 754 numbers, in little-endian order.
    bytes {{bytes}} NOT NULL,
    PRIMARY KEY (tenant_id, number, place),
    FOREIGN KEY (tenant_id, number) REFERENCES store_items (tenant_id, number) ON DELETE CASCADE
);

{{postgres:
SELECT fence_by_tenant('store_vectors');
}}
