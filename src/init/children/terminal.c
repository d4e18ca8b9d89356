/* The foreground of the controlling terminal. */
#include "children.h"

bool holds_foreground(void) {
  pid_t foreground = tcgetpgrp(STDIN_FILENO); /* fails unless descriptor 0 is init's controlling terminal */
  return foreground != -1 && foreground == getpgrp();
}

void give_terminal(struct terminal *terminal, uint64_t id, pid_t group) {
  if (holds_foreground() && tcsetpgrp(STDIN_FILENO, group) == 0) terminal->owner = id;
}

void take_terminal(struct terminal *terminal, uint64_t id) {
  if (terminal->owner != id) return;
  tcsetpgrp(STDIN_FILENO, getpgrp()); /* SIGTTOU is blocked, so this works from the background: tcsetpgrp(3) */
  terminal->owner = 0;
}
