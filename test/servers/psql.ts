/** A session of psql that stays: what is written to it is run, one statement after the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { waitFor } from '../helpers/wait.ts';

export interface Session {
  readonly process: ChildProcess;
  /** Runs it and waits for what it says. */
  ask(sql: string): Promise<string>;
  /** Runs it, without waiting. */
  tell(sql: string): void;
  output(): string;
  /** Resolves with the exit code of psql: 0 only if the connection was there to the end. */
  leave(): Promise<number | null>;
  readonly left: Promise<number | null>;
}

export function openSession(socketDir: string): Session {
  const flags = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1'];
  const child = spawn('psql', [...flags, '-h', socketDir, '-U', 'postgres', '-d', 'postgres'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let asked = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  // It may have gone before us.
  child.stdin.on('error', () => {});
  const left = new Promise<number | null>((resolve) => child.once('close', resolve));
  const tell = (sql: string): void => void child.stdin.write(`${sql};\n`);
  return {
    process: child,
    left,
    tell,
    output: () => output,
    ask: async (sql) => {
      asked += 1;
      const [from, mark] = [output.length, `answered ${asked}\n`];
      child.stdin.write(`${sql};\n\\echo ${mark}`);
      await waitFor(`an answer to ${sql}`, () => {
        if (child.exitCode !== null) throw new Error(`psql has ended: ${output}`);
        return output.includes(mark, from);
      });
      return output.slice(from, output.indexOf(mark, from)).trim();
    },
    leave: () => {
      child.stdin.end();
      return left;
    },
  };
}
