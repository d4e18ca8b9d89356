/*
 * The supervisor ignores every signal but KILL and STOP, because its signals come through its connection to init.
 * An ignored signal stays ignored through exec, but Node sets its own dispositions, and that for USR1 opens a
 * debugger's port. So seccomp(2) makes rt_sigaction(2) do nothing in the supervisor. A fault still ends it. Without
 * seccomp Node keeps its own dispositions.
 *
 * Calls for CHLD still work, because Node needs them to notice the end of a process. So do calls that ask for the old
 * disposition, by which libuv restores the defaults in a process that it starts.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "init.h"

/* musl-gcc does not find linux/seccomp.h, linux/filter.h and linux/audit.h. */
struct call {
  int32_t number;
  uint32_t architecture;
  uint64_t instruction_pointer, arguments[6];
};
struct instruction {
  uint16_t code;
  uint8_t if_true, if_false; /* how many instructions to skip */
  uint32_t operand;
};
struct program {
  uint16_t length;
  const struct instruction *instructions;
};
enum { SET_MODE_FILTER = 1, SPEC_ALLOW = 1 << 2 };
enum { LOAD = 0x20, IF_EQUAL = 0x15, RETURN = 0x06 };
#define FAIL_WITH_ERRNO_0 0x00050000U /* the call seems to have worked */
#define ALLOW 0x7fff0000U
#if defined(__aarch64__)
#define NATIVE 0xc00000b7U
#else
#define NATIVE 0xc000003eU
#endif

/* Both architectures are little-endian. */
#define LOW_HALF(argument) (offsetof(struct call, arguments) + (argument) * sizeof(uint64_t))
#define HIGH_HALF(argument) (LOW_HALF(argument) + sizeof(uint32_t))

static void keep_dispositions(void) {
  static const struct instruction instructions[] = {
      {LOAD, 0, 0, offsetof(struct call, architecture)},
      {IF_EQUAL, 0, 9, NATIVE},
      {LOAD, 0, 0, offsetof(struct call, number)},
      {IF_EQUAL, 0, 7, SYS_rt_sigaction},
      {LOAD, 0, 0, LOW_HALF(0)},
      {IF_EQUAL, 5, 0, SIGCHLD},
      {LOAD, 0, 0, LOW_HALF(2)},
      {IF_EQUAL, 0, 3, 0},
      {LOAD, 0, 0, HIGH_HALF(2)},
      {IF_EQUAL, 0, 1, 0},
      {RETURN, 0, 0, FAIL_WITH_ERRNO_0},
      {RETURN, 0, 0, ALLOW},
  };
  static const struct program program = {sizeof instructions / sizeof *instructions, instructions};
  /* An unprivileged process needs this for a filter. */
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) return;
  /* SPEC_ALLOW (Linux 4.17) keeps older kernels from slowing the process down. */
  syscall(SYS_seccomp, SET_MODE_FILTER, SPEC_ALLOW, &program);
}

void ignore_signals(void) {
  /* The kernel's layout: handler, flags, restorer, mask. signal(3) refuses numbers that the C library reserves. */
  static const uint64_t ignored[4] = {(uint64_t)(uintptr_t)SIG_IGN};
  for (int number = 1; number <= MAX_SIGNAL; number++)
    if (number != SIGCHLD) syscall(SYS_rt_sigaction, number, ignored, NULL, sizeof(uint64_t));
  keep_dispositions();
}
