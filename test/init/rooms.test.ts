import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import test from 'node:test';
import { ROOMS, sources } from '../../src/init/build.ts';

/** A function that other files may call, by its name; a definition begins in the first column. */
const DEFINITION = /^(?!static)(?:\w+[ *]+)+(\w+)\([^;{]*\) \{/gm;
const CALL = /(?<![.>])\b(\w+)\s*\(/g;

/** Without comments and strings. */
const files = new Map(sources().map((path) => [path, code(readFileSync(path, 'utf8'))]));
const homes = new Map(
  [...files].flatMap(([path, text]) => [...text.matchAll(DEFINITION)].map(([, name]) => [name, path] as const)),
);

test('no file of init calls one that calls it, directly or through others', () => {
  for (const path of files.keys()) assert.ok(!isReached(path, path), `${basename(path)} is called by one it calls`);
});

test('a file of init calls only files of its own room and of the rooms below', () => {
  for (const path of files.keys())
    for (const called of callsOf(path))
      assert.ok(level(called) <= level(path), `${basename(path)} calls ${basename(called)}, which stands above it`);
});

function callsOf(path: string): ReadonlySet<string> {
  const called = [...(files.get(path) ?? '').matchAll(CALL)].flatMap(([, name]) => homes.get(name) ?? []);
  return new Set(called.filter((home) => home !== path));
}

function isReached(goal: string, from: string, seen = new Set<string>()): boolean {
  for (const called of callsOf(from)) {
    if (called === goal) return true;
    if (seen.has(called)) continue;
    seen.add(called);
    if (isReached(goal, called, seen)) return true;
  }
  return false;
}

/** The informants stand below all rooms. */
function level(path: string): number {
  return ROOMS.indexOf(dirname(path));
}

function code(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\.)*"/g, '');
}
