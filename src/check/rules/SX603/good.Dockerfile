FROM debian:12
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
