/**
 * A program that cleans up when it gets TERM: it writes the file CLEANED. READY: a file that it writes when it can be
 * asked to stop.
 */
import { writeFileSync } from 'node:fs';

process.on('SIGTERM', () => {
  writeFileSync(process.env.CLEANED, '');
  process.exit(0);
});
setInterval(() => {}, 1_000);
writeFileSync(process.env.READY, '');
