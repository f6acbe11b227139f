/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CMAILREADER_H
#define SEARCHLIGHT_CMAILREADER_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads internet messages (RFC 5322, MIME) with GMime. Swift cannot import GMime's own headers,
 * because GLib's casts are macros. Every text is UTF-8 without NUL. All functions are thread-safe
 * and accept any bytes. */

typedef struct {
    size_t text;            /* the maximum size of a message's text, in bytes */
    size_t attachment_text; /* the maximum text size of one attachment, in bytes */
    size_t attachments;     /* the maximum number of attachments in the list */
    size_t people;          /* the maximum number of people in one header */
} mail_limits;

typedef struct {
    const char *name;    /* nullable */
    const char *address; /* nullable for a group */
} mail_person;

typedef struct {
    const mail_person *items;
    size_t count;
} mail_people;

typedef struct {
    const char *name;       /* the file name; "" if there is none */
    const char *type;       /* the MIME type in lower case, such as "application/pdf" */
    const char *content_id; /* nullable, without angle brackets */
    uint64_t size;          /* the encoded size in bytes */
    uint32_t part;          /* the number of the part, for mail_attachments_read */
    uint32_t is_inline;     /* not 0 for a part that the HTML displays, such as a picture */
} mail_attachment;

/* The faults in a message. The rest of the message is read. */
enum {
    MAIL_TOO_MANY_PARTS = 1,  /* the remaining parts were left out */
    MAIL_TOO_MUCH_HEADER = 2, /* the rest of the header was left out */
    MAIL_TOO_DEEP = 4,        /* parts below the maximum depth were left out */
    MAIL_NO_MESSAGE = 8,      /* there is no header */
};

typedef struct {
    const char *message_id; /* nullable, without angle brackets */
    const char *thread_id;  /* nullable: the first message of the thread, from References or In-Reply-To */
    const char *subject;    /* nullable */
    const char *list_id;    /* nullable: the mailing list */
    mail_people from, to, cc, bcc;
    int64_t date;       /* seconds since 1970, from Date or else from Received */
    int32_t has_date;   /* 0 if neither header has a date */
    uint32_t problems;  /* MAIL_... flags, combined */
    uint32_t status;    /* X-Mozilla-Status; 0 if it is missing */
    uint32_t is_spam;   /* not 0 if a filter marked the message (X-Spam-Flag) */
    const char *flags;  /* Status and X-Status of an mbox, joined; never NULL */
    const char *tags;   /* nullable: X-Mozilla-Keys, X-Keywords */
    const char *text;
    size_t text_length;
    uint64_t text_left_out; /* bytes of text beyond the limits */
    uint32_t has_html;      /* not 0 if mail_html_read returns HTML */
    uint32_t is_encrypted;
    const mail_attachment *attachments;
    size_t attachment_count;
    size_t attachments_left_out;
} mail_message;

/* Reads a message. Never returns NULL. Free the result with mail_message_free. */
const mail_message *mail_message_read(const void *bytes, size_t length, const mail_limits *limits);
void mail_message_free(const mail_message *message);

/* Returns the Message-ID without parsing the message; NULL if there is none. If the field occurs
 * more than once, the first one is used, here and in mail_message_read. Free the result with
 * mail_free. Stores X-Mozilla-Status in `status`, or 0 if it is missing.
 *
 * `is_whole` is 0 if the bytes are only the beginning of a message. The result is then NULL if the
 * identifier may continue after them. */
char *mail_message_identify(const void *bytes, size_t length, int is_whole, uint32_t *status);

/* A part and its decoded content. */
typedef struct {
    uint32_t part; /* its number in mail_attachment */
    void *bytes;   /* nullable: no such part exists, or it was too large; use mail_free */
    size_t length;
} mail_content;

/* Decodes parts of a message, in array order. A part is omitted if the contents would then exceed
 * `limit` bytes. */
void mail_attachments_read(const void *bytes, size_t length, mail_content *contents, size_t count, size_t limit);

/* Returns a message's HTML as UTF-8, at most `limit` bytes; NULL if it has none. Free the result
 * with mail_free. */
char *mail_html_read(const void *bytes, size_t length, size_t limit, size_t *result_length);

/* Returns the text of HTML, at most `limit` bytes, and adds the number of bytes beyond the limit
 * to `left_out`. Free the result with mail_free. */
char *mail_html_text(const char *html, size_t length, size_t limit, uint64_t *left_out, size_t *result_length);

/* Returns the offset of the first occurrence of a text; -1 if there is none. */
ssize_t mail_find(const void *bytes, size_t length, const char *text);

void mail_free(void *pointer);

#endif
