import { under } from '../workloads.ts';
import type { Cases } from './case.ts';

export const SEXTON_FLAG_CASES: Cases = {
  SX801: {
    'a flag whose value is quoted': {
      text: under('--grace-period, "60s"'),
      says: [/^error /],
      fixed: '--grace-period, "30s"',
    },
    'a flag whose value is plain': {
      text: under('--grace-period, 60s'),
      says: [/^error /],
      fixed: '--grace-period, 30s,',
    },
    'a flag with an equals sign': {
      text: under('--grace-period=60s'),
      says: [/^error /],
      fixed: 'run, --grace-period=30s, --',
    },
    'a flag with an equals sign that is quoted': {
      text: under('"--grace-period=60s"'),
      says: [/^error /],
      fixed: 'run, "--grace-period=30s", --',
    },
  },
};
