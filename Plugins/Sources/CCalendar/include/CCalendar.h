/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CCALENDAR_H
#define SEARCHLIGHT_CCALENDAR_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* iCalendar recurrence rules and time zones (RFC 5545), implemented with libical. libical has
 * global state, so one lock guards all calls. All functions may be called from any thread. */

/* A date and a time of day. Months and days are numbered from 1. */
typedef struct {
    int32_t year, month, day, hour, minute, second;
} calendar_time;

/* A time zone. */
typedef struct calendar_zone calendar_zone;

/* Returns a zone in the system's database, such as "Europe/Berlin"; NULL if there is none. The name
 * must not contain "..". The zone is never freed. */
const calendar_zone *calendar_zone_named(const char *name);

/* Reads a VTIMEZONE; NULL if it is not one. Its rules must be bounded, because libical expands them
 * up to the year of a query. Free the zone with calendar_zone_free. */
calendar_zone *calendar_zone_read(const char *component);
void calendar_zone_free(calendar_zone *zone);

/* Returns a zone's offset from UTC at a time in UTC, in seconds east of Greenwich. */
int32_t calendar_zone_offset(const calendar_zone *zone, calendar_time time);

/* Writes a rule's occurrences from `first` to `last`, both inclusive, in order.
 *
 * All times are local times in one zone. `rule` is the value of RRULE without UNTIL and RSCALE. The
 * caller bounds the number of periods between `start` and `last`; one period may have many
 * occurrences.
 *
 * Returns the number of occurrences, at most `capacity`; -1 if the rule is invalid; or -2 if it has
 * more than `maximum_steps` occurrences before the results are complete. */
ssize_t calendar_rule_expand(const char *rule, calendar_time start, int is_date, calendar_time first, calendar_time last,
                             calendar_time *results, size_t capacity, size_t maximum_steps);

#endif
