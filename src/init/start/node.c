/* Finds Node: beside this program, with or without its own loader, where SEXTON_NODE names it, or in PATH. */
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "start.h"

#if defined(__aarch64__)
static const char loader_path[] = "/lib/ld-linux-aarch64.so.1";
#else
static const char loader_path[] = "/lib/ld-linux-x86-64.so.2";
#endif

static bool is_program(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The file that the kernel was asked to execute, with its links resolved. */
static ssize_t executed_file(char *path) {
  char target[MAX_PATH_BYTES / 4];
  const char *executed = (const char *)getauxval(AT_EXECFN);
  if (!executed) return 0;
  ssize_t length = (ssize_t)strnlen(executed, MAX_PATH_BYTES / 4);
  memcpy(path, executed, (size_t)length);
  path[length] = 0;
  for (int links = 0; links < 8; links++) {
    ssize_t size = readlink(path, target, sizeof target);
    if (size <= 0) break;
    while (length > 0 && (target[0] == '/' || path[length - 1] != '/')) length--;
    if (length + size >= MAX_PATH_BYTES / 2) return 0;
    memcpy(path + length, target, (size_t)size);
    length += size;
    path[length] = 0;
  }
  return length;
}

/* The directory of this program, with or without /proc. */
static size_t own_directory(char *dir) {
  ssize_t length = readlink("/proc/self/exe", dir, MAX_PATH_BYTES / 2);
  if (length <= 0 || dir[0] != '/') length = executed_file(dir);
  while (length > 0 && dir[length - 1] != '/') length--;
  if (length == 0) dir[length++] = '.';
  else if (length > 1) length--;
  dir[length] = 0;
  return (size_t)length;
}

/* A lone copy of this file, in an image without a shell, uses the usual directory. */
static size_t home_directory(char *dir) {
  static const char app[] = "/app/main.cjs", usual[] = "/sexton", usual_app[] = "/sexton/app/main.cjs";
  size_t length = own_directory(dir);
  strcpy(dir + length, app);
  if (access(dir, F_OK) == -1 && access(usual_app, F_OK) == 0) length = strlen(strcpy(dir, usual));
  dir[length] = 0;
  return length;
}

/* Node and its libraries read the others, and the application's variables must not change the supervisor. */
static bool is_kept_for_node(const char *entry) {
  static const char removed[][16] = {"NODE_",           "LD_",      "UV_",       "CHOKIDAR_",   "MALLOC_",
                                     "GLIBC_TUNABLES=", "OPENSSL_", "SSL_CERT_", "SEXTON_INIT_"};
  for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
    if (starts_with(entry, removed[i])) return false;
  return true;
}

/* Paths, one behind the other, so that a short one does not take a page. */
struct paths {
  char *next;
  const char *dir;
};

static char *path_in(struct paths *paths, const char *rest) {
  char *path = paths->next;
  size_t length = strlen(paths->dir);
  memcpy(path, paths->dir, length);
  strcpy(path + length, rest);
  paths->next += length + strlen(rest) + 1;
  return path;
}

/* Turns the two bytes of UTF-8 for a character up to U+00FF back into that one byte. */
static void decode_bytes(char *text) {
  char *out = text;
  for (const char *at = text; *at; out++) {
    unsigned char lead = (unsigned char)*at++;
    *out = (char)(lead < 0x80 || *at == 0 ? lead : (lead & 3) << 6 | (*at++ & 0x3f));
  }
  *out = 0;
}

/*
 * In the npm package a JavaScript program becomes init by execve(2), and names its Node in this variable. That Node
 * ignores PIPE and XFSZ, which the application must not inherit. Node passes on only text, so "latin1:" marks a command
 * line and environment that are encoded because a byte is not UTF-8.
 */
static char *take_told_node(const struct inherited *in) {
  static const char variable[] = "SEXTON_NODE=", encoding[] = "latin1:";
  char **entry = in->env;
  while (*entry && !starts_with(*entry, variable)) entry++;
  if (!*entry) return NULL;
  char *told = *entry + strlen(variable);
  for (char **at = entry; *at; at++) at[0] = at[1]; /* the application never sees it */
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  if (!starts_with(told, encoding)) return told;
  told += strlen(encoding);
  decode_bytes(told);
  for (char **at = in->env; *at; at++) decode_bytes(*at);
  for (int i = 0; i < in->argc; i++) decode_bytes(in->argv[i]);
  return told;
}

static char **lack(struct node_command *node, const char *first, const char *second, const char *third) {
  node->lacks[0] = first;
  node->lacks[1] = second;
  node->lacks[2] = third;
  return NULL;
}

static char **place_node(struct node_command *command, struct paths *paths, const struct inherited *in, char *told) {
  char **out = command->argv;
  char *loader = path_in(paths, loader_path);
  char *node = path_in(paths, "/bin/node");
  /* A build under umask 077 is an example; the loader beside Node then seems missing, too. */
  if (access(node, X_OK) != 0 && errno == EACCES)
    return lack(command, "sexton: cannot run ", node,
                ": permission denied to this user; chmod -R a+rX the sexton directory\n");
  bool has_loader = access(loader, F_OK) == 0;
  if (has_loader && !is_program(node))
    return lack(command, "sexton: cannot run ", node,
                ": it is not there; copy the whole sexton directory, not the program alone\n");
  char *found = is_program(node) ? node : told;
  for (const char *path = search_path(in->env); !found && next_place(&path, "node", paths->next);)
    if (is_program(paths->next)) found = paths->next;
  if (!found)
    return lack(command, "sexton: cannot find Node: neither ", node,
                " nor a node in PATH is there; install Node 22.22 or newer, or copy the whole sexton directory\n");
  if (found == paths->next) paths->next += strlen(found) + 1;
  if (has_loader) {
    *out++ = loader;
    *out++ = (char *)(uintptr_t) "--library-path";
    *out++ = path_in(paths, "/lib");
  }
  *out++ = found;
  return out;
}

void find_node(struct node_command *node, const struct inherited *in, bool supervised) {
  char *told = take_told_node(in);
  size_t entries = 0;
  while (in->env[entries]) entries++;
  size_t pointers = (entries + (size_t)in->argc + 16 + MAX_DROP_IN_FLAGS) * sizeof(char *);
  size_t size = pointers + 8 * (size_t)MAX_PATH_BYTES;
  char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) {
    lack(node, "sexton: cannot start: out of memory\n", "", "");
    return;
  }
  struct paths paths = {.dir = block + pointers};
  paths.next = block + pointers + home_directory(block + pointers) + 1;

  node->argv = (char **)(void *)block;
  char **at = place_node(node, &paths, in, told);
  if (!at) return;
  *at++ = (char *)(uintptr_t) "--disable-sigusr1"; /* that signal would open a debugger's port */
  *at++ = (char *)(uintptr_t) "--openssl-config=/dev/null"; /* the image's may name what Node cannot load */
  *at++ = (char *)(uintptr_t) "--max-semi-space-size=1";
  *at++ = (char *)(uintptr_t) "--v8-pool-size=1";
  char *app = path_in(&paths, "/app/main.cjs");
  if (access(app, R_OK) == -1)
    lack(node, "sexton: cannot read ", app,
         ": the supervisor is not there; copy the whole sexton directory, not the program alone\n");
  node->words = at;
  *at++ = app;
  node->anywhere = app[0] == '/' && node->argv[0][0] == '/';
  const struct drop_in *line = &in->drop_in;
  for (int i = 0; i < line->flag_count; i++) *at++ = (char *)(uintptr_t)line->flags[i];
  for (int i = line->rest; i < in->argc; i++) *at++ = in->argv[i];
  node->count = (int)(at - node->words);
  *at++ = NULL;
  node->env = at;
  for (size_t i = 0; i < entries; i++)
    if (is_kept_for_node(in->env[i])) *at++ = in->env[i];
  if (supervised) *at++ = (char *)(uintptr_t) "SEXTON_INIT_FD=3";
  if (supervised && access("/graveyard", F_OK) == -1) *at++ = (char *)(uintptr_t) "SEXTON_INIT_SOLO=1";
  if (line->called) *at++ = (char *)(uintptr_t)line->called;
  *at = NULL;
}
