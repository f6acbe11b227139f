/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "CMailReader.h"

#include <errno.h>
#include <gmime/gmime.h>
#include <iconv.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "bounds.h"
#include "html.h"

enum {
    MAXIMUM_DEPTH = 60,             /* nested parts */
    MAXIMUM_IDENTIFIER = 998,       /* a Message-ID, in bytes */
    MAXIMUM_TEXT_SOURCE = 16 << 20, /* the encoded bytes that are decoded for one text part */
};

/* A message that is being read. */
typedef struct {
    const unsigned char *bytes; /* the bytes that GMime parses */
    size_t length;
    unsigned char *copy; /* nullable: the memory for `bytes` if the header was cut */
    GByteArray *array;
    GMimeMessage *message;
    uint32_t problems;
} parsed;

static void initialize(void) { g_mime_init(); }

static bool parse(parsed *parsed, const void *bytes, size_t length) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
    memset(parsed, 0, sizeof *parsed);
    size_t cut, header_end;
    length = bounds_length(bytes, length, &cut, &header_end, &parsed->problems);
    parsed->bytes = bytes;
    parsed->length = length;
    if (header_end > cut) {
        parsed->length = cut + (length - header_end);
        parsed->copy = g_malloc(parsed->length);
        memcpy(parsed->copy, bytes, cut);
        memcpy(parsed->copy + cut, (const unsigned char *)bytes + header_end, length - header_end);
        parsed->bytes = parsed->copy;
    }
    /* The stream reads the bytes without a copy. The array does not own them. */
    parsed->array = g_byte_array_new();
    parsed->array->data = (guint8 *)(uintptr_t)parsed->bytes;
    parsed->array->len = (guint)parsed->length;
    GMimeStream *stream = g_mime_stream_mem_new_with_byte_array(parsed->array);
    g_mime_stream_mem_set_owner(GMIME_STREAM_MEM(stream), FALSE);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    g_object_unref(stream);
    parsed->message = g_mime_parser_construct_message(parser, NULL);
    g_object_unref(parser);
    return parsed->message != NULL;
}

static void end_parsing(parsed *parsed) {
    if (parsed->message != NULL) g_object_unref(parsed->message);
    if (parsed->array != NULL) {
        parsed->array->data = NULL;
        parsed->array->len = 0;
        g_byte_array_free(parsed->array, FALSE);
    }
    g_free(parsed->copy);
}

/* ---- Text --------------------------------------------------------------------------------- */

/* Converts bytes from an encoding to UTF-8 and appends them. Returns false if iconv does not
 * support the encoding. */
static bool append_converted(GString *text, const char *charset, const char *bytes, size_t length, size_t limit) {
    iconv_t converter = iconv_open("UTF-8", charset);
    if (converter == (iconv_t)-1) return false;
    char *from = (char *)(uintptr_t)bytes;
    char buffer[16384];
    while (length > 0 && text->len < limit) {
        char *to = buffer;
        size_t room = sizeof buffer;
        size_t result = iconv(converter, &from, &length, &to, &room);
        int error = errno;
        g_string_append_len(text, buffer, to - buffer);
        if (result != (size_t)-1) break;
        if (error == E2BIG) continue;
        g_string_append(text, "\xEF\xBF\xBD");
        from++;
        length--;
    }
    iconv_close(converter);
    return true;
}

static bool has_high_bytes(const char *bytes, size_t length) {
    for (size_t place = 0; place < length; place++)
        if (bytes[place] & 0x80) return true;
    return false;
}

/* Returns true for encodings in which bytes below 0x80 may not be ASCII. */
static bool is_stateful(const char *charset) {
    static const char *const names[] = {"iso-2022", "utf-7", "hz", "utf-16", "utf-32", "ucs-"};
    for (size_t place = 0; place < G_N_ELEMENTS(names); place++)
        if (g_ascii_strncasecmp(charset, names[place], strlen(names[place])) == 0) return true;
    return false;
}

