/* SPDX-License-Identifier: Apache-2.0 */
#include "CCalendar.h"
#include <libical/ical.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) {
    pthread_mutex_lock(&lock);
    /* Otherwise some builds of libical terminate the process at an invalid value. */
    icalerror_set_errors_are_fatal(0);
    icalerror_clear_errno();
}

static void leave(void) {
    /* libical keeps temporary texts for each thread. */
    icalmemory_free_ring();
    pthread_mutex_unlock(&lock);
}

static struct icaltimetype from(calendar_time time, int is_date) {
    struct icaltimetype result = icaltime_null_time();
    result.year = time.year;
    result.month = time.month;
    result.day = time.day;
    if (is_date) {
        result.is_date = 1;
        return result;
    }
    result.is_date = 0;
    result.hour = time.hour;
    result.minute = time.minute;
    result.second = time.second;
    return result;
}

static calendar_time to(struct icaltimetype time) {
    return (calendar_time){time.year, time.month, time.day, time.hour, time.minute, time.second};
}

const calendar_zone *calendar_zone_named(const char *name) {
    if (strstr(name, "..")) return NULL;
    enter();
    const icaltimezone *zone = icaltimezone_get_builtin_timezone(name);
    leave();
    return (const calendar_zone *)zone;
}

calendar_zone *calendar_zone_read(const char *component) {
    enter();
    icaltimezone *zone = NULL;
    icalcomponent *parsed = icalparser_parse_string(component);
    if (parsed) {
        zone = icaltimezone_new();
        /* The zone owns the component if the call succeeds. */
        if (!zone || !icaltimezone_set_component(zone, parsed)) {
            icalcomponent_free(parsed);
            if (zone) icaltimezone_free(zone, 1);
            zone = NULL;
        }
    }
    leave();
    return (calendar_zone *)zone;
}

void calendar_zone_free(calendar_zone *zone) {
    if (!zone) return;
    enter();
    icaltimezone_free((icaltimezone *)zone, 1);
    leave();
}

int32_t calendar_zone_offset(const calendar_zone *zone, calendar_time time) {
    enter();
    struct icaltimetype utc = from(time, 0);
    utc.zone = icaltimezone_get_utc_timezone();
    int is_daylight = 0;
    int offset = icaltimezone_get_utc_offset_of_utc_time((icaltimezone *)zone, &utc, &is_daylight);
    leave();
    return offset;
}

ssize_t calendar_rule_expand(const char *rule, calendar_time start, int is_date, calendar_time first, calendar_time last,
                             calendar_time *results, size_t capacity, size_t maximum_steps) {
    enter();
    ssize_t count = -1;
    struct icalrecurrencetype parsed = icalrecurrencetype_from_string(rule);
    if (parsed.freq != ICAL_NO_RECURRENCE) {
        /* libical stops at UNTIL even while no date matches the rule. */
        parsed.until = from(last, is_date);
        struct icaltimetype from_first = from(first, is_date);
        icalrecur_iterator *iterator = icalrecur_iterator_new(parsed, from(start, is_date));
        if (iterator) {
            count = 0;
            /* With COUNT, all occurrences must be counted. */
            if (parsed.count == 0) icalrecur_iterator_set_start(iterator, from_first);
            for (size_t steps = 0; (size_t)count < capacity; steps++) {
                if (steps == maximum_steps) {
                    count = -2;
                    break;
                }
                struct icaltimetype next = icalrecur_iterator_next(iterator);
                if (icaltime_is_null_time(next)) break;
                if (icaltime_compare(next, from_first) >= 0) results[count++] = to(next);
            }
            icalrecur_iterator_free(iterator);
        }
    }
    leave();
    return count;
}
