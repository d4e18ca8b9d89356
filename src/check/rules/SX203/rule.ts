import { signalName, signalNumber } from '../../../core/signals.ts';
import { insertKey, replaceValue } from '../../edits.ts';
import { at } from '../../input/located.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'error',
  title: 'A stopSignal that the API server refuses',
  why: 'lifecycle.stopSignal needs spec.os.name and a name that begins with SIG; on Windows only SIGTERM and SIGKILL are allowed.',
  remedy: 'Write os: {name: linux} in the spec of the pod, and the whole name of the signal.',
  *find({ container: { node, stopSignal }, pod: { source, spec, os } }) {
    const place = at(node, 'lifecycle', 'stopSignal');
    if (stopSignal === undefined || place === undefined) return;
    if (os === 'linux') {
      const number = signalNumber(stopSignal);
      const name = number === undefined ? undefined : signalName(number);
      if (name === undefined) yield { at: place, what: 'is no signal', edits: [] };
      else if (!stopSignal.startsWith('SIG')) {
        const edits = [replaceValue(source, place, name)];
        yield { at: place, what: `is refused by the API server, which wants ${name}`, edits };
      }
    } else if (os !== 'windows' || !/^SIG(TERM|KILL)$/.test(stopSignal)) {
      const where = os === undefined ? 'without spec.os.name' : `on ${os}`;
      const edits = insertKey(source, spec, 'os', { name: 'linux' });
      yield { at: place, what: `${where} is refused by the API server`, edits };
    }
  },
  say: ({ what }, { container }) => `stopSignal ${container.stopSignal} ${what}`,
  fix: ({ edits }) => edits,
});
