/** How `sexton report` and `sexton check` draw text. */
import type { Env } from '../../config/env.ts';
import type { TextStyle } from '../../report/text.ts';
import { outputWidth } from '../../text/print.ts';

/**
 * As wide as the terminal. A bar needs an end, so a pipe or a file gets `pipeColumns`. By no-color.org any value that
 * is not empty counts. ASCII where the locale says that it is not UTF-8; where none is set, as in most containers,
 * UTF-8.
 */
export function textStyle(env: Env, pipeColumns: number): TextStyle {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  const ascii = locale !== undefined && locale !== '' && !/utf-?8/i.test(locale);
  const width = outputWidth();
  return {
    width: Number.isFinite(width) ? width : pipeColumns,
    colours: process.stdout.isTTY === true && !env.NO_COLOR,
    ascii,
  };
}
