// node:cluster: told to stop, the primary lets its workers finish their answers of 2 s. Workers that are told end.
const cluster = require('node:cluster');
const { createServer } = require('node:http');

if (cluster.isPrimary) {
  for (let worker = 0; worker < 2; worker += 1) cluster.fork();
  process.on('SIGTERM', () => cluster.disconnect());
} else {
  createServer((_request, response) => {
    response.write('first half\n');
    setTimeout(() => response.end('second half\n'), 2_000);
  }).listen(Number(process.argv[3]), process.argv[2]);
}
