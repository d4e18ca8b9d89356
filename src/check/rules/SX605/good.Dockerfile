FROM debian:12
COPY with-exec.sh /entrypoint.sh
ENTRYPOINT ["/entrypoint.sh"]