/* Appends bytes as UTF-8 without NUL. If the bytes are valid UTF-8 with non-ASCII characters, the
 * declared encoding is ignored. */
static void append_text(GString *text, const char *charset, const char *bytes, size_t length, size_t limit) {
    if (length == 0) return;
    size_t start = text->len;
    bool is_high = has_high_bytes(bytes, length);
    bool is_utf8 = g_utf8_validate_len(bytes, length, NULL);
    if (charset != NULL && *charset == 0) charset = NULL;
    bool is_wide = charset != NULL && is_stateful(charset) && !(is_high && is_utf8);
    if (is_wide && append_converted(text, g_mime_charset_iconv_name(charset), bytes, length, limit)) {
        /* append_converted has appended the text. */
    } else if (is_utf8 || !is_high) {
        g_string_append_len(text, bytes, (gssize)length);
    } else if (charset == NULL || g_ascii_strcasecmp(charset, "utf-8") == 0 ||
               g_ascii_strcasecmp(charset, "us-ascii") == 0 || g_ascii_strcasecmp(charset, "unknown-8bit") == 0 ||
               !append_converted(text, g_mime_charset_iconv_name(charset), bytes, length, limit)) {
        /* In text that is mostly UTF-8, invalid bytes are replaced. Other text is read as
         * windows-1252, which western mailers send without a declaration. */
        char *valid = g_utf8_make_valid(bytes, (gssize)length);
        size_t faults = 0, characters = 0;
        for (const char *place = valid; *place != 0; place = g_utf8_next_char(place)) {
            gunichar character = g_utf8_get_char(place);
            if (character == 0xFFFD) faults++;
            else if (character >= 0x80) characters++;
        }
        if (characters > faults || !append_converted(text, "WINDOWS-1252", bytes, length, limit))
            g_string_append(text, valid);
        g_free(valid);
    }
    for (size_t place = start; place < text->len; place++)
        if (text->str[place] == 0) text->str[place] = ' ';
}

/* Cuts a text at a limit, between characters. */
static void cut(GString *text, size_t limit, uint64_t *left_out) {
    if (text->len <= limit) return;
    size_t end = limit;
    while (end > 0 && (text->str[end] & 0xC0) == 0x80) end--;
    *left_out += text->len - end;
    g_string_truncate(text, end);
}

/* Decodes at most `limit` bytes of a part. */
static GByteArray *decoded(const parsed *parsed, GMimePart *part, size_t limit) {
    GMimeDataWrapper *wrapper = g_mime_part_get_content(part);
    GMimeStream *stream = wrapper != NULL ? g_mime_data_wrapper_get_stream(wrapper) : NULL;
    if (stream == NULL) return NULL;
    gint64 start = stream->bound_start, end = stream->bound_end;
    if (end < 0 || (guint64)end > parsed->length) end = (gint64)parsed->length;
    if (start < 0 || start >= end) return g_byte_array_new();
    size_t length = (size_t)(end - start);
    if (length > limit) length = limit;
    const char *bytes = (const char *)parsed->bytes + start;
    GMimeEncoding state;
    g_mime_encoding_init_decode(&state, g_mime_data_wrapper_get_encoding(wrapper));
    size_t room = g_mime_encoding_outlen(&state, length) + 64;
    GByteArray *result = g_byte_array_sized_new((guint)room);
    g_byte_array_set_size(result, (guint)room);
    size_t count = g_mime_encoding_flush(&state, bytes, length, (char *)result->data);
    g_byte_array_set_size(result, (guint)(count < room ? count : room));
    return result;
}

static uint64_t encoded_size(GMimePart *part) {
    GMimeDataWrapper *wrapper = g_mime_part_get_content(part);
    GMimeStream *stream = wrapper != NULL ? g_mime_data_wrapper_get_stream(wrapper) : NULL;
    if (stream == NULL) return 0;
    gint64 size = stream->bound_end - stream->bound_start;
    return stream->bound_end < 0 || size < 0 ? 0 : (uint64_t)size;
}

