/**
 * A program as most are: it does nothing about TERM, because outside a container nothing has to be done. READY: a file
 * that it writes.
 */
import { writeFileSync } from 'node:fs';

setInterval(() => {}, 1_000);
writeFileSync(process.env.READY, '');
