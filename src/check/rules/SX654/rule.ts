import { firstProcessOfService, packageManagerOf } from '../../stop/started.ts';
import { ofService } from '../rule.ts';

export const rule = ofService({
  severity: 'info',
  title: 'A package manager is PID 1 of the service',
  why: 'npm, yarn and pnpm start the script by a shell and stay in front of it. Which signals reach the program depends on their versions.',
  remedy: 'Start the program itself: node server.js in place of npm start.',
  *find({ service, images }) {
    const { entries } = service.node;
    const program = packageManagerOf(firstProcessOfService(service, images));
    const key = (entries.get('entrypoint') ?? entries.get('command'))?.key;
    if (program !== undefined) yield { at: key, program };
  },
  say: ({ program }) => `${program} is PID 1 and starts the program by a shell`,
});