/* Appends the text of a text part. HTML is converted to its displayed text. Other types are
 * appended unchanged. */
static void append_part(GString *text, const parsed *parsed, GMimePart *part, size_t limit, uint64_t *left_out) {
    GByteArray *content = decoded(parsed, part, MAXIMUM_TEXT_SOURCE);
    if (content == NULL) return;
    uint64_t size = encoded_size(part);
    if (size > MAXIMUM_TEXT_SOURCE) *left_out += size - MAXIMUM_TEXT_SOURCE;
    GMimeContentType *type = g_mime_object_get_content_type(GMIME_OBJECT(part));
    const char *charset = g_mime_content_type_get_parameter(type, "charset");
    GString *piece = g_string_sized_new(content->len + 16);
    bool is_html = g_mime_content_type_is_type(type, "text", "html");
    char declared[48];
    if (is_html && charset == NULL &&
        html_declared_charset((const char *)content->data, content->len, declared, sizeof declared))
        charset = declared;
    append_text(piece, charset, (const char *)content->data, content->len, is_html ? SIZE_MAX : limit + 1);
    g_byte_array_free(content, TRUE);
    if (is_html) {
        GString *words = g_string_new(NULL);
        html_append_text(words, piece->str, piece->len, limit, left_out);
        g_string_free(piece, TRUE);
        piece = words;
    }
    cut(piece, limit, left_out);
    if (piece->len > 0 && text->len > 0) g_string_append_c(text, '\n');
    g_string_append_len(text, piece->str, (gssize)piece->len);
    g_string_free(piece, TRUE);
}

static bool is_blank_text(const char *text, size_t length) {
    for (size_t place = 0; place < length; place++)
        if ((unsigned char)text[place] > ' ') return false;
    return true;
}

/* ---- The parts ---------------------------------------------------------------------------- */

/* The collected content of a message's parts. */
typedef struct {
    const parsed *parsed;
    const mail_limits *limits;
    GStringChunk *strings;
    GString *text;            /* the text of the message itself */
    GString *attachment_text; /* the text of attachments and attached messages */
    GArray *attachments;
    size_t attachments_left_out;
    uint64_t left_out;
    uint32_t part;
    uint32_t problems;
    bool has_html, is_encrypted;
} collection;

static char *kept(GStringChunk *strings, const char *text, size_t limit) {
    if (text == NULL) return NULL;
    size_t length = strlen(text);
    if (length > limit) {
        length = limit;
        while (length > 0 && (text[length] & 0xC0) == 0x80) length--;
    }
    if (g_utf8_validate(text, (gssize)length, NULL)) return g_string_chunk_insert_len(strings, text, (gssize)length);
    char *valid = g_utf8_make_valid(text, (gssize)length);
    char *result = g_string_chunk_insert(strings, valid);
    g_free(valid);
    return result;
}

static bool is_attached(GMimeObject *object) {
    GMimeContentDisposition *disposition = g_mime_object_get_content_disposition(object);
    return disposition != NULL && g_mime_content_disposition_is_attachment(disposition);
}

static char *type_name(GMimeObject *object) {
    GMimeContentType *type = g_mime_object_get_content_type(object);
    char *name = type != NULL ? g_mime_content_type_get_mime_type(type) : g_strdup("application/octet-stream");
    char *lower = g_ascii_strdown(name, -1);
    g_free(name);
    return lower;
}

static void add_attachment(collection *all, GMimeObject *object, const char *name, uint64_t size) {
    if (all->attachments->len >= all->limits->attachments) {
        all->attachments_left_out++;
        return;
    }
    char *type = type_name(object);
    mail_attachment attachment = {
        .name = kept(all->strings, name != NULL ? name : "", 255),
        .type = kept(all->strings, type, 127),
        .content_id = kept(all->strings, g_mime_object_get_content_id(object), 255),
        .size = size,
        .part = all->part,
        .is_inline = !is_attached(object) && g_mime_object_get_content_id(object) != NULL,
    };
    g_free(type);
    g_array_append_val(all->attachments, attachment);
}

