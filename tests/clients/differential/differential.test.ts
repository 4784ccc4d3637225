import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { describeClient } from '../describe-client.ts';
import { compared, type Deviation } from './compared.ts';
import { type Difference, differences } from './differences.ts';
import { type OpenBaoServer, startOpenBao } from './openbao-server.ts';
import { type Step, sequences } from './operations.ts';
import { Side } from './side.ts';

const count = Number(process.env.DIFFERENTIAL_SEQUENCES ?? 100);
const maxLength = Number(process.env.DIFFERENTIAL_LENGTH ?? 40);
const seed = Number(process.env.DIFFERENTIAL_SEED ?? 1);

/** OpenBao moves mounts and deletes namespaces in the background. */
const isCompletedLater = ({ method, path }: Step): boolean =>
  path === 'sys/remount' || (method === 'DELETE' && path.startsWith('sys/namespaces/'));

test('docs/clients.md lists each difference', () => {
  const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');
  const items = differences.map(({ title }) => `- ${title}\n`);
  expect(items.filter((item) => !page.includes(item))).toEqual([]);
});

const timeoutMs = 60_000 + count * maxLength * 400;

describeClient('openbao', 'the same requests to this service and to OpenBao', () => {
  let service: Installation;
  let openbao: OpenBaoServer;
  let played = 0;
  const requests = { compared: 0, identical: 0 };
  const found = new Map<Difference, number>();

  beforeAll(async () => {
    [service, openbao] = await Promise.all([startInstallation(), startOpenBao()]);
  });
  afterAll(async () => {
    await Promise.all([service?.stop(), openbao?.stop()]);
  });

  const explain = (deviation: Deviation, step: Step): Difference => {
    const difference = differences.find((one) => one.explains(deviation, step));
    if (difference === undefined)
      throw new Error(`${JSON.stringify(step)}\n${deviation.at}: ${JSON.stringify(deviation)}`);
    found.set(difference, (found.get(difference) ?? 0) + 1);
    return difference;
  };

  /** Plays a sequence on both servers, in a namespace of its own. */
  async function play(steps: Step[]): Promise<void> {
    played += 1;
    const [ours, theirs] = [new Side(service, `s${played}`), new Side(openbao, `s${played}`)];
    await Promise.all([ours.begin(), theirs.begin()]);
    for (const step of steps) {
      const [one, other] = await Promise.all([ours.play(step), theirs.play(step)]);
      const deviations = compared(one, other);
      const explanations = deviations.map((deviation) => explain(deviation, step));
      requests.compared += 1;
      if (deviations.length === 0) requests.identical += 1;
      if (one.status < 300 !== other.status < 300) return; // their states differ from now on
      if (one.status < 300 && isCompletedLater(step)) return;
      if (explanations.some(({ ends }) => ends)) return;
      if (one.body?.auth?.client_token && /auth[/]token[/]create/.test(step.path)) {
        ours.note(one);
        theirs.note(other);
      }
    }
  }

  test(
    `sequences get the same responses, except for the differences that are listed (seed ${seed})`,
    async () => {
      await fc.assert(fc.asyncProperty(sequences(maxLength), play), { numRuns: count, seed });
      const lines = [...found].map(([{ title }, times]) => `${times} × ${title}`);
      console.log(
        `${requests.compared} requests, ${requests.identical} without a difference\n${lines.join('\n')}`,
      );
      expect(requests.compared).toBeGreaterThanOrEqual(count);
    },
    timeoutMs,
  );
});
