FROM node:22
CMD ["node", "server.js"]