static void collect(collection *all, GMimeObject *object, int depth, bool is_enclosed);

/* Returns true for a part of the type text/kind that contains no other parts. */
static bool is_part_of_type(GMimeObject *object, const char *kind) {
    GMimeContentType *type = g_mime_object_get_content_type(object);
    return GMIME_IS_PART(object) && type != NULL && g_mime_content_type_is_type(type, "text", kind);
}

static bool is_plain_text(GMimeObject *object) { return is_part_of_type(object, "plain"); }

/* Returns true for HTML that is displayed as the message rather than an attached file. */
static bool is_shown_html(GMimeObject *object) {
    return is_part_of_type(object, "html") && g_mime_part_get_filename(GMIME_PART(object)) == NULL &&
           !is_attached(object);
}

/* Collects a multipart/alternative part: its plain text, or the other forms if no plain text
 * contains words. */
static void collect_alternatives(collection *all, GMimeMultipart *forms, int depth, bool is_enclosed) {
    int count = g_mime_multipart_get_count(forms);
    bool has_plain = false;
    GString *text = is_enclosed ? all->attachment_text : all->text;
    for (int place = 0; place < count; place++) {
        GMimeObject *form = g_mime_multipart_get_part(forms, place);
        if (!is_plain_text(form)) continue;
        if (has_plain) {
            all->part++;
            continue;
        }
        size_t before = text->len;
        collect(all, form, depth, is_enclosed);
        has_plain = !is_blank_text(text->str + before, text->len - before);
    }
    for (int place = 0; place < count; place++) {
        GMimeObject *form = g_mime_multipart_get_part(forms, place);
        if (is_plain_text(form)) continue;
        if (!has_plain || (GMIME_IS_PART(form) && !is_shown_html(form))) {
            collect(all, form, depth, is_enclosed);
            continue;
        }
        /* The plain text has the same words, so only this form's attachments are collected. */
        GString *known = all->text, *enclosed = all->attachment_text;
        uint64_t left_out = all->left_out;
        GString *ignored = g_string_new(NULL);
        if (is_shown_html(form)) {
            all->has_html = all->has_html || !is_enclosed;
            all->part++;
        } else {
            (all->text = ignored, all->attachment_text = ignored);
            collect(all, form, depth, is_enclosed);
            (all->text = known, all->attachment_text = enclosed);
        }
        all->left_out = left_out;
        g_string_free(ignored, TRUE);
    }
}

