/* The whole border between the addon and a backend: one C table, reached through one exported function.
 * Nothing else of ours is seen on the far side, and no exception crosses it.
 * Codes: UT_OK is success, anything else is a failure whose reason last_error gives.
 * A changed table, structure or verb changes UT_BACKEND_ABI; a backend answers NULL for a number it was not built for. */
#pragma once
#include <stdint.h>

#define UT_BACKEND_ABI 2u

#if defined(_WIN32)
#define UT_BACKEND_EXPORT __declspec(dllexport)
#else
#define UT_BACKEND_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a call answers. */
enum ut_code {
  UT_OK = 0,
  UT_INVALID = 1,     /* the caller's mistake: a page outside its band, a malformed script; nothing was done */
  UT_NO_MEMORY = 2,   /* the device or the host has not that much memory; what was open before still is */
  UT_UNAVAILABLE = 3, /* no driver, no device, or not this one */
  UT_LOST = 4         /* a kernel failed or the device is gone: every later call of this ut_device answers UT_LOST */
};

/* One band: a grid of pages over the arena that starts at byte 0. Page p is bytes [p * page_bytes, (p+1) * page_bytes).
 * A page is `units` units of page_bytes / units bytes each, a multiple of 4; what is left over at its end is never read.
 * A unit that carries stamp s holds the 32-bit words of payload.h; a unit of zeros carries stamp 0. */
typedef struct ut_band {
  uint64_t page_bytes; /* a multiple of 4 */
  uint32_t pages;      /* on the grid, below 2^31; pages * page_bytes <= arena_bytes */
  uint32_t first_page; /* the first usable one, at least 1: page 0 means unbound */
  uint32_t units;      /* units a page, at least 1 */
  uint32_t ids;        /* ids 0 .. ids-1 of its v2p table; id 0 is never bound */
  uint32_t host_pages; /* pages of its pool in host memory, 0 for none */
  uint32_t flags;      /* UT_BAND_STATE */
} ut_band;
#define UT_BAND_STATE 1u /* ids are state slots, not the page ids of request rows */

typedef struct ut_config {
  uint64_t arena_bytes;
  const ut_band *bands; /* chain order */
  uint32_t band_count;  /* 1 to 64 */
  uint32_t rows;        /* rows 1 .. rows of the request table */
  uint32_t row_pages;   /* cells a row */
  uint32_t flags;       /* UT_FILL_POISON, UT_CHECK_READS */
  uint32_t device;      /* below device_count() */
  uint32_t reserved;    /* 0 */
} ut_config;
#define UT_FILL_POISON 1u /* the arena opens full of 0x7fc1 16-bit words, else of zeros */
#define UT_CHECK_READS 2u /* forwards and sends compare what they read with what was expected there */

typedef struct ut_capabilities {
  uint64_t memory_bytes;      /* of the device */
  uint64_t memory_free_bytes; /* now */
  uint32_t read_end;          /* 1: a barrier waits for a forward's metadata reads, 0: for its end */
  uint32_t compute_major;     /* of a GPU, else 0 */
  uint32_t compute_minor;
  uint32_t concurrent_streams; /* 1: verbs of different streams overlap in time */
  char name[128];
} ut_capabilities;

/* A unit that a forward or a send read while it held other bytes than expected. */
typedef struct ut_fault {
  uint32_t kind;   /* 1 a forward's read, 2 a send's read, 3 a forward found no page bound under an id it writes */
  uint32_t handle; /* of the forward or transfer */
  uint32_t band;
  uint32_t id;   /* of kind 1 and 3 */
  uint32_t page; /* 0 for kind 3 */
  uint32_t unit;
  uint32_t expected; /* stamp; of a send: lane a of the page's hash */
  uint32_t found;
} ut_fault;

