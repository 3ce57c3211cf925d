/* The same from C: makes a model faster, with a limit by count, and compares
 * the result with the original on one random input. embed_c IN.onnx OUT.onnx */
#include <stdio.h>

#include "isomer/isomer_c.h"

int main(int argc, char** argv) {
  isomer_options options;
  isomer_report report;
  char* error = NULL;
  if (argc != 3) {
    fprintf(stderr, "usage: embed_c IN.onnx OUT.onnx\n");
    return 2;
  }
  isomer_default_options(&options);
  options.target = "h200";
  options.seconds = 0;
  options.expansions = 20;
  options.check = 1;
  if (isomer_optimize_file(argv[1], argv[2], &options, &report, &error) != 0) {
    fprintf(stderr, "embed_c: %s\n", error);
    isomer_free(error);
    return 1;
  }
  printf("%.1f us become %.1f us\n", report.before_us, report.after_us);
  return 0;
}
