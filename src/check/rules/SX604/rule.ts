import { basename } from 'node:path';
import { startedBy } from '../../../config/notation/program.ts';
import { presetOf } from '../../../config/notation/stop/stop-presets.ts';
import { stopSignalOf } from '../../stop/images.ts';
import { argvOfStage, ownArgvOfStage } from '../../stop/started.ts';
import { ofStage } from '../rule.ts';

export const rule = ofStage({
  severity: 'warning',
  title: 'The STOPSIGNAL of the base image is meant for another program',
  why: 'STOPSIGNAL is inherited. A program that does not know QUIT or WINCH dies of it at once, or ignores it until KILL.',
  remedy: 'Write STOPSIGNAL SIGTERM.',
  *find({ stage, images }) {
    const { started } = stage;
    const inherited = stopSignalOf(stage.base, images);
    if (stage.stopSignal !== undefined || inherited === undefined || inherited === 'SIGTERM') return;
    const { program } = startedBy(argvOfStage(stage, images));
    const isScript = /\.sh$|^(sh|bash|dash|ash|sexton|docker-entrypoint|docker-php-entrypoint)$/.test(program);
    // The program of the image below has the signal that is meant for it.
    const isOwn = ownArgvOfStage(stage).some((word) => basename(word) === program);
    if (started === undefined || !isOwn || isScript || presetOf(program) !== undefined) return;
    yield { at: started, program, inherited };
  },
  say: ({ program, inherited }, { stage }) => `${program} inherits STOPSIGNAL ${inherited} from ${stage.base}`,
});
