/** Flags that ask sexton itself something, in the place of a command line of `run`. */
export const HELP_FLAGS: readonly string[] = ['--help', '-h'];
export const VERSION_FLAGS: readonly string[] = ['--version', '-V'];

/** Whether a command is supervised, as sexton-init decides by the same rule (`wants_foreground` in `src/init/start.c`). */
export function isRun([first, second = '']: readonly string[]): boolean {
  // Without any word `run` says that no command is given.
  const asks = (word: string): boolean => [...HELP_FLAGS, ...VERSION_FLAGS].includes(word);
  return first === undefined || (first === 'run' ? !asks(second) : first.startsWith('-') && !asks(first));
}
