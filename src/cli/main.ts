/**
 * The entry of the program: finds the subcommand and loads it. `run` is the one that stands between a container and its
 * command, so nothing but that decision is loaded before it. process.argv is as sexton-init passes it on: what follows
 * the program's own name begins at 2.
 */

import { dropInOf } from '../config/dropin/dropin.ts';
import type { DropIn } from '../config/dropin/line.ts';
import { show } from '../config/notation/parse.ts';
import { subcommandOf } from '../config/subcommand.ts';
import { EXIT } from '../core/exit.ts';
import { complain, SextonError } from '../text/errors.ts';

main(process.argv.slice(2)).catch(async (error: unknown) => {
  complain(error);
  process.exitCode = EXIT.sexton;
  // The termination log is only for the process that ends the container.
  if (process.pid === 1) await (await import('./commands/last-word.ts')).leaveLastWord(error, process.env);
});

async function main(argv: readonly string[]): Promise<void> {
  const as = dropInOf(process.env.SEXTON_INIT_AS);
  if (as !== undefined) return start(as, argv);
  const subcommand = subcommandOf(argv);
  switch (subcommand.name) {
    case 'run':
      return (await import('./commands/run.ts')).run(argv);
    case 'status':
      return (await import('./commands/status.ts')).status(subcommand.args, process.env);
    case 'stop':
      return (await import('./commands/stop/stop.ts')).stop(subcommand.args, process.env);
    case 'restart':
      return (await import('./commands/restart/restart.ts')).restart(subcommand.args, process.env);
    case 'quit':
      return (await import('./commands/quit.ts')).quit(subcommand.args);
    case 'begin':
      return (await import('./commands/begin.ts')).begin(subcommand.args, process.env);
    case 'install':
      return (await import('./commands/install/install.ts')).install(subcommand.args);
    case 'explain':
      return (await import('./commands/explain.ts')).explain(subcommand.args, process.env);
    case 'report':
      return (await import('./commands/report.ts')).report(subcommand.args, process.env);
    case 'check':
      return (await import('./commands/check.ts')).check(subcommand.args, process.env);
    case 'images':
      return (await import('./commands/images.ts')).images(subcommand.args);
    case 'completion':
      return (await import('./commands/help/completion.ts')).completion(subcommand.args);
    case 'schema':
      return (await import('./commands/schema.ts')).schema(subcommand.args);
    case 'version':
      return (await import('./commands/version.ts')).version(subcommand.args);
    case 'help':
      return (await import('./commands/help/help.ts')).help(subcommand.args);
    case 'unknown':
      throw new SextonError('unknownSubcommand', { word: show(subcommand.word), near: subcommand.near });
    default:
      return subcommand satisfies never;
  }
}

/**
 * Under another program's name there are no subcommands. init supervises every command line that has a command; the
 * rest is answered here.
 */
async function start(as: DropIn, argv: readonly string[]): Promise<void> {
  if (process.env.SEXTON_INIT_FD !== undefined) return (await import('./commands/run.ts')).run(argv, as);
  return (await import('./commands/drop-in-answer.ts')).answer(as, argv, process.env);
}