/* --- scripts ------------------------------------------------------------------------------------------------------
 * Work goes over in scripts: a sequence of 32-bit words, verb after verb, submitted by one call. A verb is
 *     [verb, total words of the verb (these two included), arguments...]
 * Streams: SCHEDULE, FORWARD, two of host copies (OUT, IN), and the network engine, which is outside every stream.
 * Verbs of one stream run in submission order. `submit` checks the whole script first (UT_INVALID: nothing was done,
 * the reason names the verb's number and the word) and then queues it; it blocks only in HOSTWAIT, HOSTREAD and SYNCHRONIZE.
 * A handle is a small number of the caller's, 1 .. 65535, for the completion of a forward, a copy or a transfer; it may be
 * used anew after FORGET. Pages, ids, rows, bands and host pages are plain numbers; stamps are 32 bits unsigned. */
enum ut_verb {
  /* SCHEDULE. [band, n, page * n] fills the pages with zeros. */
  UT_ZERO = 1,
  /* SCHEDULE. [band, flags, n, (from, to) * n] copies page over page. flags 1: one after the other in this order (sources and
   * destinations may meet); 0: no page is named twice, all at once. Bindings do not change: BIND follows. */
  UT_MOVE = 2,
  /* SCHEDULE. [band, flags, n, (id, page) * n] v2p[id] = page; page 0 unbinds. flags 1: the ids are fresh, nothing is expected
   * in any of their units. An id is named once a verb. */
  UT_BIND = 3,
  /* SCHEDULE. [row, first, n, id * n] cells first .. first+n-1 of a row. */
  UT_ROW = 4,
  /* SCHEDULE. [band, n, (id, stamp * units) * n] what is expected in the units of ids, 0 = nothing. */
  UT_EXPECT = 5,
  /* SCHEDULE. [band, n, (page, unit, stamp) * n] writes units. */
  UT_STAMP = 6,
  /* FORWARD. [n, row * n] clears what a row's forwards keep: its counter of forwards. */
  UT_RESET = 7,
  /* FORWARD, behind everything SCHEDULE was given before. [handle, delay_us, reads, states, writes, (row, pages) * reads,
   * (band, id) * states, (band, id, from, to, position, writer) * writes].
   * Metadata phase: reads the row cells [0, pages) and the v2p cells of every band that is not a state band, those of the states,
   * and those of the writes; reads what is expected in them, and then notes stamp_of(writer, position + unit) as expected in
   * units [from, to) of each written id. Its end is what BARRIER waits for. Then delay_us microseconds of nothing.
   * Payload phase: checks the units it reads (UT_CHECK_READS; unbound ids and units in which nothing is expected are skipped),
   * then writes the units, at the places that the metadata phase found, in any order: no unit is named twice by one forward. The
   * row's counter of forwards grows by one. How often one id that several rows hold is checked is the backend's choice. */
  UT_FORWARD = 8,
  /* FORWARD. [handle] notes the completion of everything FORWARD was given so far under the handle of a forward. A forward that is
   * never recorded cannot be waited for. */
  UT_RECORD = 9,
  /* SCHEDULE waits for a handle: a recorded forward or a host copy. [handle] */
  UT_WAIT = 10,
  /* SCHEDULE waits for a forward's metadata phase. [handle] */
  UT_BARRIER = 11,
  /* OUT or IN, behind everything SCHEDULE and FORWARD were given before. [handle, direction, delay_us, n, (band, page, host page) * n];
   * direction 0: pages to host pages, 1: host pages to pages. */
  UT_HOSTCOPY = 12,
  /* The engine reads behind everything SCHEDULE was given before, as its ids are read back there, and ends at the latest when the
   * host waits for it. [handle, delay_us, words a mask, n,
   * (band, page, lane a, mask...) * n] reads pages and compares their hash over the masked units. */
  UT_SEND = 13,
  /* The engine writes units behind everything SCHEDULE was given before. [handle, delay_us, n, (band, page, from, to, position,
   * writer) * n] */
  UT_RECEIVE = 14,
  /* The host waits for a handle. [handle] For a forward that was never recorded: for everything FORWARD was given. */
  UT_HOSTWAIT = 15,
  /* The host waits for SCHEDULE, as one that reads ids back does. [] */
  UT_HOSTREAD = 16,
  /* The handle may be used anew. [handle] */
  UT_FORGET = 17,
  /* A stream does nothing for a while. [stream, delay_us], stream a ut_stream; 0 to 10,000,000 us */
  UT_DELAY = 18,
  /* The host waits for everything. [] */
  UT_SYNCHRONIZE = 19,
  /* IN, behind everything SCHEDULE and FORWARD were given before. [handle, delay_us, n, (band, page, from, to, position, writer) * n]
   * writes units, as a host copy would of pages that no earlier copy brought to the host. */
  UT_FILL = 20
};

