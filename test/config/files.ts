/**
 * A machine in memory for the configuration to read. It has only the named files and directories.
 */
import type { Files } from '../../src/config/resolve.ts';

export function filesOf(
  texts: Readonly<Record<string, string>> = {},
  directories: readonly string[] = [],
  isTerminal = false,
  missing: readonly string[] = [],
): Files {
  return {
    readText: (path) => {
      const text = texts[path];
      if (text !== undefined) return text;
      const code = directories.includes(path) ? 'EISDIR' : 'ENOENT';
      throw Object.assign(new Error(`${code}: cannot read ${path}`), { code });
    },
    isDirectory: (path) => directories.includes(path),
    isMissing: (path) => missing.includes(path),
    isTerminal,
    whyNode: 'a test',
  };
}
