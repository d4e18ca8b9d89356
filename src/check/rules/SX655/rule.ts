import { at, textAt } from '../../input/located.ts';
import { flagsOfRun } from '../../stop/plan.ts';
import { argvOfService } from '../../stop/started.ts';
import { ofService } from '../rule.ts';

/** What a member that is alone needs by docs/internals/kernels.md. */
const FLOORS = [
  { what: 'tasks', least: 8, paths: ['pids_limit', 'deploy.resources.limits.pids'] },
  { what: 'open files', least: 26, paths: ['ulimits.nofile', 'ulimits.nofile.soft'] },
] as const;

export const rule = ofService({
  severity: 'warning',
  title: 'A limit of tasks or open files is below what sexton needs',
  why: 'Without these tasks no supervisor starts, and init stops the command without drain and order. Without these open files nothing starts at all.',
  remedy: `Allow at least ${FLOORS.map(({ what, least }) => `${least} ${what}`).join(' and ')}, and what the command needs.`,
  *find({ service, images }) {
    if (flagsOfRun(argvOfService(service, images) ?? []) === undefined) return;
    for (const { what, least, paths } of FLOORS)
      for (const path of paths) {
        const limit = at(service.node, ...path.split('.'));
        const count = Number.parseInt(textAt(limit) ?? '', 10);
        // Compose takes 0 and -1 for no limit.
        if (count > 0 && count < least) yield { at: limit, count, what, least };
      }
  },
  say: ({ count, what, least }) => `a limit of ${count} ${what}, and sexton needs ${least}`,
});
