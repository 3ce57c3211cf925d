/* Isomer's C interface: optimise a model file or a model in memory.
 *
 * Functions return 0, or -1 and an error text that is the caller's to free with
 * isomer_free. Nothing is printed; nothing is kept between calls. */
#ifndef ISOMER_API_ISOMER_C_H_
#define ISOMER_API_ISOMER_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isomer_options {
  const char* target;   /* "h200", ...; or the path of a target file */
  const char* profile;  /* a file of measured times, or NULL */
  const char* rules;    /* as in isomer.h, or NULL: the built-in ones */
  double alpha;         /* graphs up to alpha times the best are kept */
  double seconds;       /* time limit; 0: none */
  int64_t expansions;   /* limit by count; 0: none */
  int64_t memory_limit; /* peak bytes on the target; 0: none */
  int exact;            /* only rules that recompute nothing */
  int threads;          /* 0: one for each core */
  int check;            /* how many random inputs are compared; 0: none */
  /* Called now and then; a result other than 0 stops the search, which then
   * gives the best so far. NULL: not called. */
  int (*progress)(void* user, double before_us, double best_us);
  void* user;
} isomer_options;

typedef struct isomer_report {
  int improved; /* 0: the result is the original, byte for byte */
  double before_us, after_us;
  double seconds;
  int64_t rewrites; /* rules applied */
} isomer_report;

/* Fills in the defaults. */
void isomer_default_options(isomer_options* options);

/* Optimises `in` and writes `out`. `options`, `report` and `error` may be NULL.
 * A result that fails the check is an error, and nothing is written. */
int isomer_optimize_file(const char* in, const char* out,
                         const isomer_options* options, isomer_report* report,
                         char** error);

/* The same for a model in memory; `*out` is the caller's to free. */
int isomer_optimize_buffer(const void* in, size_t in_size,
                           const isomer_options* options, void** out,
                           size_t* out_size, isomer_report* report,
                           char** error);

/* Frees what the functions above gave. */
void isomer_free(void* memory);

/* The version of the library: "0.1.0". */
const char* isomer_version(void);

#ifdef __cplusplus
}
#endif

#endif /* ISOMER_API_ISOMER_C_H_ */
