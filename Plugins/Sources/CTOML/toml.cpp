// SPDX-License-Identifier: Apache-2.0
#include "include/CTOML.h"

#include <cmath>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

// Some invalid texts fail an assertion of toml++ (3.3.0, in parse_key). Throw an error for it,
// instead of ending the process or continuing with a false assumption.
#undef NDEBUG
#define TOML_ASSERT(condition) \
    do { \
        if (!(condition)) throw std::logic_error(#condition); \
    } while (false)
#define TOML_ASSERT_ASSUME(condition) TOML_ASSERT(condition)

// Ignores warnings in the headers of toml++.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wexceptions"
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace {
struct Visit {
    toml_visitor visitor;
    void *context;

    void value(const std::string &key, toml_kind kind, const std::string &text) const {
        visitor(context, key.data(), key.size(), kind, text.data(), text.size());
    }

    template <typename Moment>
    void moment(const std::string &key, const Moment &moment) const {
        std::ostringstream text;
        text << moment;
        value(key, TOML_MOMENT, text.str());
    }

    void node(const std::string &key, const toml::node &node) const {
        if (const auto *table = node.as_table()) {
            for (const auto &[name, child] : *table) {
                const std::string_view text = name.str();
                this->node(key.empty() ? std::string(text) : key + "." + std::string(text), child);
            }
        } else if (const auto *array = node.as_array()) {
            for (const auto &child : *array) this->node(key, child);
        } else if (const auto *text = node.as_string()) {
            value(key, TOML_TEXT, text->get());
        } else if (const auto *integer = node.as_integer()) {
            value(key, TOML_INTEGER, std::to_string(integer->get()));
        } else if (const auto *real = node.as_floating_point()) {
            if (!std::isfinite(real->get())) return;
            std::ostringstream text;
            text.precision(15);
            text << real->get();
            value(key, TOML_REAL, text.str());
        } else if (const auto *flag = node.as_boolean()) {
            value(key, TOML_FLAG, flag->get() ? "true" : "false");
        } else if (const auto *date = node.as_date()) {
            moment(key, date->get());
        } else if (const auto *time = node.as_time()) {
            moment(key, time->get());
        } else if (const auto *both = node.as_date_time()) {
            moment(key, both->get());
        }
    }
};
} // namespace

int toml_visit(const char *document, size_t length, toml_visitor visitor, void *context) {
    try {
        const toml::table table = toml::parse(std::string_view(document, length));
        Visit{visitor, context}.node("", table);
        return 1;
    } catch (const std::exception &) {
        return 0;
    }
}
