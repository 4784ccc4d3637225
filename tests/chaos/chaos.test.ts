import { expect } from '@jest/globals';
import { longTest } from '../harness/run-size.ts';
import type { FireReport } from './campaigns/campaign.ts';
import { runUnderFire } from './campaigns/run.ts';
import { MissingServer } from './stage/stage.ts';

/** Long enough for any machine: what is lost for good is found, not what is slow. */
const settleMs = 300_000;
const timeoutMs = 900_000;

/** A small run, which shows that the system and its observer work: `npm run chaos` looks for faults. */
const options = {
  ...{ seed: 13, faults: 5, everyMs: 1_500, faultsPerRound: 5, coldKeys: 40, settleMs },
  log: () => undefined,
};

longTest(
  'a system of all types under load converges after overlapping faults, and keeps what it has acknowledged',
  async () => {
    const report = await runUnderFire(options).catch(notRun);
    if (report === undefined) return;
    const found = Object.entries(report.violations).filter(([, violations]) => violations.length > 0);
    expect(found).toEqual([]);
    expect(Object.values(report.faults).reduce((sum, count) => sum + count, 0)).toBe(options.faults);
    for (const act of ['write', 'read', 'set', 'login', 'revoke'])
      expect(report.operations[act]?.ok).toBeGreaterThan(0);
  },
  timeoutMs,
);

/** @throws unless the machine lacks a server */
function notRun(error: unknown): FireReport | undefined {
  if (!(error instanceof MissingServer)) throw error;
  console.warn(`not run: faults under load: ${error.message}`);
  return undefined;
}
