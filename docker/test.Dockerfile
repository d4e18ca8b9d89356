# The images of the tests, from the directory that `npm run build` lays and what is staged beside it: see build.ts.
FROM scratch AS sexton
COPY sexton /sexton
ENTRYPOINT ["/sexton/sexton"]

# No Node, no libc and no shell, only one static program beside sexton.
FROM sexton AS bare
COPY bare /

# busybox, for what needs a shell.
FROM sexton AS busybox
COPY busybox /
