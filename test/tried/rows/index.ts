/** All that is tried. A row is one entry of these lists. */
import type { Row } from '../row.ts';
import { DATABASE_ROWS } from './databases.ts';
import { PYTHON_ROWS } from './python.ts';
import { READER_ROWS } from './readers.ts';
import { RUBY_AND_NODE_ROWS } from './ruby-and-node.ts';
import { SERVICE_ROWS } from './services.ts';
import { SHELL_ROWS } from './shells.ts';
import { WEB_ROWS } from './web.ts';
import { WRAPPER_ROWS } from './wrappers.ts';

export const ROWS: readonly Row[] = [
  ...PYTHON_ROWS,
  ...RUBY_AND_NODE_ROWS,
  ...WEB_ROWS,
  ...DATABASE_ROWS,
  ...SERVICE_ROWS,
  ...READER_ROWS,
  ...WRAPPER_ROWS,
  ...SHELL_ROWS,
];

export { RELOAD_ROWS } from './reload.ts';
