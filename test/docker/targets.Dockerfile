# The images that sexton is delivered to, each with the application of the tests as /member, and each once more with sexton
# copied into it. BASE is a Debian with compilers, SEXTON the image of sexton.
ARG BASE
ARG SEXTON

FROM ${BASE} AS programs
COPY member.c /
RUN set -e; \
    flags="-std=gnu11 -O2 -s /member.c -o"; \
    mkdir -p /debian /musl/lib /busybox/bin /busybox/tmp /bare; \
    gcc $flags /debian/member; \
    musl-gcc $flags /musl/member; \
    musl-gcc -static $flags /bare/member; \
    loader=$(readelf -l /musl/member | sed -n 's/.*interpreter: \(.*\)]/\1/p'); \
    cp -L "$loader" "/musl$loader"; \
    cp /bare/member /busybox/member; \
    cp /bin/busybox /busybox/bin/busybox; \
    for it in $(/bin/busybox --list); do [ "$it" = busybox ] || ln -s busybox "/busybox/bin/$it"; done; \
    cp -a /busybox/bin /busybox/tmp /musl/

FROM ${SEXTON} AS sexton

# glibc, as most images have it. The application is linked against it.
FROM ${BASE} AS debian
COPY --from=programs /debian /

# What Alpine is made of: musl and busybox. The application is linked against musl, and there is no glibc.
FROM scratch AS musl
COPY --from=programs /musl /

# busybox alone, and no library at all.
FROM scratch AS busybox
COPY --from=programs /busybox /

# One static program and nothing else.
FROM scratch AS bare
COPY --from=programs /bare /

FROM debian AS debian-copy
COPY --from=sexton /sexton /sexton
ENTRYPOINT ["/sexton/sexton"]

FROM musl AS musl-copy
COPY --from=sexton /sexton /sexton
ENTRYPOINT ["/sexton/sexton"]

FROM busybox AS busybox-copy
COPY --from=sexton /sexton /sexton
ENTRYPOINT ["/sexton/sexton"]

FROM bare AS bare-copy
COPY --from=sexton /sexton /sexton
ENTRYPOINT ["/sexton/sexton"]
