/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of manifests. Private to manifest.c and manifest_read.c. Version 1; numbers are
 * LEB128: seven bits per byte, the lowest first.
 *
 *   manifest  1, then body
 *   body      0 piece                        the document is one piece
 *           | 1 list                         an array
 *           | 2 n, n members                 an object
 *           | 3 splice                       the base's array, changed
 *           | 4 n, n edits                   the base's object, changed
 *   member    length and bytes of the key as written, then 0 piece | 1 list
 *   list      n, n pieces
 *   piece     length * 2, the text           the text itself
 *           | length * 2 + 1, 32 bytes       the item with this SHA-256
 *   splice    how many pieces of the base remain at the start, how many at the end, then the list
 *             between them
 *   edit      0 from, n                      n unchanged members of the base, beginning there
 *           | 1 member                       a new member
 *           | 2 index, splice                this member of the base, an array, changed
 *
 * The edits list the members of the new object in their order; all other members are deleted.
 */
#ifndef MODEL_CHECKPOINTS_MANIFEST_FORMAT_H
#define MODEL_CHECKPOINTS_MANIFEST_FORMAT_H

enum { MANIFEST_VERSION = 1 };
enum manifest_body { BODY_PIECE, BODY_LIST, BODY_OBJECT, BODY_SPLICE, BODY_EDITS };
enum manifest_edit { EDIT_KEEP, EDIT_MEMBER, EDIT_SPLICE };

#endif
