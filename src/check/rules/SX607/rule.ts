import { packageManagerOf } from '../../stop/started.ts';
import { firstProcessOf } from '../dockerfiles.ts';
import { ofStage } from '../rule.ts';

export const rule = ofStage({
  severity: 'info',
  title: 'The image starts a package manager',
  why: 'npm, yarn and pnpm start the script by a shell and stay in front of it. Which signals reach the program depends on their versions.',
  remedy: 'Start the program itself: CMD ["node", "server.js"] in place of npm start.',
  *find(about) {
    const program = packageManagerOf(firstProcessOf(about));
    if (about.started !== undefined && program !== undefined) yield { at: about.started, program };
  },
  say: ({ program }) => `${program} is PID 1 and starts the program by a shell`,
});
