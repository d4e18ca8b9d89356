import { firstProcessOfService, packageManagerOf } from '../../stop/started.ts';
import { PACKAGE_MANAGER, packageManagerText } from '../common.ts';
import { ofService } from '../rule.ts';

export const rule = ofService({
  ...PACKAGE_MANAGER,
  title: 'A package manager is PID 1 of the service',
  remedy:
    'Start the program itself: node server.js in place of npm start, node_modules/.bin/PROGRAM in place of npx PROGRAM.',
  *find({ service, images }) {
    const { entries } = service.node;
    const program = packageManagerOf(firstProcessOfService(service, images));
    const key = (entries.get('entrypoint') ?? entries.get('command'))?.key;
    if (program !== undefined) yield { at: key, program };
  },
  say: ({ program }) => packageManagerText(program),
});
