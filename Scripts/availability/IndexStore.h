// What availability.swift uses of the toolchain's libIndexStore, as declared by indexstore/indexstore.h of llvm-project.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *data;
    size_t length;
} indexstore_string_ref_t;

typedef bool (*indexstore_each_name)(void *context, indexstore_string_ref_t name);
typedef bool (*indexstore_each_item)(void *context, void *item);

void *indexstore_store_create(const char *path, void **error);
bool indexstore_store_units_apply_f(void *store, unsigned sorted, void *context, indexstore_each_name step);

void *indexstore_unit_reader_create(void *store, const char *name, void **error);
void indexstore_unit_reader_dispose(void *unit);
indexstore_string_ref_t indexstore_unit_reader_get_main_file(void *unit);
bool indexstore_unit_reader_dependencies_apply_f(void *unit, void *context, indexstore_each_item step);
int indexstore_unit_dependency_get_kind(void *dependency);
indexstore_string_ref_t indexstore_unit_dependency_get_name(void *dependency);

void *indexstore_record_reader_create(void *store, const char *name, void **error);
void indexstore_record_reader_dispose(void *record);
bool indexstore_record_reader_occurrences_apply_f(void *record, void *context, indexstore_each_item step);
void *indexstore_occurrence_get_symbol(void *occurrence);
uint64_t indexstore_occurrence_get_roles(void *occurrence);
void indexstore_occurrence_get_line_col(void *occurrence, unsigned *line, unsigned *column);
bool indexstore_occurrence_relations_apply_f(void *occurrence, void *context, indexstore_each_item step);
uint64_t indexstore_symbol_relation_get_roles(void *relation);
void *indexstore_symbol_relation_get_symbol(void *relation);
indexstore_string_ref_t indexstore_symbol_get_usr(void *symbol);
indexstore_string_ref_t indexstore_symbol_get_name(void *symbol);
