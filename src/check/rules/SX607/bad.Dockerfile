FROM node:22
CMD ["npm", "start"]
