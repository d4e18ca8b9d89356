FROM nginx:1.29
CMD ["node", "server.js"]