static void collect(collection *all, GMimeObject *object, int depth, bool is_enclosed) {
    if (object == NULL) return;
    if (depth > MAXIMUM_DEPTH) {
        all->problems |= MAIL_TOO_DEEP;
        return;
    }
    GMimeContentType *type = g_mime_object_get_content_type(object);
    if (GMIME_IS_MULTIPART(object)) {
        GMimeMultipart *parts = GMIME_MULTIPART(object);
        if (GMIME_IS_MULTIPART_ENCRYPTED(object)) all->is_encrypted = true;
        if (type != NULL && g_mime_content_type_is_type(type, "multipart", "alternative")) {
            collect_alternatives(all, parts, depth + 1, is_enclosed);
            return;
        }
        int count = g_mime_multipart_get_count(parts);
        for (int place = 0; place < count; place++)
            collect(all, g_mime_multipart_get_part(parts, place), depth + 1, is_enclosed);
        return;
    }
    all->part++;
    if (GMIME_IS_MESSAGE_PART(object)) {
        GMimeMessage *message = g_mime_message_part_get_message(GMIME_MESSAGE_PART(object));
        const char *subject = message != NULL ? g_mime_message_get_subject(message) : NULL;
        add_attachment(all, object, subject, 0);
        if (message == NULL) return;
        if (subject != NULL && all->attachment_text->len < all->limits->text) {
            char *valid = g_utf8_make_valid(subject, -1);
            if (all->attachment_text->len > 0) g_string_append_c(all->attachment_text, '\n');
            g_string_append(all->attachment_text, valid);
            cut(all->attachment_text, all->limits->text, &all->left_out);
            g_free(valid);
        }
        collect(all, g_mime_message_get_mime_part(message), depth + 1, true);
        return;
    }
    if (!GMIME_IS_PART(object)) return;
    GMimePart *part = GMIME_PART(object);
    const char *name = g_mime_part_get_filename(part);
    bool is_text = type != NULL && g_mime_content_type_is_type(type, "text", "*");
    if (is_text && name == NULL && !is_attached(object)) {
        if (!is_enclosed && is_shown_html(object)) all->has_html = true;
        GString *text = is_enclosed ? all->attachment_text : all->text;
        size_t room = all->limits->text > text->len ? all->limits->text - text->len : 0;
        if (room > 0) append_part(text, all->parsed, part, room, &all->left_out);
        else all->left_out += encoded_size(part);
        return;
    }
    if (type != NULL && (g_mime_content_type_is_type(type, "application", "pgp-signature") ||
                         g_mime_content_type_is_type(type, "application", "pkcs7-signature") ||
                         g_mime_content_type_is_type(type, "application", "x-pkcs7-signature")))
        return;
    if (type != NULL && g_mime_content_type_is_type(type, "application", "pkcs7-mime")) all->is_encrypted = true;
    add_attachment(all, object, name, encoded_size(part));
    if (!is_text) return;
    size_t room = all->limits->text > all->attachment_text->len ? all->limits->text - all->attachment_text->len : 0;
    if (room > all->limits->attachment_text) room = all->limits->attachment_text;
    if (room > 0) append_part(all->attachment_text, all->parsed, part, room, &all->left_out);
    else all->left_out += encoded_size(part);
}

/* ---- The header --------------------------------------------------------------------------- */

typedef struct {
    mail_message message;
    GStringChunk *strings;
    GString *text;
    GArray *people[4];
    GArray *attachments;
} owned_message;

static void add_people(owned_message *owned, GArray *people, InternetAddressList *list, size_t limit, int depth) {
    int count = list != NULL ? internet_address_list_length(list) : 0;
    for (int place = 0; place < count && people->len < limit; place++) {
        InternetAddress *address = internet_address_list_get_address(list, place);
        if (INTERNET_ADDRESS_IS_GROUP(address)) {
            if (depth < 4)
                add_people(owned, people, internet_address_group_get_members(INTERNET_ADDRESS_GROUP(address)), limit,
                           depth + 1);
            continue;
        }
        const char *mailbox = internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address));
        const char *name = internet_address_get_name(address);
        mail_person person = {
            .name = name != NULL && *name != 0 ? kept(owned->strings, name, 500) : NULL,
            .address = mailbox != NULL && *mailbox != 0 ? kept(owned->strings, mailbox, 500) : NULL,
        };
        if (person.name != NULL || person.address != NULL) g_array_append_val(people, person);
    }
}

static void set_people(owned_message *owned, int place, mail_people *people, InternetAddressList *list, size_t limit) {
    GArray *array = owned->people[place] = g_array_new(FALSE, FALSE, sizeof(mail_person));
    add_people(owned, array, list, limit, 0);
    people->items = (const mail_person *)(void *)array->data;
    people->count = array->len;
}

/* Returns the first identifier in a header such as References, without angle brackets. */
static char *first_identifier(GStringChunk *strings, const char *header) {
    if (header == NULL) return NULL;
    const char *start = strchr(header, '<');
    if (start == NULL) return NULL;
    start++;
    const char *end = strchr(start, '>');
    size_t length = end != NULL ? (size_t)(end - start) : 0;
    if (length == 0 || length > 998) return NULL;
    char *identifier = g_strndup(start, length), *place = identifier;
    /* A long identifier may continue on the next line. */
    for (const char *byte = identifier; *byte != 0; byte++)
        if ((unsigned char)*byte > ' ') *place++ = *byte;
    *place = 0;
    char *result = *identifier != 0 ? kept(strings, identifier, 998) : NULL;
    g_free(identifier);
    return result;
}

