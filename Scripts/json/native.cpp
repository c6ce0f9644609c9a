// Lets a library of C or C++ read or write. The macro with the name of the library selects it.
// usage: native read PATH … | native write FOLDER PATH …
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

using Styles = std::map<std::string, std::string>;

// MARK: - The form that compare.py reads

static std::string text(const char *bytes, size_t count) {
    std::string all = "\"s";
    char digits[3];
    for (size_t index = 0; index < count; index++) {
        snprintf(digits, sizeof digits, "%02x", (unsigned char)bytes[index]);
        all += digits;
    }
    return all + "\"";
}

static std::string real(double value) {
    uint64_t bits;
    char digits[24];
    memcpy(&bits, &value, sizeof bits);
    snprintf(digits, sizeof digits, "\"d%016llx\"", (unsigned long long)bits);
    return digits;
}

template <typename Number> static std::string integer(Number value) { return "\"i" + std::to_string(value) + "\""; }
static std::string boolean(bool value) { return value ? "true" : "false"; }

/// Collects the elements of a list or the pairs of a dictionary.
struct Parts {
    std::string all;
    void add(const std::string &part) { all += (all.empty() ? "" : ",") + part; }
    void add(const std::string &key, const std::string &value) { add(key + ":" + value); }
    std::string list() const { return "[" + all + "]"; }
    std::string object() const { return "{" + all + "}"; }
};

