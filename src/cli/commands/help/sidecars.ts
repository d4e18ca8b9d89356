/**
 * The topic `sidecars` of `sexton help`: the sidecars that sexton knows by name, written from their table.
 */
import { SIDECARS } from '../../../config/notation/sidecars.ts';
import { formatTable } from '../../../text/table.ts';

export function sidecarsText(width: number): string {
  const rows = Object.entries(SIDECARS).map(([name, { quit, ready }]) => [
    name,
    `:${quit.port}${quit.paths.at(-1)}`,
    `:${ready.port}${ready.path.replace(/\?.*/, '')}`,
  ]);
  return `${formatTable(['NAME', 'QUIT: POST', 'READY: GET'], rows, width)}
Sidecars that run without sexton, on 127.0.0.1. NAME:PORT for another port; or
a URL: --quit http://:8080/quit, --start-after http://:8080/up=ready.

--quit NAME: when the main's life is over, well or not, it is asked to leave.
sexton quit NAME: the same by hand. One line per sidecar; exit code 0: all have
gone. 1: one was asked in vain. 125: an unknown name.
--start-after NAME=ready: the command starts once it is ready; NAME=ready? does
not wait where nothing listens.
`;
}
