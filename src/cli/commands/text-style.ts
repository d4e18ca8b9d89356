/** How `sexton report` and `sexton check` draw text. */
import type { Env } from '../../config/env.ts';
import type { TextStyle } from '../../report/text.ts';
import { outputWidth } from '../../text/print.ts';

/**
 * As wide as the terminal; a pipe or a file has no width and gets `pipeColumns`. Any NO_COLOR that is not empty counts
 * (no-color.org), and TERM=dumb. ASCII where the locale names another charset than UTF-8; most containers set no locale.
 */
export function textStyle(env: Env, pipeColumns: number): TextStyle {
  const ascii = !/utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || 'UTF-8');
  const width = outputWidth();
  return {
    width: Number.isFinite(width) ? width : pipeColumns,
    colours: process.stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
    ascii,
  };
}
