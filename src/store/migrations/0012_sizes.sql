-- SPDX-License-Identifier: Apache-2.0
-- The size of a row's texts and documents in bytes, computed by the database. Pages with a byte
-- limit add up these sizes instead of reading documents to measure them. PostgreSQL stores the
-- value, and rewrites each table once to add it; SQLite computes it while it reads the row, which a
-- page does anyway.
ALTER TABLE agents ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: description}} + {{bytes_of: metadata}}) {{generated}};
ALTER TABLE threads ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: metadata}} + {{bytes_of: error}}) {{generated}};
ALTER TABLE thread_documents ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: context}} + {{bytes_of: preferences}} +
        {{bytes_of: important_steps}}) {{generated}};
ALTER TABLE runs ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: metadata}} + {{bytes_of: error}}) {{generated}};
ALTER TABLE run_documents ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: user_input}} + {{bytes_of: input}} + {{bytes_of: state}} +
        {{bytes_of: final_output}} + {{bytes_of: request}} + {{bytes_of: content}} +
        {{bytes_of: citations}} + {{bytes_of: metrics}}) {{generated}};
ALTER TABLE run_phases ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: detail}}) {{generated}};
ALTER TABLE turns ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: input}} + {{bytes_of: output}}) {{generated}};
ALTER TABLE steps ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: action_data}}) {{generated}};
ALTER TABLE history_entries ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: user_message}} + {{bytes_of: final_response}} +
        {{bytes_of: generated_files}} + {{bytes_of: extras}}) {{generated}};
ALTER TABLE awaited_tools ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: input}} + {{bytes_of: result}}) {{generated}};
ALTER TABLE state_versions ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: description}} + {{bytes_of: data}} +
        {{bytes_of: json_schema}} + {{bytes_of: ui_schema}}) {{generated}};
ALTER TABLE messages ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: content}} + {{bytes_of: metadata}} +
        {{bytes_of: filenames}}) {{generated}};
ALTER TABLE message_debug ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: debug}}) {{generated}};
ALTER TABLE message_versions ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: content}} + {{bytes_of: metadata}} + {{bytes_of: filenames}} +
        {{bytes_of: debug}}) {{generated}};
ALTER TABLE events ADD COLUMN size_bytes {{int}}
    GENERATED ALWAYS AS ({{bytes_of: text}} + {{bytes_of: payload}}) {{generated}};
