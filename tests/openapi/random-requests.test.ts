import { globalAgent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import type { Answer } from '../harness/http.ts';
import { runSize } from '../harness/run-size.ts';
import {
  type DescribedInstallation,
  prepare,
  startDescribed,
  withFreshTokens,
} from './described-installation.ts';
import {
  type DrawnRequest,
  isStream,
  limitsOthers,
  type Operation,
  operationsOf,
  requestsOf,
} from './operations.ts';
import { nearlyValidValues, validValues } from './values-of-schema.ts';

// More with: REQUESTS=100000 npm test -- tests/openapi/random-requests (CONTRIBUTING.md)
const requests = runSize('REQUESTS', 500, 20_000);
const seed = Number(process.env.SEED ?? 42);
const atOnce = 8;

let described: DescribedInstallation;

beforeAll(async () => {
  described = await startDescribed();
});
afterAll(() => described?.system.stop());

test('the OpenAPI document is valid', async () => {
  expect(await new Validator().validate(described.document as never)).toEqual({ valid: true });
});

/** Refusals that depend on what exists, or on the combination of fields, which a schema cannot express. */
const dependsOnState: readonly RegExp[] = [
  /^check-and-set parameter /,
  /^path: the parent namespace does not exist|^there is no audit device/,
  /no key-value store is mounted|no auth mount of this namespace has it|no group of this namespace has it/,
  /^this auth mount is not configured|^role: does not exist|^the (wrapping token|token role) does not exist/,
  /no entity of this namespace has it|^from: nothing is mounted at/,
  /is not renewable|a batch token cannot/,
  /^client_id is not configured|^there is no client_secret to rotate|^the directory (does not know|refuses) /,
  /is required|must be given together|mutually exclusive|cannot be combined| requires |^requires /,
  /cannot be changed after|is part of the path/,
  /at least one bound constraint|must not exceed|exceeds/,
  // The database refuses U+0000, which patterns of names that other people choose do not exclude.
  /^the request contains a character that cannot be stored$/,
  // The text is in a language of its own.
  /^(jwt|policy|secret_name_template|credentials|private_key|key_vault_uri): /,
  /must not contain .* twice|becomes the same label|must not contain the destination's own region/,
  /exists in one region only|: excludes |must have a key for|in the location that it is given for/,
];

test('a request that the document permits is refused with 400 only because of what exists', async () => {
  const { system, document, known } = described;
  const api = withFreshTokens(system);
  const refused = new Map<string, string[]>();
  const deletionsLast = operationsOf(document)
    .filter(isSent)
    .sort((one, other) => Number(one.verb === 'delete') - Number(other.verb === 'delete'));
  for (const operation of deletionsLast) {
    const drawn = fc.sample(requestsOf(operation, { values: validValues, known }), {
      numRuns: runSize('EACH', 6, 100),
      seed,
    });
    for (const { operation: name, method, path, body } of drawn) {
      const answer = await api(method, path, body);
      if (answer.status !== 400) continue;
      const sentences = (answer.body.errors as string[]).filter(
        (sentence) => !dependsOnState.some((reason) => reason.test(sentence)),
      );
      if (sentences.length > 0) refused.set(name, [...(refused.get(name) ?? []), ...sentences]);
    }
  }
  expect(Object.fromEntries([...refused].map(([name, all]) => [name, counted(all)]))).toEqual({});
});

test(
  'no request drawn from the document causes a 5xx, hangs, or returns an error without sentences',
  async () => {
    const { system, document, known } = described;
    const any = fc.oneof(
      ...operationsOf(document)
        .filter(isSent)
        .map((operation) => requestsOf(operation, { values: nearlyValidValues, known })),
    );
    globalAgent.destroy(); // the server has closed its idle connections meanwhile
    const api = withFreshTokens(system);
    const before = system.residentMebibytes();
    const statuses: string[] = [];
    let slowestMs = 0;
    const send = async ({ operation, method, path, body }: DrawnRequest) => {
      const started = performance.now();
      const answer = await api(method, path, body).catch((error: unknown) =>
        refusedEarly(error, { operation, path, body }),
      );
      slowestMs = Math.max(slowestMs, performance.now() - started);
      statuses.push(String(answer.status));
      const problem = problemOf(answer);
      if (problem !== undefined)
        throw new Error(
          `${operation}: ${problem}: ${method} ${path} ${JSON.stringify(body)} → ${JSON.stringify(answer)}`,
        );
    };
    for (let done = 0; done < requests; done += pageSize) {
      const drawn = fc.sample(any, { numRuns: Math.min(pageSize, requests - done), seed: seed + done });
      await prepare(system);
      await inParallel(drawn, send);
      if ((done / pageSize) % 20 === 19) process.stderr.write(`${done + pageSize} requests\n`);
    }
    await sleep(1_000); // what the last requests have started
    console.log(
      `${requests} requests: ${JSON.stringify(counted(statuses))}, slowest ${Math.round(slowestMs)} ms, ` +
        `memory before ${before} MiB and after ${system.residentMebibytes()} MiB`,
    );
  },
  Math.max(300_000, requests * 60),
);

const pageSize = 500;

const isSent = (operation: Operation): boolean => !limitsOthers(operation) && !isStream(operation);

/** While a long request is being sent, a response may arrive after which the server closes the connection. */
function refusedEarly(cause: unknown, { operation, path, body }: Omit<DrawnRequest, 'method'>): Answer {
  const isClosed = ['EPIPE', 'ECONNRESET'].includes((cause as { code?: string }).code ?? '');
  if (isClosed && path.length > 15_000) return { status: 431, body: { errors: [] } };
  throw new Error(`${operation}: no response: ${path} ${JSON.stringify(body)}`, { cause });
}

function problemOf({ status, body }: { status: number; body: unknown }): string | undefined {
  if (status >= 500) return 'a failure';
  if (status < 400) return undefined;
  const errors: unknown = (body as { errors?: unknown } | undefined)?.errors;
  const isEnvelope = status === 404 && (body as { data?: unknown })?.data !== undefined; // of a deleted version
  return Array.isArray(errors) || isEnvelope ? undefined : 'an error without sentences';
}

/** Calls the function for all items, a few at a time. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const counted = (texts: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]));
