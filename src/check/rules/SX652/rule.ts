import { signalName, signalNumber } from '../../../core/signals.ts';
import { setKey } from '../../edits.ts';
import { at, textAt } from '../../input/located.ts';
import { factsOfImage } from '../../stop/images.ts';
import { gracefulSignalOf } from '../../stop/plan.ts';
import { programOfService } from '../../stop/started.ts';
import { ofService } from '../rule.ts';

export const rule = ofService({
  severity: 'warning',
  title: 'stop_signal is not the graceful one of the program',
  why: 'Compose stops the container with this signal, on which this program cuts its requests.',
  remedy: "Write the program's own graceful signal.",
  *find({ service, images }) {
    const { image, node } = service;
    const declared = at(node, 'stop_signal');
    const graceful = gracefulSignalOf(programOfService(service, images), image);
    const known = factsOfImage(image, images);
    const inherited = known && (known.stopSignal ?? 'SIGTERM');
    const gets = signalNumber((declared === undefined ? inherited : textAt(declared)) ?? '');
    if (graceful === undefined || gets === undefined) return;
    if (gets !== graceful.signal) yield { at: declared, graceful, gets };
  },
  say: ({ at: declared, graceful: { preset, signal }, gets }) => {
    const what = declared === undefined ? 'the image says' : 'stop_signal is';
    return `${preset} ends gracefully on ${signalName(signal)}, and ${what} ${signalName(gets)}`;
  },
  fix: ({ at: declared, graceful }, { service: { source, node } }) =>
    setKey(source, node, 'stop_signal', declared, signalName(graceful.signal)),
});
