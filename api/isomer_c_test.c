/* The C interface from a plain C program: a file and a buffer, and what goes
 * wrong. Prints what failed and exits with 1. */
#include "api/isomer_c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "failed: %s\n", what);
  failures++;
}

static void* read_all(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  void* bytes;
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  fseek(file, 0, SEEK_SET);
  bytes = malloc(*size);
  if (fread(bytes, 1, *size, file) != *size) *size = 0;
  fclose(file);
  return bytes;
}

static int stop_at_once(void* user, double before_us, double best_us) {
  (void)before_us;
  (void)best_us;
  ++*(int*)user;
  return 1;
}

int main(void) {
  const char* model = "models/lora_mlp_fp16_b1_dynamo.onnx";
  const char* folder = getenv("TEST_TMPDIR");
  char out[4096];
  isomer_options options;
  isomer_report report;
  char* error = NULL;
  void *in, *result = NULL, *written;
  size_t in_size = 0, result_size = 0, written_size = 0;
  int calls = 0;

  snprintf(out, sizeof(out), "%s/c_out.onnx", folder ? folder : "/tmp");
  isomer_default_options(&options);
  options.seconds = 0;
  options.expansions = 100;

  expect(isomer_optimize_file(model, out, &options, &report, &error) == 0,
         "a file is optimised");
  expect(error == NULL, "there is no error then");
  expect(report.improved == 1, "it is improved");
  expect(report.after_us < report.before_us, "it is faster");
  expect(report.rewrites > 0, "rules were applied");

  in = read_all(model, &in_size);
  expect(in != NULL, "the model can be read");
  expect(isomer_optimize_buffer(in, in_size, &options, &result, &result_size,
                                NULL, NULL) == 0,
         "a buffer is optimised");
  written = read_all(out, &written_size);
  expect(written_size == result_size &&
             memcmp(written, result, result_size) == 0,
         "file and buffer give the same bytes");
  free(written);
  isomer_free(result);

  options.progress = stop_at_once;
  options.user = &calls;
  expect(isomer_optimize_file(model, out, &options, &report, NULL) == 0,
         "a stopped search is no error");
  expect(calls > 0, "the callback was called");
  options.progress = NULL;

  expect(isomer_optimize_buffer(in, 10, &options, &result, &result_size, NULL,
                                &error) == -1,
         "a truncated model is an error");
  expect(error != NULL && strlen(error) > 0, "with a text");
  isomer_free(error);
  expect(isomer_optimize_file(NULL, out, &options, NULL, &error) == -1,
         "NULL is an error");
  isomer_free(error);
  options.target = "abacus";
  expect(isomer_optimize_file(model, out, &options, NULL, &error) == -1 &&
             strstr(error, "abacus") != NULL,
         "an unknown target is named");
  isomer_free(error);
  expect(strlen(isomer_version()) > 0, "there is a version");
  free(in);
  return failures == 0 ? 0 : 1;
}
