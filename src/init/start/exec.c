/* Looks up a program in PATH and executes it, as execvp(3) does. */
#include <sys/mman.h>

#include "start.h"

bool next_place(const char **path, const char *file, char out[MAX_PATH_BYTES]) {
  while (*path) {
    const char *dir = *path;
    const char *colon = strchr(dir, ':');
    size_t length = colon ? (size_t)(colon - dir) : strlen(dir);
    size_t file_length = strlen(file);
    *path = colon ? colon + 1 : NULL;
    if (length + file_length + 2 > MAX_PATH_BYTES) continue;
    memcpy(out, dir, length);
    if (length > 0) out[length++] = '/';
    memcpy(out + length, file, file_length + 1);
    return true;
  }
  return false;
}

const char *search_path(char *const *env) {
  for (; *env; env++)
    if (starts_with(*env, "PATH=")) return *env + 5;
  return "/bin:/usr/bin";
}

/* Runs a script without a first line. A successful exec drops the mapping. */
static void exec_by_shell(const char *script, char *const argv[], char *const env[]) {
  size_t count = 0;
  while (argv[count]) count++;
  size_t size = (count + 2) * sizeof(char *);
  char **words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (words != MAP_FAILED) {
    words[0] = (char *)(uintptr_t) "/bin/sh";
    words[1] = (char *)(uintptr_t)script;
    memcpy(words + 2, argv + 1, count * sizeof(char *)); /* with the NULL at its end */
    execve(words[0], words, env);
    munmap(words, size);
  }
  errno = ENOEXEC;
}

/* tini and dumb-init use glibc's execvp(3), which also runs scripts without a first line. */
static void execute(const char *place, char *const argv[], const struct inherited *in) {
  execve(place, argv, in->env);
  enum called_as as = in->drop_in.as;
  if (errno == ENOEXEC && (as == AS_TINI || as == AS_DUMB_INIT)) exec_by_shell(place, argv, in->env);
}

/* The errors after which execvp(3) tries the next place. */
static bool is_missing(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENODEV || error == ESTALE || error == ETIMEDOUT;
}

int exec_in_path(const struct inherited *in, char *const argv[]) {
  char place[MAX_PATH_BYTES];
  bool denied = false;
  if (argv[0][0] == 0) return ENOENT;
  if (strchr(argv[0], '/')) {
    execute(argv[0], argv, in);
    return errno;
  }
  errno = ENOENT;
  for (const char *path = search_path(in->env); next_place(&path, argv[0], place);) {
    execute(place, argv, in);
    if (errno == EACCES) denied = true;
    else if (!is_missing(errno)) return errno;
  }
  return denied ? EACCES : ENOENT;
}
