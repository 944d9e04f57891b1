# Written by tools/sdk from the server's OpenAPI document: make sdk. Do not edit.
