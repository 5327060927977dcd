/* The whole border between the addon and a backend: one C table, reached through one exported function.
 * Nothing else of ours is seen on the far side, and no exception crosses it.
 * Codes: 0 is success, anything else is a failure whose reason last_error gives.
 * A changed table changes UT_BACKEND_ABI; a backend answers NULL for a number it was not built for. */
#pragma once
#include <stdint.h>

#define UT_BACKEND_ABI 1u

#if defined(_WIN32)
#define UT_BACKEND_EXPORT __declspec(dllexport)
#else
#define UT_BACKEND_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ut_backend {
  uint32_t abi;                     /* equals UT_BACKEND_ABI */
  const char *name;                 /* "host", "cuda"; lives as long as the library */
  int32_t (*device_count)(void);    /* >= 0; 0 when there is no driver or no device; never fails */
  const char *(*last_error)(void);  /* why the calling thread's last call failed; "" when it did not */
  /* Self-test: fills count 32-bit words of device memory with value, reads them back and adds them up (mod 2^32). */
  int32_t (*fill_u32)(uint32_t value, uint64_t count, uint32_t *sum_out);
} ut_backend;

typedef const ut_backend *(*ut_backend_open_fn)(uint32_t abi);

/* The one symbol a backend library exports. */
UT_BACKEND_EXPORT const ut_backend *ut_backend_open(uint32_t abi);

#ifdef __cplusplus
}
#endif
