-- The tables of the documents that Cairn grew from, as views, under their names.

{{sqlite:
CREATE VIEW notebooks AS SELECT
    number AS id, title, description, instructions,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000000.0, 'unixepoch') AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000000.0, 'unixepoch') AS updated_at
FROM notebook_records;
}}
{{postgres:
CREATE VIEW notebooks AS SELECT
    number AS id, title::varchar(255) AS title, description, instructions,
    to_timestamp(created_at / 1000000.0) AS created_at,
    to_timestamp(updated_at / 1000000.0) AS updated_at
FROM notebook_records;
}}
