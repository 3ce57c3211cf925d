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

/* A message of protocol buffers in the making. */
typedef struct {
  unsigned char bytes[2048];
  size_t size;
} message;

static void add_varint(message* m, size_t value) {
  for (; value > 127; value >>= 7) {
    m->bytes[m->size++] = (unsigned char)((value & 127) | 128);
  }
  m->bytes[m->size++] = (unsigned char)value;
}

static void add_number(message* m, unsigned field, unsigned value) {
  add_varint(m, field << 3);
  add_varint(m, value);
}

static void add_bytes(message* m, unsigned field, const void* data,
                      size_t size) {
  add_varint(m, field << 3 | 2);
  add_varint(m, size);
  memcpy(m->bytes + m->size, data, size);
  m->size += size;
}

static void add_text(message* m, unsigned field, const char* text) {
  add_bytes(m, field, text, strlen(text));
}

static void add(message* m, unsigned field, const message* inner) {
  add_bytes(m, field, inner->bytes, inner->size);
}

/* What ONNX calls a value: its name, and float[1,8] as its type. */
static void add_value(message* graph, unsigned field, const char* name) {
  message one = {{0}, 0}, eight = {{0}, 0}, shape = {{0}, 0};
  message tensor = {{0}, 0}, type = {{0}, 0}, value = {{0}, 0};
  add_number(&one, 1, 1);
  add_number(&eight, 1, 8);
  add(&shape, 1, &one);
  add(&shape, 1, &eight);
  add_number(&tensor, 1, 1);
  add(&tensor, 2, &shape);
  add(&type, 1, &tensor);
  add_text(&value, 1, name);
  add(&value, 2, &type);
  add(graph, field, &value);
}

static void add_weight(message* graph, const char* name, float first) {
  message tensor = {{0}, 0};
  float data[64];
  int i;
  for (i = 0; i < 64; i++) data[i] = first + (float)(i % 7) / 8;
  add_number(&tensor, 1, 8);
  add_number(&tensor, 1, 8);
  add_number(&tensor, 2, 1);
  add_text(&tensor, 8, name);
  add_bytes(&tensor, 9, data, sizeof(data));
  add(graph, 5, &tensor);
}

static void add_product(message* graph, const char* a, const char* b,
                        const char* product) {
  message node = {{0}, 0};
  add_text(&node, 1, a);
  add_text(&node, 1, b);
  add_text(&node, 2, product);
  add_text(&node, 4, "MatMul");
  add(graph, 1, &node);
}

/* Two products in a row with constant matrices, which fold into one. */
static void make_model(message* model) {
  static message graph;
  message opset = {{0}, 0};
  add_product(&graph, "x", "v", "m");
  add_product(&graph, "m", "w", "y");
  add_text(&graph, 2, "g");
  add_weight(&graph, "v", 1);
  add_weight(&graph, "w", -1);
  add_value(&graph, 11, "x");
  add_value(&graph, 12, "y");
  add_number(model, 1, 8);
  add(model, 7, &graph);
  add_number(&opset, 2, 17);
  add(model, 8, &opset);
}

static void write_all(const char* path, const message* m) {
  FILE* file = fopen(path, "wb");
  expect(file != NULL && fwrite(m->bytes, 1, m->size, file) == m->size,
         "the model can be written");
  if (file != NULL) fclose(file);
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
  const char* folder = getenv("TEST_TMPDIR");
  char model[4096], out[4096];
  static message made;
  isomer_options options;
  isomer_report report;
  char* error = NULL;
  void *in, *result = NULL, *written;
  size_t in_size = 0, result_size = 0, written_size = 0;
  int calls = 0;

  snprintf(model, sizeof(model), "%s/c_in.onnx", folder ? folder : "/tmp");
  snprintf(out, sizeof(out), "%s/c_out.onnx", folder ? folder : "/tmp");
  make_model(&made);
  write_all(model, &made);
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
  expect(
      written_size == result_size && memcmp(written, result, result_size) == 0,
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
