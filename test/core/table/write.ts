/** `node test/core/table/write.ts`: writes the generated parts of `docs/internals/states.md` again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { regenerate } from './markdown.ts';

const path = join(import.meta.dirname, '../../../docs/internals/states.md');
writeFileSync(path, regenerate(readFileSync(path, 'utf8')));
