/*
 * Fuzz target of what init reads below /proc and /sys: the state of a process, and the memory cgroup. The linker puts
 * the input in the place of each such file, and keeps the signals.
 */
#include "oom.h"

static const uint8_t *input;
static size_t left;

bool __wrap_read_text(const char *path, char *text, size_t size);
int __wrap_kill(pid_t pid, int number);
int __wrap_sched_yield(void);

/* Files are separated by the byte 0xff. As the real one: at most what there is room for, and a NUL. */
bool __wrap_read_text(const char *path, char *text, size_t size) {
  (void)path;
  const uint8_t *end = memchr(input, 0xff, left);
  size_t length = end ? (size_t)(end - input) : left, taken = length < size ? length : size - 1;
  memcpy(text, input, taken);
  text[taken] = 0;
  input += length + (end != NULL);
  left -= length + (end != NULL);
  return taken > 0;
}

int __wrap_kill(pid_t pid, int number) {
  (void)pid;
  (void)number;
  return 0;
}

int __wrap_sched_yield(void) { return 0; }

static void begin(const uint8_t *data, size_t size) {
  input = data;
  left = size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  begin(data, size);
  (void)parent_of(7);
  begin(data, size);
  signal_process(7, 0, SIGTERM);
  begin(data, size);
  struct process process;
  (void)read_process(7, &process);
  begin(data, size);
  struct dispositions dispositions;
  (void)read_dispositions(7, &dispositions);
  begin(data, size);
  char program[MAX_PROGRAM_BYTES];
  read_program(7, program);
  begin(data, size);
  (void)count_oom_kills();
  begin(data, size);
  (void)has_free_memory(16 << 20);
  return 0;
}
