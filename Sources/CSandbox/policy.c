/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "csandbox_policy.h"

static int is_access(uint32_t access) {
    uint32_t modifiers = CSANDBOX_WITHOUT_LISTING | CSANDBOX_UNLESS_SERVED;
    return access == CSANDBOX_WRITE || (access & ~modifiers) == CSANDBOX_READ;
}

static int parse_rules(const unsigned char *bytes, size_t count, uint32_t rule_count, size_t *offset) {
    for (uint32_t i = 0; i < rule_count; i++) {
        csandbox_rule rule;
        if (count - *offset < sizeof rule) return EINVAL;
        memcpy(&rule, bytes + *offset, sizeof rule);
        *offset += sizeof rule;
        if (!is_access(rule.access)) return EINVAL;
        if (rule.length == 0 || rule.length > CSANDBOX_MAXIMUM_PATH) return EINVAL;
        if (count - *offset < (size_t)rule.length + 1) return EINVAL;
        const unsigned char *path = bytes + *offset;
        if (path[0] != '/' || path[rule.length] != 0 || memchr(path, 0, rule.length) != NULL) return EINVAL;
        *offset += (size_t)rule.length + 1;
    }
    return 0;
}

int csandbox_parse(const unsigned char *bytes, size_t count, csandbox_parsed *parsed) {
    csandbox_policy head;
    if (count < sizeof head || count > CSANDBOX_MAXIMUM_BYTES) return EINVAL;
    memcpy(&head, bytes, sizeof head);
    if (head.magic != CSANDBOX_POLICY_MAGIC || head.version != CSANDBOX_VERSION) return EINVAL;
    if (head.byte_count != count || head.rule_count > CSANDBOX_MAXIMUM_RULES) return EINVAL;
    if (head.telling_count > CSANDBOX_MAXIMUM_INSTRUCTIONS || head.plain_count > CSANDBOX_MAXIMUM_INSTRUCTIONS)
        return EINVAL;
    if (head.host > INT_MAX || head.allows_tcp > 1) return EINVAL;
    if (head.idle > CSANDBOX_IDLE_ALL || head.timer_slack > CSANDBOX_MAXIMUM_TIMER_SLACK) return EINVAL;
    if (head.oom_score > CSANDBOX_MAXIMUM_OOM_SCORE) return EINVAL;
    size_t offset = sizeof head;
    if (parse_rules(bytes, count, head.rule_count, &offset) != 0) return EINVAL;
    size_t instructions = (size_t)head.telling_count + head.plain_count;
    if (count - offset != instructions * 8) return EINVAL;
    parsed->head = head;
    parsed->rules = bytes + sizeof head;
    parsed->telling = bytes + offset;
    parsed->plain = bytes + offset + (size_t)head.telling_count * 8;
    return 0;
}
