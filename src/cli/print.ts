/**
 * Output of the subcommands that print. `run` never comes here: its stdout is the application's.
 */

/** The width of the terminal, at least 80 columns, which is also what a pipe gets. */
export function outputWidth(): number {
  return Math.max(80, process.stdout.columns ?? 80);
}

/** Resolves when all is written. A reader that closed early (`| head`) has what it wanted. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.on('error', ignoreClosed);
    process.stdout.write(text, (error) => {
      if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error);
      else resolve();
    });
  });
}

function ignoreClosed(): void {
  // The callback of write() has it.
}
