/* SPDX-License-Identifier: Apache-2.0 */
#include "api/upkeep/export_places.h"

#include <pthread.h>

#include "base/alloc.h"

struct export_places {
    pthread_mutex_t mutex;
    struct uuid tenants[STORE_LONG_READERS];
    unsigned count;
    struct uuid files[EXPORT_FILES_MAX_TOTAL]; /* the tenant of each file */
    unsigned n_files;
};

struct export_places *export_places_create(void)
{
    struct export_places *p = MEM_NEW(struct export_places);
    pthread_mutex_init(&p->mutex, NULL);
    return p;
}

void export_places_destroy(struct export_places *p)
{
    if (p == NULL)
        return;
    assert(p->count == 0 && p->n_files == 0);
    pthread_mutex_destroy(&p->mutex);
    mem_free(p);
}

/* Returns the index of the tenant's first entry, or `n`. */
static unsigned find(const struct uuid *tenants, unsigned n, struct uuid tenant_id)
{
    unsigned i = 0;
    while (i < n && !uuid_eq(tenants[i], tenant_id))
        i++;
    return i;
}

static unsigned count_files(const struct export_places *p, struct uuid tenant_id)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->n_files; i++)
        n += uuid_eq(p->files[i], tenant_id);
    return n;
}

/* Under the mutex. */
static enum export_place what_is_free(const struct export_places *p, struct uuid tenant_id)
{
    if (find(p->tenants, p->count, tenant_id) < p->count)
        return EXPORT_PLACE_OWN;
    if (p->count == STORE_LONG_READERS)
        return EXPORT_PLACE_NONE;
    if (count_files(p, tenant_id) >= EXPORT_FILES_MAX)
        return EXPORT_FILES_OWN;
    return p->n_files == EXPORT_FILES_MAX_TOTAL ? EXPORT_FILES_NONE : EXPORT_PLACE_TAKEN;
}

enum export_place export_places_take(struct export_places *p, struct uuid tenant_id)
{
    pthread_mutex_lock(&p->mutex);
    enum export_place place = what_is_free(p, tenant_id);
    if (place == EXPORT_PLACE_TAKEN) {
        p->tenants[p->count++] = tenant_id;
        p->files[p->n_files++] = tenant_id;
    }
    pthread_mutex_unlock(&p->mutex);
    return place;
}

static void drop(
    struct export_places *p, struct uuid *tenants, unsigned *count, struct uuid tenant_id)
{
    pthread_mutex_lock(&p->mutex);
    unsigned i = find(tenants, *count, tenant_id);
    assert(i < *count);
    tenants[i] = tenants[--*count];
    pthread_mutex_unlock(&p->mutex);
}

void export_places_drop(struct export_places *p, struct uuid tenant_id)
{
    drop(p, p->tenants, &p->count, tenant_id);
}

void export_files_drop(struct export_places *p, struct uuid tenant_id)
{
    drop(p, p->files, &p->n_files, tenant_id);
}
