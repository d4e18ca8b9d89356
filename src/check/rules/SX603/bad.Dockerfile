FROM debian:12
STOPSIGNAL SIGTERM
CMD ["nginx", "-g", "daemon off;"]
