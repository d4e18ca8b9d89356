/** A database of PostgreSQL, and sessions of psql that stay: what is written to one is run, one statement after the other. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../helpers/wait.ts';

export const BIN = '/usr/lib/postgresql/15/bin';

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

let made: { readonly user: number; readonly template: string } | undefined;

/** An empty database, made once. */
export function makeTemplate(): { readonly user: number; readonly template: string } {
  if (made !== undefined) return made;
  // initdb asks for the name of its user.
  const user = Number(execFileSync('id', ['-u', 'postgres']));
  const template = mkdtempSync(join(tmpdir(), 'sx-'));
  chownSync(template, user, user);
  process.once('exit', () => rmSync(template, { recursive: true, force: true }));
  const quick = ['--no-sync', '--no-locale', '-A', 'trust', '-U', 'postgres'];
  const identity = { uid: user, gid: user, stdio: 'ignore', cwd: '/' } as const;
  execFileSync(`${BIN}/initdb`, ['-D', template, ...quick], identity);
  made = { user, template };
  return made;
}
