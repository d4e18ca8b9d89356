# An image with Node, into which npm installs the package that is packed beside it.
ARG IMAGE
FROM ${IMAGE}
COPY sexton.tgz /
RUN npm install --global --offline /sexton.tgz && rm /sexton.tgz
ENTRYPOINT ["sexton"]
