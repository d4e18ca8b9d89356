/*
 * Fuzz target of what init reads by itself of a command line and an environment. The first byte of the input is the
 * number of arguments, the second chooses the name of the program. The words follow, each ended by NUL.
 */
#include <stdlib.h>

#include "start.h"

enum { MAX_WORDS = 32, HEAD_BYTES = 2 };

static void require(bool holds) {
  if (!holds) abort();
}

static char *const names[] = {"sexton", "/sbin/tini", "dumb-init", "kubexit", "tini-static", "dumb-init_1.2.5"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *argv[MAX_WORDS + 2], *env[MAX_WORDS + 1];
  if (size < HEAD_BYTES) return 0;
  size_t wanted = data[0] % MAX_WORDS, length = size - HEAD_BYTES, count = 0;
  /* The block has exactly this size, so that the sanitizer sees a read behind its end. */
  char *words = malloc(length + 1);
  if (!words) return 0;
  memcpy(words, data + HEAD_BYTES, length);
  words[length] = 0;
  struct inherited in = {.argc = 1, .argv = argv, .env = env};
  argv[0] = names[data[1] % (sizeof names / sizeof *names)];
  for (char *at = words; at < words + length && (size_t)in.argc <= wanted; at += strlen(at) + 1) argv[in.argc++] = at;
  argv[in.argc] = NULL;
  char *at = in.argc > 1 ? argv[in.argc - 1] + strlen(argv[in.argc - 1]) + 1 : words;
  for (; at < words + length && count < MAX_WORDS; at += strlen(at) + 1) env[count++] = at;
  env[count] = NULL;

  in.drop_in = read_drop_in(&in);
  require(in.drop_in.command >= 0 && in.drop_in.command < in.argc);
  require(in.drop_in.rest >= 1 && in.drop_in.rest <= in.argc && in.drop_in.flag_count <= MAX_DROP_IN_FLAGS);
  for (int number = 0; number <= MAX_SIGNAL; number++) require(in.drop_in.forward[number] <= MAX_SIGNAL);
  require(in.drop_in.forward[SIGKILL] == 0 && in.drop_in.forward[SIGCHLD] == 0);
  in.form = read_plain_form(&in);
  require(in.form.command >= 0 && in.form.command < in.argc && in.form.why[0] && in.form.why[1]);
  require(in.form.grace_ms > 0);
  (void)wants_foreground(&in);
  free(words);
  return 0;
}