static const char *header(GMimeMessage *message, const char *name) {
    return g_mime_object_get_header(GMIME_OBJECT(message), name);
}

/* Returns the date of the topmost Received header. The date follows the last semicolon. */
static GDateTime *received_date(GMimeMessage *message) {
    const char *received = header(message, "Received");
    const char *date = received != NULL ? strrchr(received, ';') : NULL;
    return date != NULL ? g_mime_utils_header_decode_date(date + 1) : NULL;
}

static void read_header(owned_message *owned, GMimeMessage *message, const mail_limits *limits) {
    mail_message *result = &owned->message;
    result->thread_id = first_identifier(owned->strings, header(message, "References"));
    if (result->thread_id == NULL)
        result->thread_id = first_identifier(owned->strings, header(message, "In-Reply-To"));
    result->subject = kept(owned->strings, g_mime_message_get_subject(message), 4000);
    result->list_id = first_identifier(owned->strings, header(message, "List-Id"));
    set_people(owned, 0, &result->from, g_mime_message_get_from(message), limits->people);
    set_people(owned, 1, &result->to, g_mime_message_get_to(message), limits->people);
    set_people(owned, 2, &result->cc, g_mime_message_get_cc(message), limits->people);
    set_people(owned, 3, &result->bcc, g_mime_message_get_bcc(message), limits->people);
    if (result->from.count == 0) {
        g_array_free(owned->people[0], TRUE);
        set_people(owned, 0, &result->from, g_mime_message_get_sender(message), limits->people);
    }
    GDateTime *date = g_mime_message_get_date(message);
    if (date != NULL) g_date_time_ref(date);
    /* A date on 1 January 1970 was recorded by a clock that was never set. */
    if (date == NULL || g_date_time_to_unix(date) < 86400) {
        GDateTime *received = received_date(message);
        if (received != NULL) {
            if (date != NULL) g_date_time_unref(date);
            date = received;
        }
    }
    if (date != NULL) {
        result->date = g_date_time_to_unix(date);
        result->has_date = 1;
        g_date_time_unref(date);
    }
    const char *status = header(message, "Status"), *more = header(message, "X-Status");
    char *flags = g_strconcat(status != NULL ? status : "", more != NULL ? more : "", NULL);
    result->flags = kept(owned->strings, flags, 32);
    g_free(flags);
    const char *tags = header(message, "X-Mozilla-Keys");
    if (tags == NULL) tags = header(message, "X-Keywords");
    result->tags = kept(owned->strings, tags, 1000);
    const char *spam = header(message, "X-Spam-Flag");
    while (spam != NULL && *spam == ' ') spam++;
    result->is_spam = spam != NULL && g_ascii_strncasecmp(spam, "yes", 3) == 0;
}

/* ---- The functions of the header file ------------------------------------------------------ */

const mail_message *mail_message_read(const void *bytes, size_t length, const mail_limits *limits) {
    owned_message *owned = g_new0(owned_message, 1);
    owned->strings = g_string_chunk_new(1024);
    owned->text = g_string_new(NULL);
    owned->attachments = g_array_new(FALSE, FALSE, sizeof(mail_attachment));
    owned->message.flags = "";
    parsed parsed;
    if (parse(&parsed, bytes, length)) {
        char *identifier = mail_message_identify(bytes, length, 1, &owned->message.status);
        owned->message.message_id = kept(owned->strings, identifier, MAXIMUM_IDENTIFIER);
        mail_free(identifier);
        read_header(owned, parsed.message, limits);
        collection all = {.parsed = &parsed, .limits = limits, .strings = owned->strings, .text = owned->text,
                          .attachment_text = g_string_new(NULL), .attachments = owned->attachments};
        collect(&all, g_mime_message_get_mime_part(parsed.message), 0, false);
        if (all.attachment_text->len > 0) {
            if (owned->text->len > 0) g_string_append(owned->text, "\n\n");
            g_string_append_len(owned->text, all.attachment_text->str, (gssize)all.attachment_text->len);
            cut(owned->text, limits->text, &all.left_out);
        }
        g_string_free(all.attachment_text, TRUE);
        owned->message.problems = all.problems;
        owned->message.text_left_out = all.left_out;
        owned->message.has_html = all.has_html;
        owned->message.is_encrypted = all.is_encrypted;
        owned->message.attachments_left_out = all.attachments_left_out;
    } else {
        owned->message.problems = MAIL_NO_MESSAGE;
    }
    owned->message.problems |= parsed.problems;
    end_parsing(&parsed);
    owned->message.text = owned->text->str;
    owned->message.text_length = owned->text->len;
    owned->message.attachments = (const mail_attachment *)(void *)owned->attachments->data;
    owned->message.attachment_count = owned->attachments->len;
    return &owned->message;
}

