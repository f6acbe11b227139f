/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CCALENDAR_H
#define SEARCHLIGHT_CCALENDAR_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Recurrence rules and time zones of iCalendar (RFC 5545), by libical. libical has global state,
 * so one lock guards all calls. All functions may be called from any thread. */

/* A date and a time of day. The month and the day count from 1. */
typedef struct {
    int32_t year, month, day, hour, minute, second;
} calendar_time;

/* A time zone. */
typedef struct calendar_zone calendar_zone;

/* Returns the zone of the system's database with a name such as "Europe/Berlin"; NULL if there
 * is none. The name must not contain "..". The zone is never freed. */
const calendar_zone *calendar_zone_named(const char *name);

/* Reads a VTIMEZONE; NULL if it is not one. Its rules must be bounded: libical expands them to
 * the year of a question. Free the zone with calendar_zone_free. */
calendar_zone *calendar_zone_read(const char *component);
void calendar_zone_free(calendar_zone *zone);

/* Returns the difference of a zone to UTC at a time in UTC, in seconds east of Greenwich. */
int32_t calendar_zone_offset(const calendar_zone *zone, calendar_time time);

/* Writes the occurrences of a rule from `first` to `last`, both included, in their order.
 *
 * All times are local times of one zone. `rule` is the value of RRULE without UNTIL and RSCALE.
 * The caller bounds the number of periods between `start` and `last`; one period may have many
 * occurrences.
 *
 * Returns the number of occurrences, at most `capacity`; -1 if the rule is not valid, and -2 if it
 * has more than `maximum_steps` occurrences before the results are complete. */
ssize_t calendar_rule_expand(const char *rule, calendar_time start, int is_date, calendar_time first, calendar_time last,
                             calendar_time *results, size_t capacity, size_t maximum_steps);

#endif
