/*
 * The first instructions of sexton-init block every signal, before the C library starts. The kernel drops a signal to
 * PID 1 that is neither handled nor blocked, so one that comes before `main` would be lost.
 */
#include "system.h"

uint64_t inherited_mask;

#ifdef SEXTON_ENTRY
extern const uint64_t sexton_all_signals;
const uint64_t sexton_all_signals = ~UINT64_C(0);
#if defined(__x86_64__)
__asm__(".text\n.globl sexton_entry\n.type sexton_entry, @function\n"
        "sexton_entry:\n"
        "  mov %rdx, %r8\n" /* r8 keeps rdx for _start across the system call */
        "  mov $14, %eax\n" /* rt_sigprocmask */
        "  mov $2, %edi\n"  /* SIG_SETMASK */
        "  lea sexton_all_signals(%rip), %rsi\n"
        "  lea inherited_mask(%rip), %rdx\n"
        "  mov $8, %r10d\n"
        "  syscall\n"
        "  mov %r8, %rdx\n"
        "  jmp _start\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl sexton_entry\n.type sexton_entry, %function\n"
        "sexton_entry:\n"
        "  mov x9, x0\n"
        "  mov x8, #135\n"
        "  mov x0, #2\n"
        "  adrp x1, sexton_all_signals\n"
        "  add x1, x1, :lo12:sexton_all_signals\n"
        "  adrp x2, inherited_mask\n"
        "  add x2, x2, :lo12:inherited_mask\n"
        "  mov x3, #8\n"
        "  svc #0\n"
        "  mov x0, x9\n"
        "  b _start\n");
#endif
#endif