void mail_message_free(const mail_message *message) {
    if (message == NULL) return;
    owned_message *owned = (owned_message *)(uintptr_t)message;
    for (int place = 0; place < 4; place++)
        if (owned->people[place] != NULL) g_array_free(owned->people[place], TRUE);
    g_array_free(owned->attachments, TRUE);
    g_string_free(owned->text, TRUE);
    g_string_chunk_free(owned->strings);
    g_free(owned);
}

char *mail_message_identify(const void *bytes, size_t length, int is_whole, uint32_t *status) {
    const unsigned char *line = bytes, *end = line + (length < MAXIMUM_HEADER ? length : MAXIMUM_HEADER);
    bool has_identifier = false, has_status = false;
    char *result = NULL;
    *status = 0;
    for (const unsigned char *next; line < end; line = next) {
        next = bounds_line_end(line, end);
        if (bounds_is_blank(line, next)) break;
        const unsigned char *value = bounds_field_value(line, next, "X-Mozilla-Status");
        if (value != NULL && !has_status) {
            has_status = true;
            char *digits = g_strndup((const char *)value, (gsize)(next - value));
            *status = (uint32_t)g_ascii_strtoull(digits, NULL, 16);
            g_free(digits);
        }
        value = bounds_field_value(line, next, "Message-ID");
        if (value == NULL || has_identifier) continue;
        has_identifier = true;
        /* Includes the continuation lines of the header. */
        while (next < end && (*next == ' ' || *next == '\t')) next = bounds_line_end(next, end);
        /* The rest of the field may be beyond these bytes. */
        if (next == end && !is_whole) break;
        size_t count = (size_t)(next - value);
        char *field = g_strndup((const char *)value, count < 4096 ? count : 4096);
        char *identifier = g_mime_utils_decode_message_id(field);
        g_free(field);
        if (identifier != NULL && *identifier != 0) {
            GStringChunk *strings = g_string_chunk_new(1024);
            result = g_strdup(kept(strings, identifier, MAXIMUM_IDENTIFIER));
            g_string_chunk_free(strings);
        }
        g_free(identifier);
    }
    return result;
}

/* The state of a search for a part by number. The numbers follow the order of `collect`. */
typedef struct {
    uint32_t wanted, part;
    GMimePart *found;
    bool wants_html;
} search;

static void search_alternatives(search *search, GMimeMultipart *forms, int depth);

static void search_part(search *search, GMimeObject *object, int depth) {
    if (object == NULL || search->found != NULL || depth > MAXIMUM_DEPTH) return;
    GMimeContentType *type = g_mime_object_get_content_type(object);
    if (GMIME_IS_MULTIPART(object)) {
        if (type != NULL && g_mime_content_type_is_type(type, "multipart", "alternative")) {
            search_alternatives(search, GMIME_MULTIPART(object), depth + 1);
            return;
        }
        int count = g_mime_multipart_get_count(GMIME_MULTIPART(object));
        for (int place = 0; place < count; place++)
            search_part(search, g_mime_multipart_get_part(GMIME_MULTIPART(object), place), depth + 1);
        return;
    }
    search->part++;
    if (GMIME_IS_MESSAGE_PART(object)) {
        GMimeMessage *message = g_mime_message_part_get_message(GMIME_MESSAGE_PART(object));
        if (message != NULL && !search->wants_html)
            search_part(search, g_mime_message_get_mime_part(message), depth + 1);
        return;
    }
    if (!GMIME_IS_PART(object)) return;
    bool is_it = search->wants_html ? is_shown_html(object) : search->part == search->wanted;
    if (is_it) search->found = GMIME_PART(object);
}

