/** Clients of a server: one whose request is under way, and a load of many that each must be answered. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { FIRST_HALF, PORT, SECOND_HALF, type Stage } from './stage.ts';

/** One request and its response: `onBody` gets the whole body as far as it has come, `onEnd` whether that was all. */
export type Exchange = (
  stage: Stage,
  path: string,
  onBody: (body: string) => void,
  onEnd: (isComplete: boolean) => void,
) => void;

export interface Ending {
  readonly body: string;
  readonly isComplete: boolean;
}

export const WHOLE: Ending = { body: FIRST_HALF + SECOND_HALF, isComplete: true };

/** A new connection for each. */
export const getByHttp: Exchange = httpWith(false);

/** Resolves when the first half of the response is here. */
export function openFlight(stage: Stage, exchange: Exchange): Promise<{ readonly ended: Promise<Ending> }> {
  return new Promise((resolve, reject) => {
    let body = '';
    const end = Promise.withResolvers<Ending>();
    exchange(
      stage,
      '/slow',
      (soFar) => {
        body = soFar;
        if (body.startsWith(FIRST_HALF)) resolve({ ended: end.promise });
      },
      (isComplete) => {
        end.resolve({ body, isComplete });
        // Without effect once the first half has come.
        reject(new Error(`the response ended before its first half: ${body}`));
      },
    );
  });
}

export interface Load {
  /** How many were answered well. */
  answered(): number;
  /** Ends it and returns what went wrong. */
  stop(): Promise<readonly string[]>;
}

/** One client with a new connection for each request and, in HTTP, one that keeps its connection. */
export function startLoad(stage: Stage, exchange: Exchange): Load {
  let answered = 0;
  let isOver = false;
  const failures: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const client = async (own: Exchange): Promise<void> => {
    while (!isOver) {
      const { body, isComplete } = await quick(stage, own);
      if (isComplete && body === 'ok\n') answered += 1;
      else failures.push(`${isComplete ? 'answered' : 'cut'}: ${body}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  const clients = [client(exchange), ...(exchange === getByHttp ? [client(httpWith(agent))] : [])];
  return {
    answered: () => answered,
    stop: async () => {
      isOver = true;
      await Promise.all(clients);
      agent.destroy();
      return failures;
    },
  };
}

export async function isAnswering(stage: Stage, exchange: Exchange): Promise<boolean> {
  return (await quick(stage, exchange)).isComplete;
}

export function isRefused({ host }: Stage): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PORT, host);
    // A full backlog answers only after two minutes.
    socket.setTimeout(1_000, () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

function quick(stage: Stage, exchange: Exchange): Promise<Ending> {
  return new Promise((resolve) => {
    let body = '';
    exchange(
      stage,
      '/quick',
      (soFar) => {
        body = soFar;
      },
      (isComplete) => resolve({ body, isComplete }),
    );
  });
}

export function httpWith(agent: Agent | false): Exchange {
  return ({ host }, path, onBody, onEnd) => {
    const outgoing = request({ host, port: PORT, path, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
        onBody(body);
      });
      response.on('error', () => {});
      response.on('close', () => onEnd(response.complete && response.statusCode === 200));
    });
    outgoing.on('error', () => onEnd(false));
    outgoing.end();
  };
}
