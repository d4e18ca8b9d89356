/**
 * What a configuration asks of the machine: files, directories, and whether a person looks at stderr.
 */
import { readFileSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Files } from './config.ts';

export const machine: Files = {
  readText: (path) => readFileSync(path, 'utf8'),
  isDirectory: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
  get isTerminal() {
    return isatty(2);
  },
};
