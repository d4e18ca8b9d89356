/**
 * `node test/core/table/write.ts`: writes the generated parts of `docs/lifecycle.md` anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { regenerate } from './markdown.ts';

const path = join(import.meta.dirname, '../../../docs/lifecycle.md');
writeFileSync(path, regenerate(readFileSync(path, 'utf8')));
