FROM debian:12
CMD ["server", "--port", "80"]
