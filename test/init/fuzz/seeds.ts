/** The inputs that the C targets begin with, and words that chance would find late. All are made here. */
import { encodeFrame } from '../../../src/runtime/host/frames.ts';

const OPERATIONS = [
  ['ack', '7'],
  ['memo', '{"phase":"running"}'],
  ['memo', ''],
  ['spawn', '3', '0', '2', '0'],
  ['spawn', '4', '2', '0', '3', 'sh', '-c', 'exit 3'],
  ['kill', '1', '15'],
  [
    'orders',
    '1',
    '2',
    '15',
    '2',
    '3',
    'each',
    '2',
    '1',
    '10',
    '34',
    '64',
    'first',
    '1',
    '15',
    '3',
    'leave',
    '1234567',
    '1',
  ],
  [
    'orders',
    '1',
    '0',
    '5',
    'unheard',
    '5000',
    '0',
    'lost',
    '1234567',
    '9',
    'grace',
    '30000',
    'deadline',
    '1',
    'mains-grace',
    '7',
  ],
  ['due', '0'],
  ['exec', '1', '4096', '3', 'sh', '-c', 'true'],
  ['end-helper', '1'],
  ['stop', '1', '15', '1234567', '0'],
  ['notify', '1', '30000'],
  ['watchdog', '1', '0'],
  ['texts', '7', '/web', '/log', '0', '{', '"Version":1', '{"level":"info"', ' error web: dead'],
  ['orders', '1', '0', '1', 'end', 's', '5000', '0', '255', '1', '256', '', 'stopped', 'signal TERM'],
  ['orders', '1', '0', '1', 'mains', ...['1', '0', '1', '300', '15', '1'], 'f'.repeat(32), '/graveyard/.web.sock'],
  ['listen', '/graveyard/.web.sock'],
  ['watch', '1', '0', '/graveyard', 'web'],
  ['watch', '7', '2', '/graveyard', 'web', 'job', 'proxy'],
  ['connections', '2', '/graveyard/.main.sock', '/graveyard/.web.sock'],
  ['sleep', ''],
  ['sleep', '/graveyard/web'],
  ['exit', '143'],
];

/** Bounds (last event, words), then a commit with each operation, alone and together. */
const COMMITS = [[], ...OPERATIONS, OPERATIONS.flat()].map((fields) => {
  return Buffer.from([9, 5, ...encodeFrame(['commit', ...fields]).subarray(4)]);
});

const LINES: readonly (readonly [program: number, argv: string, env: string])[] = [
  [0, 'run --drain 5s --log-level warn -- sh -c true', 'SEXTON_GRACE=30s PATH=/bin'],
  [0, '--graveyard=/graveyard --name web sh', 'SEXTON_POD_UID=6f1c3a0e-0000-4000-8000-000000000000'],
  [0, 'status', 'SEXTON_CONFIG='],
  [1, '-gvvsw -p SIGTERM -e 143 -e143 -- sh', 'TINI_SUBREAPER= TINI_VERBOSITY=3'],
  [2, '-c --rewrite 15:3 -r15:0 --verb --single-child sh', 'DUMB_INIT_SETSID=0 DUMB_INIT_DEBUG=1'],
  [3, '-- sh', 'KUBEXIT_NAME=web KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT=true'],
];

function lineSeed([program, argv, env]: (typeof LINES)[number]): Buffer {
  const words = argv.split(' ');
  return Buffer.concat([
    Buffer.from([words.length, program]),
    Buffer.from([...words, ...env.split(' '), ''].join('\0')),
  ]);
}

const STAT = '7 (a ) b) S 1 7 7 0 -1 4194560 1';
const STATUS = 'Name:\ta\nState:\tS (sleeping)\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000040000\n';
const V2 = ['0::/kubepods/pod1\n', '123456789', '0::/\n', 'inactive_file 4096\nactive_file 8192\n', 'oom_kill 3\n'];
const V1 = ['9:memory:/docker/1\n0::/\n', 'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n', '4096'];
/** It fills the buffer of init, and ends behind the group. */
const CUT_STAT = `7 (${'c'.repeat(245)}) S 1 7`;
const FILES = [[STAT, STATUS], [CUT_STAT, STATUS], V2, V1].map((files) => {
  return Buffer.from(files.join('\xff'), 'latin1');
});

/** `[length, type]` of <linux/netlink.h>, then the body. */
function message(type: number, body: Buffer): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(16 + body.length, 0);
  header.writeUInt16LE(type, 4);
  return Buffer.concat([header, body]);
}

/** `struct inet_diag_msg`, from port 443 of a listener (10) or an open connection (1), with its age. */
function socket(family: number, state: number): Buffer {
  const fixed = Buffer.alloc(72, 1);
  fixed.set([family, state], 0);
  fixed.writeUInt16BE(443, 4);
  const info = Buffer.alloc(4 + 60);
  info.writeUInt16LE(info.length, 0);
  info.writeUInt16LE(2, 2);
  return message(20, Buffer.concat([fixed, info]));
}

function answer(open: Buffer, closed: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16LE(open.length);
  return Buffer.concat([length, open, closed]);
}

const ANSWERS = [
  answer(Buffer.concat([socket(2, 10), socket(2, 1), message(3, Buffer.alloc(4))]), socket(2, 7)),
  answer(Buffer.concat([socket(10, 10), socket(10, 1), message(3, Buffer.alloc(4))]), socket(10, 7)),
  answer(message(2, Buffer.from([0xfe, 0xff, 0xff, 0xff])), Buffer.alloc(0)),
];

const MESSAGES = ['READY=1\nSTATUS=serves\n', 'WATCHDOG=1', 'WATCHDOG=1\nBARRIER=1\n', 'X_SEXTON_IDLE=1', 'a\0b'];

export interface Target {
  /** The name of its file in `test/init/fuzz`. */
  readonly name: string;
  /** What it is linked with, below src; undefined: all of init. */
  readonly sources?: readonly string[];
  /** Functions that the target has in the place of the real ones. */
  readonly wrapped?: readonly string[];
  /** The files that are measured, below src. */
  readonly parsers: readonly string[];
  readonly seeds: readonly Buffer[];
  readonly words: readonly string[];
}

export const TARGETS: readonly Target[] = [
  {
    name: 'frame',
    sources: ['init/system/frame.c', 'init/system/encode.c', 'init/system/system.c'],
    parsers: ['init/system/frame.c'],
    seeds: COMMITS,
    words: ['commit', ...OPERATIONS.flat(), '65', '9007199254740992'],
  },
  {
    name: 'dropin',
    sources: ['init/start/dropin.c', 'init/start/start.c', 'init/system/system.c'],
    parsers: ['init/start/dropin.c', 'init/start/start.c'],
    seeds: LINES.map(lineSeed),
    words: LINES.flatMap(([, argv, env]) => `${argv} ${env}`.split(' ')),
  },
  {
    name: 'proc',
    sources: ['init/system/processes.c', 'init/system/oom.c', 'init/system/system.c'],
    wrapped: ['read_text', 'kill', 'sched_yield'],
    parsers: ['init/system/processes.c', 'init/system/oom.c'],
    seeds: FILES,
    words: [],
  },
  { name: 'netlink', sources: [], parsers: ['informants/sockets.c'], seeds: ANSWERS, words: [] },
  { name: 'notify', parsers: ['init/children/notify.c'], seeds: MESSAGES.map((it) => Buffer.from(it)), words: [] },
];
