import { type Case, under } from './case.ts';

export const SEXTON_FLAG_CASES: readonly Case[] = [
  {
    rule: 'SX801',
    what: 'a flag whose value is quoted',
    text: under('--grace-period, "60s"'),
    says: [/^error /],
    fixed: '--grace-period, "30s"',
  },
  {
    rule: 'SX801',
    what: 'a flag whose value is plain',
    text: under('--grace-period, 60s'),
    says: [/^error /],
    fixed: '--grace-period, 30s,',
  },
  {
    rule: 'SX801',
    what: 'a flag with an equals sign',
    text: under('--grace-period=60s'),
    says: [/^error /],
    fixed: 'run, --grace-period=30s, --',
  },
  {
    rule: 'SX801',
    what: 'a flag with an equals sign that is quoted',
    text: under('"--grace-period=60s"'),
    says: [/^error /],
    fixed: 'run, "--grace-period=30s", --',
  },
];