enum ut_stream { UT_STREAM_SCHEDULE = 0, UT_STREAM_FORWARD = 1, UT_STREAM_OUT = 2, UT_STREAM_IN = 3 };

typedef struct ut_device ut_device; /* an opened arena; used by one thread at a time */

typedef struct ut_backend {
  uint32_t abi;                    /* equals UT_BACKEND_ABI */
  const char *name;                /* "host", "cuda"; lives as long as the library */
  int32_t (*device_count)(void);   /* >= 0; 0 when there is no driver or no device; never fails */
  const char *(*last_error)(void); /* why the calling thread's last call failed; "" when it did not */
  int32_t (*capabilities)(uint32_t device, ut_capabilities *out);

  /* Makes the arena, tables and streams; runs every kernel once (prewarm). Afterwards no verb allocates device memory. */
  int32_t (*open)(const ut_config *config, ut_device **out);
  /* Another geometry: everything is given up and made anew. On UT_NO_MEMORY the device is as it was before. */
  int32_t (*resize)(ut_device *device, const ut_config *config);
  void (*close)(ut_device *device); /* waits for outstanding work; NULL is allowed */

  int32_t (*submit)(ut_device *device, const int32_t *words, uint64_t count);

  /* The following wait for everything that was submitted. */

  /* Hashes of pages over the units whose bits are set in their masks. masks: n * mask_words words, mask_words =
   * ceil(units / 32), bit unit % 32 of word unit / 32. out: 3 words a page: lane a, lane b (payload.h), torn units. */
  int32_t (*hash_pages)(ut_device *device, uint32_t band, uint32_t n, const int32_t *pages, const uint32_t *masks,
                        uint32_t *out);
  /* Physical token ids of logical ones: v2p[t / units] * units + t % units; t <= 0, unbound or out of range: 0.
   * ids: rows x columns of int32 or int64 (bits 32 or 64); out: rows x out_columns, int32 or int64, out_columns >= columns; lanes
   * beyond `columns` become 0. */
  int32_t (*translate)(ut_device *device, uint32_t band, const void *ids, uint32_t bits, uint64_t rows, uint64_t columns,
                       void *out, uint32_t out_bits, uint64_t out_columns);
  /* Faults since the last call, oldest first, at most `capacity`; count_out: how many there were. */
  int32_t (*faults)(ut_device *device, ut_fault *out, uint32_t capacity, uint32_t *count_out);
  /* Bytes of the arena; for tests. UT_INVALID beyond it. */
  int32_t (*read_bytes)(ut_device *device, uint64_t offset, uint64_t bytes, uint8_t *out);
  /* A table as it stands: 0 v2p of `index` (a band), 1 the cells of row `index`, 2 counters of forwards by row. */
  int32_t (*read_table)(ut_device *device, uint32_t table, uint32_t index, uint32_t count, int32_t *out);

  /* Whether a handle's work is over: 1 yes, 0 no, negative: no such handle. Waits for nothing; never used for a decision. */
  int32_t (*query)(ut_device *device, uint32_t handle);
} ut_backend;

typedef const ut_backend *(*ut_backend_open_fn)(uint32_t abi);

/* The one symbol a backend library exports. */
UT_BACKEND_EXPORT const ut_backend *ut_backend_open(uint32_t abi);

#ifdef __cplusplus
}
#endif
