import { deployment, job } from '../../../src/check/rules/examples.ts';
import { type Case, started } from './case.ts';

const DASH = 'debian:12';
const UNKNOWN = 'example.com/any:1';
const LIST = '[sh, -c, "a && b"]';

function given(image: string, args: string): string {
  return deployment(`- name: web\n  image: ${image}\n  args: ${args}`);
}

export const FIRST_PROCESS_CASES: readonly Case[] = [
  {
    rule: 'SX201',
    what: 'a list in dash',
    text: started(LIST),
    says: [/^error @30000 \["a && b"\] .*sh -c stays PID 1/],
  },
  {
    rule: 'SX201',
    what: 'dash in an image of another shell',
    text: started('[dash, -c, "a && b"]', 'fedora:40'),
    says: [/^error .*dash -c stays/],
  },
  {
    rule: 'SX201',
    what: 'a pipe in busybox',
    text: started('[sh, -c, "a | b"]', 'alpine:3.20'),
    says: [/^warning .*sh -c stays/],
  },
  {
    rule: 'SX201',
    what: 'a list in a shell that is not known',
    text: started(LIST, UNKNOWN),
    says: [/^info .*may stay PID 1/],
  },
  {
    rule: 'SX201',
    what: 'the work of a Job',
    text: job(`- name: web\n  image: ${DASH}\n  command: ${LIST}`),
    says: [/^info /],
  },
  {
    rule: 'SX201',
    what: 'a shell behind its hook by the time of its own KILL',
    text: deployment(
      `- {name: other, image: "example.com/o:1"}\n- name: web\n  image: ${DASH}\n  command: ${LIST}\n  lifecycle: {preStop: {sleep: {seconds: 30}}}`,
    ),
    says: [/^error @32000 /],
  },
  {
    rule: 'SX201',
    what: 'a shell with one variable',
    text: started('[sh, -c, "x=1"]'),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a word of the shell itself',
    text: started('[sh, -c, "a; cd /"]'),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a program alone, and writes before it',
    text: started('[sh, -c, server --port 80]'),
    says: [/^error /],
    fixed: 'exec server --port 80',
  },
  {
    rule: 'SX201',
    what: 'a block, and writes before its last command',
    text: deployment(
      `- name: web\n  image: ${DASH}\n  command:\n    - sh\n    - -c\n    - |\n      prepare\n      server --port 80\n`,
    ),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a script whose text has escapes',
    text: started('[sh, -c, "a; b \\x63"]'),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a command that stands there twice, and writes before the last one',
    text: started('[sh, -c, "run; run"]'),
    says: [/^error /],
    fixed: 'run; exec run',
  },
  {
    rule: 'SX201',
    what: 'blanks behind the last command',
    text: started('[sh, -c, "a; b "]'),
    says: [/^error /],
    fixed: 'a; exec b ',
  },
  {
    rule: 'SX201',
    what: 'a comment',
    text: started('[sh, -c, "a # then; b"]'),
    says: [/^error /],
    fixed: false,
  },
  {
    rule: 'SX201',
    what: 'a folded script with a number sign',
    text: deployment(
      `- name: web\n  image: ${DASH}\n  command:\n    - sh\n    - -c\n    - >-\n      prepare '#';\n      server\n`,
    ),
    says: [/^error /],
    fixed: 'exec server',
  },
  {
    rule: 'SX201',
    what: 'a loop among the arguments of an official image that has no entrypoint',
    text: given('busybox:1.36', '[sh, -c, "while true; do work; done"]'),
    says: [/^warning @30000 \["while true; do work; done"\] .*sh -c stays PID 1/],
  },
  { rule: 'SX201', what: 'arguments of an image whose entrypoint is not known', text: given(UNKNOWN, LIST), says: [] },
  {
    rule: 'SX201',
    what: 'options of an official image',
    text: given('python:3.13', '[-c, "a && b"]'),
    says: [],
  },
  {
    rule: 'SX206',
    what: 'the arguments of an official image that starts them',
    text: given('node:22', '[npm, start]'),
    says: [/^info @- \[npm\] web: npm is PID 1/],
  },
  { rule: 'SX206', what: 'a package manager behind an init', text: started('[tini, --, npm, start]'), says: [] },
  {
    rule: 'SX206',
    what: 'a package manager under sexton',
    text: started('[/sexton/sexton, --, npm, start]'),
    says: [],
  },
  { rule: 'SX206', what: 'a program that is called almost so', text: started('[cnpm, start]'), says: [] },
  { rule: 'SX206', what: 'another one that is called almost so', text: started('[npmrc, start]'), says: [] },
];
