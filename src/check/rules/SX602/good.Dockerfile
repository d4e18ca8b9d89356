FROM debian:12
CMD ["sh", "-c", "prepare && exec server"]
