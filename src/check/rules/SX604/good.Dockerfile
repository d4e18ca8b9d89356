FROM nginx:1.29
STOPSIGNAL SIGTERM
CMD ["node", "server.js"]