/* Visits plain texts before the other forms, as collect_alternatives does. */
static void search_alternatives(search *search, GMimeMultipart *forms, int depth) {
    int count = g_mime_multipart_get_count(forms);
    for (int pass = 0; pass < 2; pass++)
        for (int place = 0; place < count; place++) {
            GMimeObject *form = g_mime_multipart_get_part(forms, place);
            if (is_plain_text(form) == (pass == 0)) search_part(search, form, depth);
        }
}

void mail_attachments_read(const void *bytes, size_t length, mail_content *contents, size_t count, size_t limit) {
    for (size_t place = 0; place < count; place++) contents[place].bytes = NULL, contents[place].length = 0;
    parsed parsed;
    if (parse(&parsed, bytes, length)) {
        for (size_t place = 0; place < count; place++) {
            search search = {.wanted = contents[place].part};
            search_part(&search, g_mime_message_get_mime_part(parsed.message), 0);
            GByteArray *content = search.found != NULL ? decoded(&parsed, search.found, SIZE_MAX) : NULL;
            if (content == NULL) continue;
            if (content->len > limit) {
                g_byte_array_free(content, TRUE);
                continue;
            }
            limit -= content->len;
            contents[place].length = content->len;
            /* An empty array may have no memory. */
            contents[place].bytes = content->data != NULL ? content->data : g_malloc0(1);
            g_byte_array_free(content, content->data == NULL);
        }
    }
    end_parsing(&parsed);
}

char *mail_html_read(const void *bytes, size_t length, size_t limit, size_t *result_length) {
    parsed parsed;
    GString *html = NULL;
    if (parse(&parsed, bytes, length)) {
        search search = {.wants_html = true};
        search_part(&search, g_mime_message_get_mime_part(parsed.message), 0);
        GByteArray *content = search.found != NULL ? decoded(&parsed, search.found, MAXIMUM_TEXT_SOURCE) : NULL;
        /* An empty part has no content, but the message does have HTML. */
        if (search.found != NULL && content == NULL) html = g_string_new(NULL);
        if (content != NULL) {
            GMimeContentType *type = g_mime_object_get_content_type(GMIME_OBJECT(search.found));
            const char *charset = g_mime_content_type_get_parameter(type, "charset");
            char declared[48];
            if (charset == NULL &&
                html_declared_charset((const char *)content->data, content->len, declared, sizeof declared))
                charset = declared;
            html = g_string_sized_new(content->len + 16);
            append_text(html, charset, (const char *)content->data, content->len, limit + 1);
            uint64_t ignored = 0;
            cut(html, limit, &ignored);
            g_byte_array_free(content, TRUE);
        }
    }
    end_parsing(&parsed);
    if (html == NULL) return NULL;
    *result_length = html->len;
    return g_string_free(html, FALSE);
}

char *mail_html_text(const char *html, size_t length, size_t limit, uint64_t *left_out, size_t *result_length) {
    GString *text = g_string_new(NULL);
    html_append_text(text, html, length, limit, left_out);
    cut(text, limit, left_out);
    *result_length = text->len;
    return g_string_free(text, FALSE);
}

ssize_t mail_find(const void *bytes, size_t length, const char *text) {
    const char *found = memmem(bytes, length, text, strlen(text));
    return found != NULL ? found - (const char *)bytes : -1;
}

void mail_free(void *pointer) { g_free(pointer); }
