/**
 * The entry of the program: finds the subcommand and loads it. A container's command waits for `run`, so nothing but
 * that decision is loaded before it. As sexton-init passes process.argv on, the words after the program's own name
 * begin at index 2.
 */
import { dropInOf } from '../config/dropin/dropin.ts';
import { isRun } from '../config/subcommand.ts';
import { EXIT } from '../core/exit.ts';
import { complain } from '../text/errors.ts';

main(process.argv.slice(2)).catch(async (error: unknown) => {
  complain(error);
  process.exitCode = EXIT.sexton;
  // The termination log is only for the process that ends the container.
  if (process.pid === 1) await (await import('./commands/run/last-word.ts')).leaveLastWord(error, process.env);
});

async function main(argv: readonly string[]): Promise<void> {
  const as = dropInOf(process.env.SEXTON_INIT_AS);
  // Init supervises every command line of another program that has a command, and refuses a wrong one.
  if (as !== undefined && process.env.SEXTON_INIT_FD === undefined)
    return (await import('./commands/run/drop-in-answer.ts')).answer(as, argv[0]);
  // Under another program's name there are no subcommands.
  if (as !== undefined || isRun(argv)) return (await import('./commands/run/run.ts')).run(argv, as);
  return (await import('./commands/subcommand.ts')).runSubcommand(argv, process.env);
}
