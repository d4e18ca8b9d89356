/** The topics `probes` and `sidecars` of `sexton help`. */
import { SIDECARS } from '../../../config/notation/sidecars.ts';
import { formatTable } from '../../../text/table.ts';

/** The notation of probes, hooks and reloads. */
export const PROBES_TEXT = `PROBE of --startup, --readiness, --liveness:
    exec:COMMAND                  exit code 0
    http://HOST:PORT/PATH         status 200 to 399; or https://, unchecked
    tcp://HOST:PORT               a connection is accepted
    grpc://HOST:PORT/SERVICE      grpc.health.v1.Health says SERVING
    Without HOST it is 127.0.0.1: http://:8080/healthz, grpc://:50051.

Options behind it, with Kubernetes' defaults:
    ,period=10s      from one probe to the next
    ,timeout=1s      how long one may take
    ,failures=3      so many in a row count as one
    ,successes=1     so many in a row count as one; startup, liveness: only 1
    ,delay=0         from the start of the command to the first probe
    ,grace=30s       startup, liveness: the time for the stop they lead to;
                     without it the grace period
    ,header='Accept: text/plain'    http only, may be given several times

HOOK of --post-start, --pre-stop:
    exec:COMMAND, http://HOST:PORT/PATH, POST http://HOST:PORT/PATH,
    tcp://HOST:PORT, sleep:5s; of the options only header

COMMAND is split into words as a shell does it, by blanks, quotes and
backslashes, but no shell runs it and nothing is expanded. For a shell:
    --liveness "exec:sh -c 'test -e /tmp/ok || exit 1',period=5s"
Options begin at the first comma outside quotes that is followed by the name of
one and =. Quote a comma that belongs to the command; in a URL write %2C.

--reload PATH=SIGNAL or PATH=SIGNAL,validate=COMMAND, several in a flag each; in
SEXTON_RELOAD on a line each. COMMAND goes to the end of the line.
`;

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
