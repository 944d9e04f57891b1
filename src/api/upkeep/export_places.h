/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places for exports on this node: as many as the store has threads for long reads. A tenant
 * has at most one place, so that no tenant can take them all. An export leaves its place when its
 * file is complete, but a slow client may take long to read the file: the files that exist are
 * limited too, for each tenant and for all. Any thread may call these functions.
 */
#ifndef API_UPKEEP_EXPORT_PLACES_H
#define API_UPKEEP_EXPORT_PLACES_H

#include "base/uuid.h"
#include "store/store.h"

struct export_places;
struct export_places *export_places_create(void);
void export_places_destroy(struct export_places *p); /* accepts NULL */

enum { EXPORT_FILES_MAX = 4, EXPORT_FILES_MAX_TOTAL = 64 }; /* of one tenant, of all */

enum export_place {
    EXPORT_PLACE_TAKEN, /* the place until export_places_drop, a file until export_files_drop */
    EXPORT_PLACE_NONE,
    EXPORT_PLACE_OWN,  /* the tenant already has one */
    EXPORT_FILES_OWN,  /* the tenant has too many files */
    EXPORT_FILES_NONE, /* all tenants have */
};
MUST_CHECK enum export_place export_places_take(struct export_places *p, struct uuid tenant_id);
void export_places_drop(struct export_places *p, struct uuid tenant_id);
void export_files_drop(struct export_places *p, struct uuid tenant_id);

#endif
