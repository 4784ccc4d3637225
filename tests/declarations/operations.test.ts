import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import { describeApi } from '../../scripts/console/describe-api.ts';
import { isPlainRead, namesOf, type OpenApiDocument, withoutSuccess } from '../openapi/operations.ts';

const document = (await describeApi()) as OpenApiDocument;
const operations = namesOf(document);
const plainReads = namesOf(document, isPlainRead);
const examples = Object.keys(JSON.parse(readFileSync('services/gateway/src/local/examples.json', 'utf8')));

test('the walkthrough has a step for every operation, unless it is a read without parameters', () => {
  const folder = 'tests/openapi/walkthrough';
  const source = readdirSync(folder)
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
    .join('\n');
  const valuesOf = (name: string) =>
    [...source.matchAll(new RegExp(`const ${name} (?:=|of) (\\[.*?\\]|'.*?')[;)]`, 'g'))].flatMap(
      ([, text = '']) => [...text.matchAll(/'([^']+)'/g)].map(([, value]) => value!),
    );
  const expanded = (step: string): string[] => {
    const variable = /\$\{(\w+)\}/.exec(step)?.[1];
    if (variable === undefined) return [step];
    const values = variable === 'type' ? Object.keys(destinationTypes) : valuesOf(variable);
    return values.flatMap((value) => expanded(step.replaceAll(`\${${variable}}`, value)));
  };
  const literals = source.matchAll(/\(\s*(['`])((?:GET|HEAD|POST|PATCH|DELETE) [^'`]+)\1/g);
  const steps = [...literals].flatMap(([, , step = '']) => expanded(step));
  const withoutStep = operations.filter(
    (name) =>
      ![...withoutSuccess, ...plainReads].includes(name) && !steps.includes(name.replace(' /v1/', ' ')),
  );
  expect(withoutStep).toEqual([]);
});

test('every operation has a recorded example: UPDATE_EXAMPLES=1 npm test -- tests/openapi/examples', () => {
  expect(operations.filter((name) => !examples.includes(name) && !withoutSuccess.includes(name))).toEqual([]);
  expect(examples.filter((name) => !operations.includes(name))).toEqual([]);
});
