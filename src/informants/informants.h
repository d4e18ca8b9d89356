/* A second program in the file of sexton-init, so that an image needs no further file. */
#ifndef SEXTON_INFORMANTS_H
#define SEXTON_INFORMANTS_H

/* By the name `sexton-sockets`: sockets.c. A draining supervisor starts it (src/runtime/traffic). */
_Noreturn void tell_sockets(void);

#endif
