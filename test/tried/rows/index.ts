import type { ReloadRow, Row } from '../row.ts';
import { READER_ROWS } from './readers.ts';
import { SHELL_ROWS } from './shells.ts';
import { WRAPPER_ROWS } from './wrappers.ts';

export const ROWS: readonly Row[] = [...SHELL_ROWS, ...WRAPPER_ROWS, ...READER_ROWS];

export const RELOAD_ROWS: readonly ReloadRow[] = [];
