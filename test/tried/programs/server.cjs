// As server.py: told to stop, it needs 2.4 s. A second stop ends it at once.
const { appendFileSync } = require('node:fs');

const directory = process.env.SCRATCH;
const note = (kind, text) => appendFileSync(`${directory}/${kind}-app`, `${text}\n`);
let stops = 0;
const onStop = (signal) => {
  stops += 1;
  note('heard', signal);
  if (stops > 1) {
    note('end', 'forced');
    process.exit(1);
  }
  setTimeout(() => {
    note('end', 'clean');
    process.exit(0);
  }, 2_400);
};
process.on('SIGTERM', onStop).on('SIGINT', onStop);
setInterval(() => {}, 60_000);
note('ready', process.pid);
