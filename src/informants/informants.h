/*
 * Two small programs that stand in the same file as sexton-init and run under names of their own, so that an image needs
 * no further file. A draining supervisor starts them (src/runtime/traffic).
 */
#ifndef SEXTON_INFORMANTS_H
#define SEXTON_INFORMANTS_H

/* By the name `sexton-sockets`: sockets.c. */
_Noreturn void tell_sockets(int argc, char *const argv[]);
/* By the name `sexton-departures`: departures.c. */
_Noreturn void tell_departures(void);

#endif
