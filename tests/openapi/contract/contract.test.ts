import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { describeApi } from '../../../scripts/console/describe-api.ts';
import type { LearnedSchema } from '../schema-of-value.ts';
import { compared, type Deviation, type OwnOperation } from './compare.ts';
import { differences } from './differences.ts';
import { operationName, type PublishedApi } from './published-api.ts';

const jsonOf = <T>(path: string): T => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as T;

interface Described {
  parameters?: { name: string; in: string; schema: object }[];
  requestBody?: { content: Record<string, { schema: { properties?: Record<string, object> } }> };
}
interface Example {
  schemas?: Record<string, LearnedSchema>;
}

const examples = jsonOf<Record<string, Example>>('../../../services/gateway/src/local/examples.json');
const published = jsonOf<Record<'vault' | 'openbao', PublishedApi>>('published.json');

async function ownOperations(): Promise<Map<string, OwnOperation>> {
  const { paths } = (await describeApi()) as { paths: Record<string, Record<string, Described>> };
  const operations = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, described]) => ownOperation(verb, path, described)),
  );
  return new Map(operations);
}

function ownOperation(verb: string, path: string, described: Described): [string, OwnOperation] {
  const [content] = Object.values(described.requestBody?.content ?? {});
  const query = (described.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const parts = Object.values(examples[`${verb.toUpperCase()} ${path}`]?.schemas ?? {});
  const own = {
    request: content?.schema.properties ?? {},
    query: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
    response: Object.assign({}, ...parts.map(({ properties }) => properties)),
  };
  return [operationName(verb, path), own];
}

const explains = (difference: (typeof differences)[number], { part, operation, field }: Deviation): boolean =>
  difference.part === part && difference.operation.test(operation) && difference.field.test(field);

test.each(['vault', 'openbao'] as const)(
  'every field that %s publishes is honoured, stored or refused, and returned',
  async (server) => {
    const deviations = compared(published[server], await ownOperations());
    const isUnexplained = (found: Deviation) => !differences.some((one) => explains(one, found));
    expect(deviations.filter(isUnexplained)).toEqual([]);
  },
);

test('every difference from what is published still exists', async () => {
  const own = await ownOperations();
  const deviations = Object.values(published).flatMap((api) => compared(api, own));
  const isStale = (one: (typeof differences)[number]) => !deviations.some((found) => explains(one, found));
  expect(differences.filter(isStale)).toEqual([]);
});
