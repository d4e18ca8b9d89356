FROM debian:12
COPY without-exec.sh /entrypoint.sh
ENTRYPOINT ["/entrypoint.sh"]
