/*
 * The supervisor ignores every signal but KILL and STOP: all that concern it come through its connection to init.
 * What is ignored stays ignored through exec, but Node puts its own dispositions in their place, and its own for USR1
 * opens a debugger's port. So rt_sigaction(2) does nothing in the supervisor any more, by seccomp(2). A fault of its
 * own still ends it: the kernel does not let a process ignore that. Where there is no seccomp, Node runs with the
 * dispositions that it sets itself.
 *
 * Two kinds of call still work. CHLD, by which Node learns that a process that it started has ended. And a call that
 * also asks for the old disposition, which would get nothing: so libuv gives what it starts the default dispositions
 * back.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

/* As in linux/seccomp.h, linux/filter.h and linux/audit.h, which musl-gcc does not find. */
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
#define FAIL_WITH_ERRNO_0 0x00050000U /* so the call seems to have worked */
#define ALLOW 0x7fff0000U
#if defined(__aarch64__)
#define NATIVE 0xc00000b7U
#else
#define NATIVE 0xc000003eU
#endif

/* Of a little-endian machine, as both architectures are. */
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
  /* Without a privilege that is what a filter takes. Node gains none by its file anyway. */
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) return;
  /* Older kernels slow down a process with a filter, unless it says that this is not needed (since Linux 4.17). */
  syscall(SYS_seccomp, SET_MODE_FILTER, SPEC_ALLOW, &program);
}

void ignore_signals(void) {
  /*
   * As the kernel has it: handler, flags, restorer, mask. signal(3) refuses the numbers that a C library keeps for
   * itself.
   */
  static const uint64_t ignored[4] = {(uint64_t)(uintptr_t)SIG_IGN};
  for (int number = 1; number <= MAX_SIGNAL; number++)
    if (number != SIGCHLD) syscall(SYS_rt_sigaction, number, ignored, NULL, sizeof(uint64_t));
  keep_dispositions();
}
