/* By the name `sexton-sockets`, sexton-init is another program: an image needs no further file. */
#ifndef SEXTON_INFORMANTS_H
#define SEXTON_INFORMANTS_H

_Noreturn void tell_sockets(void);

#endif