#ifdef JANSSON
#include <jansson.h>
static std::string canonical(json_t *value) {
    Parts parts;
    size_t index;
    json_t *element;
    const char *key;
    switch (json_typeof(value)) {
    case JSON_NULL: return "null";
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_INTEGER: return integer(json_integer_value(value));
    case JSON_REAL: return real(json_real_value(value));
    case JSON_STRING: return text(json_string_value(value), json_string_length(value));
    case JSON_ARRAY:
        json_array_foreach(value, index, element) parts.add(canonical(element));
        return parts.list();
    default:
        json_object_foreach(value, key, element) parts.add(text(key, strlen(key)), canonical(element));
        return parts.object();
    }
}
static json_t *parsed(const std::string &bytes) {
    json_error_t error;
    json_t *value = json_loadb(bytes.data(), bytes.size(), JSON_ALLOW_NUL, &error);
    if (!value) throw std::runtime_error(error.text);
    return value;
}
static std::string read(const std::string &bytes) { return canonical(parsed(bytes)); }
static Styles styles(const std::string &bytes) {
    json_t *value = parsed(bytes);
    return {{"line", json_dumps(value, 0)}, {"compact", json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ESCAPE_SLASH)},
            {"spaces", json_dumps(value, JSON_INDENT(3) | JSON_SORT_KEYS)}};
}
#elif defined(JSON_C)
#include <json-c/json.h>
static std::string canonical(json_object *value) {
    Parts parts;
    switch (json_object_get_type(value)) {
    case json_type_null: return "null";
    case json_type_boolean: return boolean(json_object_get_boolean(value));
    case json_type_int:
        if (json_object_get_int64(value) == INT64_MAX) return integer(json_object_get_uint64(value));
        return integer(json_object_get_int64(value));
    case json_type_double: return real(json_object_get_double(value));
    case json_type_string: return text(json_object_get_string(value), json_object_get_string_len(value));
    case json_type_array:
        for (size_t index = 0; index < json_object_array_length(value); index++) parts.add(canonical(json_object_array_get_idx(value, index)));
        return parts.list();
    default: {
        json_object_object_foreach(value, key, element) parts.add(text(key, strlen(key)), canonical(element));
        return parts.object();
    }
    }
}
static json_object *parsed(const std::string &bytes) {
    json_tokener *tokener = json_tokener_new();
    json_object *value = json_tokener_parse_ex(tokener, bytes.data(), bytes.size());
    if (json_tokener_get_error(tokener) != json_tokener_success) throw std::runtime_error("json-c");
    return value;
}
static std::string read(const std::string &bytes) { return canonical(parsed(bytes)); }
static Styles styles(const std::string &bytes) {
    json_object *value = parsed(bytes);
    auto write = [=](int flags) { return std::string(json_object_to_json_string_ext(value, flags)); };
    return {{"plain", write(JSON_C_TO_STRING_PLAIN)}, {"line", write(JSON_C_TO_STRING_SPACED)},
            {"tabs", write(JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_PRETTY_TAB | JSON_C_TO_STRING_NOSLASHESCAPE)}};
}
#elif defined(CJSON)
#include <cjson/cJSON.h>
static std::string canonical(const cJSON *value) {
    Parts parts;
    if (cJSON_IsNull(value)) return "null";
    if (cJSON_IsBool(value)) return boolean(cJSON_IsTrue(value));
    if (cJSON_IsNumber(value)) return real(value->valuedouble);
    if (cJSON_IsString(value)) return text(value->valuestring, strlen(value->valuestring));
    const bool isArray = cJSON_IsArray(value);
    for (const cJSON *each = value->child; each; each = each->next)
        isArray ? parts.add(canonical(each)) : parts.add(text(each->string, strlen(each->string)), canonical(each));
    return isArray ? parts.list() : parts.object();
}
static cJSON *parsed(const std::string &bytes) {
    cJSON *value = cJSON_ParseWithLength(bytes.data(), bytes.size());
    if (!value) throw std::runtime_error("cJSON");
    return value;
}
static std::string read(const std::string &bytes) { return canonical(parsed(bytes)); }
static Styles styles(const std::string &bytes) {
    cJSON *value = parsed(bytes);
    return {{"tabs", cJSON_Print(value)}, {"compact", cJSON_PrintUnformatted(value)}};
}
#elif defined(YAJL)
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>
static std::string canonical(yajl_val value) {
    Parts parts;
    if (YAJL_IS_NULL(value)) return "null";
    if (YAJL_IS_TRUE(value) || YAJL_IS_FALSE(value)) return boolean(YAJL_IS_TRUE(value));
    if (YAJL_IS_INTEGER(value)) return integer(YAJL_GET_INTEGER(value));
    if (YAJL_IS_NUMBER(value)) return real(YAJL_GET_DOUBLE(value));
    if (YAJL_IS_STRING(value)) return text(YAJL_GET_STRING(value), strlen(YAJL_GET_STRING(value)));
    if (YAJL_IS_ARRAY(value)) {
        for (size_t index = 0; index < value->u.array.len; index++) parts.add(canonical(value->u.array.values[index]));
        return parts.list();
    }
    for (size_t index = 0; index < value->u.object.len; index++) {
        const char *key = value->u.object.keys[index];
        parts.add(text(key, strlen(key)), canonical(value->u.object.values[index]));
    }
    return parts.object();
}
static void generate(yajl_gen generator, yajl_val value) {
    auto string = [=](const char *bytes) { yajl_gen_string(generator, (const unsigned char *)bytes, strlen(bytes)); };
    if (YAJL_IS_NULL(value)) yajl_gen_null(generator);
    else if (YAJL_IS_TRUE(value) || YAJL_IS_FALSE(value)) yajl_gen_bool(generator, YAJL_IS_TRUE(value));
    else if (YAJL_IS_INTEGER(value)) yajl_gen_integer(generator, YAJL_GET_INTEGER(value));
    else if (YAJL_IS_NUMBER(value)) yajl_gen_double(generator, YAJL_GET_DOUBLE(value));
    else if (YAJL_IS_STRING(value)) string(YAJL_GET_STRING(value));
    else if (YAJL_IS_ARRAY(value)) {
        yajl_gen_array_open(generator);
        for (size_t index = 0; index < value->u.array.len; index++) generate(generator, value->u.array.values[index]);
        yajl_gen_array_close(generator);
    } else {
        yajl_gen_map_open(generator);
        for (size_t index = 0; index < value->u.object.len; index++) {
            string(value->u.object.keys[index]);
            generate(generator, value->u.object.values[index]);
        }
        yajl_gen_map_close(generator);
    }
}
static yajl_val parsed(const std::string &bytes) {
    char error[256];
    yajl_val value = yajl_tree_parse(bytes.c_str(), error, sizeof error);
    if (!value) throw std::runtime_error(error);
    return value;
}
static std::string read(const std::string &bytes) { return canonical(parsed(bytes)); }
static Styles styles(const std::string &bytes) {
    Styles all;
    for (const char *style : {"compact", "spaces"}) {
        yajl_gen generator = yajl_gen_alloc(NULL);
        yajl_gen_config(generator, yajl_gen_beautify, strcmp(style, "spaces") == 0);
        yajl_gen_config(generator, yajl_gen_escape_solidus, strcmp(style, "spaces") == 0);
        generate(generator, parsed(bytes));
        const unsigned char *start;
        size_t count;
        yajl_gen_get_buf(generator, &start, &count);
        all[style] = std::string((const char *)start, count);
    }
    return all;
}
#elif defined(JSON_GLIB)
#include <json-glib/json-glib.h>
static std::string canonical(JsonNode *value) {
    Parts parts;
    if (JSON_NODE_HOLDS_NULL(value)) return "null";
    if (JSON_NODE_HOLDS_ARRAY(value)) {
        JsonArray *array = json_node_get_array(value);
        for (guint index = 0; index < json_array_get_length(array); index++) parts.add(canonical(json_array_get_element(array, index)));
        return parts.list();
    }
    if (JSON_NODE_HOLDS_OBJECT(value)) {
        JsonObjectIter iterator;
        const gchar *key;
        JsonNode *element;
        json_object_iter_init(&iterator, json_node_get_object(value));
        while (json_object_iter_next(&iterator, &key, &element)) parts.add(text(key, strlen(key)), canonical(element));
        return parts.object();
    }
    switch (json_node_get_value_type(value)) {
    case G_TYPE_BOOLEAN: return boolean(json_node_get_boolean(value));
    case G_TYPE_INT64: return integer(json_node_get_int(value));
    case G_TYPE_DOUBLE: return real(json_node_get_double(value));
    default: return text(json_node_get_string(value), strlen(json_node_get_string(value)));
    }
}
static JsonNode *parsed(const std::string &bytes) {
    JsonParser *parser = json_parser_new_immutable();
    if (!json_parser_load_from_data(parser, bytes.data(), bytes.size(), NULL)) throw std::runtime_error("json-glib");
    return json_parser_get_root(parser);
}
static std::string read(const std::string &bytes) { return canonical(parsed(bytes)); }
static Styles styles(const std::string &bytes) {
    JsonNode *value = parsed(bytes);
    return {{"compact", json_to_string(value, FALSE)}, {"spaces", json_to_string(value, TRUE)}};
}
#elif defined(NLOHMANN)
#include <nlohmann/json.hpp>
using JSON = nlohmann::json;
static std::string canonical(const JSON &value) {
    Parts parts;
    if (value.is_null()) return "null";
    if (value.is_boolean()) return boolean(value.get<bool>());
    if (value.is_number_unsigned()) return integer(value.get<uint64_t>());
    if (value.is_number_integer()) return integer(value.get<int64_t>());
    if (value.is_number()) return real(value.get<double>());
    if (value.is_string()) return text(value.get_ref<const std::string &>().data(), value.get_ref<const std::string &>().size());
    if (value.is_array()) {
        for (const JSON &each : value) parts.add(canonical(each));
        return parts.list();
    }
    for (const auto &each : value.items()) parts.add(text(each.key().data(), each.key().size()), canonical(each.value()));
    return parts.object();
}
static std::string read(const std::string &bytes) { return canonical(JSON::parse(bytes)); }
static Styles styles(const std::string &bytes) {
    JSON value = JSON::parse(bytes);
    return {{"compact", value.dump()}, {"ascii", value.dump(1, '\t', true)}, {"spaces", value.dump(4)}};
}
#elif defined(RAPIDJSON)
#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
using namespace rapidjson;
static std::string canonical(const Value &value) {
    Parts parts;
    if (value.IsNull()) return "null";
    if (value.IsBool()) return boolean(value.GetBool());
    if (value.IsInt64()) return integer(value.GetInt64());
    if (value.IsUint64()) return integer(value.GetUint64());
    if (value.IsNumber()) return real(value.GetDouble());
    if (value.IsString()) return text(value.GetString(), value.GetStringLength());
    if (value.IsArray()) {
        for (const Value &each : value.GetArray()) parts.add(canonical(each));
        return parts.list();
    }
    for (const auto &each : value.GetObject()) parts.add(text(each.name.GetString(), each.name.GetStringLength()), canonical(each.value));
    return parts.object();
}
static void parse(Document &document, const std::string &bytes) {
    document.Parse<kParseFullPrecisionFlag>(bytes.data(), bytes.size());
    if (document.HasParseError()) throw std::runtime_error("rapidjson");
}
static std::string read(const std::string &bytes) {
    Document document;
    parse(document, bytes);
    return canonical(document);
}
static Styles styles(const std::string &bytes) {
    Document document;
    parse(document, bytes);
    StringBuffer compact, pretty, arrays;
    Writer<StringBuffer, UTF8<>, ASCII<>> compactWriter(compact);
    PrettyWriter<StringBuffer> prettyWriter(pretty), arrayWriter(arrays);
    arrayWriter.SetIndent('\t', 1);
    arrayWriter.SetFormatOptions(kFormatSingleLineArray);
    document.Accept(compactWriter);
    document.Accept(prettyWriter);
    document.Accept(arrayWriter);
    return {{"ascii", compact.GetString()}, {"pretty", pretty.GetString()}, {"arrays", arrays.GetString()}};
}
#elif defined(JSONCPP)
#include <json/json.h>
static std::string canonical(const Json::Value &value) {
    Parts parts;
    const char *start, *end;
    switch (value.type()) {
    case Json::nullValue: return "null";
    case Json::booleanValue: return boolean(value.asBool());
    case Json::intValue: return integer(value.asInt64());
    case Json::uintValue: return integer(value.asUInt64());
    case Json::realValue: return real(value.asDouble());
    case Json::stringValue:
        value.getString(&start, &end);
        return text(start, end - start);
    case Json::arrayValue:
        for (const Json::Value &each : value) parts.add(canonical(each));
        return parts.list();
    default:
        for (auto each = value.begin(); each != value.end(); ++each) parts.add(text(each.name().data(), each.name().size()), canonical(*each));
        return parts.object();
    }
}
static Json::Value parsed(const std::string &bytes) {
    Json::Value value;
    std::istringstream stream(bytes);
    Json::CharReaderBuilder builder;
    std::string errors;
    if (!Json::parseFromStream(builder, stream, &value, &errors)) throw std::runtime_error(errors);
    return value;
}
static std::string read(const std::string &bytes) { return canonical(parsed(bytes)); }
static Styles styles(const std::string &bytes) {
    Json::Value value = parsed(bytes);
    Json::StreamWriterBuilder tabs, compact, utf8;
    compact["indentation"] = "";
    utf8["indentation"] = "  ";
    utf8["emitUTF8"] = true;
    return {{"tabs", Json::writeString(tabs, value)}, {"compact", Json::writeString(compact, value)}, {"utf8", Json::writeString(utf8, value)}};
}
#elif defined(SIMDJSON)
#include <simdjson.h>
using namespace simdjson;
static std::string canonical(dom::element value) {
    Parts parts;
    switch (value.type()) {
    case dom::element_type::NULL_VALUE: return "null";
    case dom::element_type::BOOL: return boolean(bool(value));
    case dom::element_type::INT64: return integer(int64_t(value));
    case dom::element_type::UINT64: return integer(uint64_t(value));
    case dom::element_type::DOUBLE: return real(double(value));
    case dom::element_type::STRING: {
        std::string_view bytes = value;
        return text(bytes.data(), bytes.size());
    }
    case dom::element_type::ARRAY:
        for (dom::element each : dom::array(value)) parts.add(canonical(each));
        return parts.list();
    default:
        for (auto each : dom::object(value)) parts.add(text(each.key.data(), each.key.size()), canonical(each.value));
        return parts.object();
    }
}
static std::string read(const std::string &bytes) {
    dom::parser parser;
    return canonical(parser.parse(bytes));
}
static Styles styles(const std::string &bytes) {
    dom::parser parser;
    return {{"minified", minify(dom::element(parser.parse(bytes)))}};
}
#endif

static std::string contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

int main(int count, char **words) {
    const bool reads = strcmp(words[1], "read") == 0;
    for (int index = reads ? 2 : 3; index < count; index++) {
        const std::string path = words[index], bytes = contents(path);
        if (reads) {
            std::string line;
            try {
                line = read(bytes);
            } catch (const std::exception &) {
                line = "refused";
            }
            puts(line.c_str());
            continue;
        }
        const std::string name = path.substr(path.rfind('/') + 1, path.size() - path.rfind('/') - 6);
        for (const auto &style : styles(bytes))
            std::ofstream(std::string(words[2]) + "/" + name + "-" + style.first + ".json", std::ios::binary) << style.second;
    }
}
