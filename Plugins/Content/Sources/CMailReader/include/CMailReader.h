/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CMAILREADER_H
#define SEARCHLIGHT_CMAILREADER_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads internet messages (RFC 5322, MIME) with GMime. Swift cannot import GMime's own headers,
 * since GLib's casts are macros. Every text is UTF-8 without NUL. All functions are thread-safe and
 * accept any bytes. */

typedef struct {
    size_t text;            /* the largest text of a message, in bytes */
    size_t attachment_text; /* the largest text that is taken of one attachment, in bytes */
    size_t attachments;     /* the largest number of attachments that are named */
    size_t people;          /* the largest number of people of one header */
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
    uint32_t part;          /* the number of the part, for mail_attachment_read */
    uint32_t is_inline;     /* not 0 for a part that the HTML shows, such as a picture */
} mail_attachment;

/* The faults of a message. It is read as far as possible anyway. */
enum {
    MAIL_TOO_MANY_PARTS = 1,  /* the rest of the parts was left out */
    MAIL_TOO_MUCH_HEADER = 2, /* the rest of the header was left out */
    MAIL_TOO_DEEP = 4,        /* parts that lie deeper were left out */
    MAIL_NO_MESSAGE = 8,      /* there is no header */
};

typedef struct {
    const char *message_id; /* nullable, without angle brackets */
    const char *thread_id;  /* nullable: the first message of the thread, from References or In-Reply-To */
    const char *subject;    /* nullable */
    const char *list_id;    /* nullable: the mailing list */
    mail_people from, to, cc, bcc;
    int64_t date;       /* seconds since 1970, from Date or else from Received */
    int32_t has_date;   /* 0 if neither has one */
    uint32_t problems;  /* a sum of MAIL_... */
    uint32_t status;    /* X-Mozilla-Status; 0 without */
    uint32_t is_spam;   /* not 0 if a filter has marked it (X-Spam-Flag) */
    const char *flags;  /* Status and X-Status of an mbox, joined; never NULL */
    const char *tags;   /* nullable: X-Mozilla-Keys, X-Keywords */
    const char *text;
    size_t text_length;
    uint64_t text_left_out; /* bytes of text beyond the limits */
    uint32_t has_html;      /* not 0 if mail_html_read gives something */
    uint32_t is_encrypted;
    const mail_attachment *attachments;
    size_t attachment_count;
    size_t attachments_left_out;
} mail_message;

/* Returns a message, to be freed with mail_message_free; never NULL. */
const mail_message *mail_message_read(const void *bytes, size_t length, const mail_limits *limits);
void mail_message_free(const mail_message *message);

/* Returns the Message-ID without parsing the message, NULL if there is none, to be freed with
 * mail_free; and X-Mozilla-Status, 0 without. */
char *mail_message_identify(const void *bytes, size_t length, uint32_t *status);

/* Returns the decoded bytes of an attachment, at most limit, to be freed with mail_free; NULL if
 * there is no such part. */
void *mail_attachment_read(const void *bytes, size_t length, uint32_t part, size_t limit, size_t *result_length);

/* Returns the HTML of a message as UTF-8, at most limit bytes; NULL if it has none. To be freed
 * with mail_free. */
char *mail_html_read(const void *bytes, size_t length, size_t limit, size_t *result_length);

/* Returns the text of HTML, at most limit bytes, and adds the bytes of text beyond the limit. To be
 * freed with mail_free. */
char *mail_html_text(const char *html, size_t length, size_t limit, uint64_t *left_out, size_t *result_length);

/* Returns the offset of the first occurrence of a text; -1 if there is none. */
ssize_t mail_find(const void *bytes, size_t length, const char *text);

void mail_free(void *pointer);

#endif
