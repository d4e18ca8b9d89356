/*
 * refuse CALL[:ARGUMENT=VALUE] ERROR COMMAND...: executes COMMAND under a seccomp filter by which one system call fails with
 * ERROR, EPERM or ENOSYS. With ARGUMENT (0 to 5) it fails only where that argument has that value.
 *
 * Without arguments it is a command that needs as few system calls as possible: it writes `up`, and `TERM` when it gets that.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name) {#name, SYS_##name}
static const struct {
  const char *name;
  unsigned int number;
} CALLS[] = {
#ifdef SYS_poll
    CALL(poll), CALL(pipe), CALL(stat), CALL(access), CALL(readlink), CALL(unlink), CALL(rename), CALL(mkdir), CALL(open),
    CALL(epoll_wait), CALL(fork), CALL(vfork), CALL(chmod), CALL(getdents), CALL(getpgrp), CALL(alarm),
#endif
    CALL(accept4), CALL(bind), CALL(capget), CALL(clock_getres), CALL(clock_gettime), CALL(clock_nanosleep), CALL(clone3),
    CALL(connect), CALL(dup3), CALL(epoll_create1), CALL(epoll_ctl), CALL(epoll_pwait), CALL(eventfd2), CALL(faccessat),
    CALL(faccessat2), CALL(fallocate), CALL(fchmod), CALL(fchmodat), CALL(fchown), CALL(fcntl), CALL(fdatasync), CALL(flock), CALL(fstatfs),
    CALL(fsync), CALL(ftruncate), CALL(futex), CALL(getcwd), CALL(getdents64), CALL(getpgid), CALL(getpid), CALL(getppid),
    CALL(getrandom), CALL(getsockname), CALL(getsockopt), CALL(getuid), CALL(inotify_add_watch), CALL(inotify_init1),
    CALL(io_uring_setup), CALL(ioctl), CALL(linkat), CALL(listen), CALL(lseek), CALL(madvise), CALL(membarrier), CALL(mkdirat),
    CALL(mremap), CALL(newfstatat), CALL(openat2), CALL(pidfd_open), CALL(pipe2), CALL(pkey_alloc), CALL(ppoll), CALL(prctl),
    CALL(pread64), CALL(prlimit64), CALL(pwrite64), CALL(readlinkat), CALL(recvfrom), CALL(recvmsg), CALL(renameat), CALL(renameat2),
    CALL(rseq), CALL(rt_sigpending), CALL(rt_sigprocmask), CALL(rt_sigaction), CALL(rt_sigtimedwait), CALL(sched_getaffinity), CALL(sched_yield), CALL(seccomp),
    CALL(sendmsg), CALL(sendto), CALL(setpgid), CALL(setpriority), CALL(setsid), CALL(setsockopt), CALL(shutdown), CALL(sigaltstack), CALL(signalfd4),
    CALL(socket), CALL(socketpair), CALL(statfs), CALL(statx), CALL(symlinkat), CALL(sysinfo), CALL(timerfd_create), CALL(tgkill),
    CALL(umask), CALL(uname), CALL(unlinkat), CALL(utimensat), CALL(wait4), CALL(waitid), CALL(kill), CALL(fchownat), CALL(set_robust_list),
    CALL(process_vm_readv), CALL(getrusage), CALL(capset), CALL(copy_file_range), CALL(close_range), CALL(getpriority),
};

static void say(const char *word) {
  if (write(STDOUT_FILENO, word, strlen(word)) < 0) _exit(1);
}

static void on_term(int number) {
  (void)number;
  say("TERM\n");
  _exit(0);
}

int main(int count, char **words) {
  if (count == 1) {
    signal(SIGTERM, on_term);
    say("up\n");
    for (;;) pause();
  }
  if (count < 4) return 125;
  char *detail = strchr(words[1], ':');
  if (detail) *detail++ = '\0';
  unsigned int index = 0, value = 0;
  if (detail && sscanf(detail, "%u=%u", &index, &value) != 2) return 125;
  unsigned int refusal = SECCOMP_RET_ERRNO | (strcmp(words[2], "EPERM") == 0 ? EPERM : ENOSYS);
  for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
    if (strcmp(CALLS[i].name, words[1]) != 0) continue;
    unsigned int argument = (unsigned int)(offsetof(struct seccomp_data, args) + index * sizeof(__u64));
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i].number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
        BPF_JUMP(BPF_JMP | (detail ? BPF_JEQ : BPF_JGE) | BPF_K, value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, refusal),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 125;
    execv(words[3], words + 3);
    perror(words[3]);
    return 125;
  }
  fprintf(stderr, "refuse: %s is not in the list\n", words[1]);
  return 125;
}
