// Tests an upgrade from a released version: a clone of it, with its own packages, writes data; then this version uses the data.
// After that, the services of both versions run beside each other while they are replaced in turn under load, as
// docs/operations/running.md#upgrading permits it. Takes about ten minutes.
//
//   npm run upgrade                    from the newest tag
//   npm run upgrade -- --from <ref>    from a tag, branch or commit
//   npm run upgrade -- --in-place      without the second part, which needs RabbitMQ
import { parseArgs } from 'node:util';
import { upgradeFrom } from '../../chaos/campaigns/upgrade.ts';
import { printReport } from '../../chaos/report.ts';
import { MissingServer } from '../../chaos/stage/stage.ts';
import { upgradeInPlace } from './in-place.ts';
import { lastTag, type OlderSource, olderSource } from './older-source.ts';

const say = (line: string): void => console.log(`upgrade: ${line}`);

/** Enough for faults to happen while versions are mixed; what is slow on a busy machine is no violation. */
const options = {
  ...{ seed: 1, faults: 20, everyMs: 3_000, faultsPerRound: 20, settleMs: 300_000, coldKeys: 40 },
  log: (line: string) => console.log(line),
};

/** Returns whether nothing was violated. */
async function replaceInTurn(older: OlderSource): Promise<boolean> {
  try {
    const report = await upgradeFrom(older, options);
    printReport(report, options.log);
    return report.foundAfterMs === null;
  } catch (error) {
    if (!(error instanceof MissingServer)) throw error;
    say(`not run: both versions beside each other: ${error.message}`);
    return true;
  }
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { from: { type: 'string' }, 'in-place': { type: 'boolean', default: false } },
  });
  const ref = values.from ?? lastTag();
  if (ref === undefined) {
    say('not run: there is no tag yet; --from names another commit');
    return true;
  }
  const older = olderSource(ref);
  try {
    say(`from ${older.revision}`);
    await upgradeInPlace(older, say);
    return values['in-place'] || (await replaceInTurn(older));
  } finally {
    older.remove();
  }
}

// What was started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

process.exitCode = (await main()) ? 0 : 1;
