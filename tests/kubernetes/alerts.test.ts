import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ofKind, render } from './render.ts';

interface Rules {
  groups: { name: string; rules: { alert: string; expr: string }[] }[];
}

test('the PrometheusRule contains the rules of observability/alerts.yml, limited to the namespace', async () => {
  const text = readFileSync(new URL('../../observability/alerts.yml', import.meta.url), 'utf8');
  const expected = parse(text) as Rules;
  const down = expected.groups.flatMap(({ rules }) => rules).find(({ expr }) => expr === 'up == 0');
  down!.expr = 'up{namespace="secrets-service"} == 0';
  const [rule] = ofKind<Rules>(await render('production'), 'PrometheusRule');
  expect(rule!.spec).toEqual(expected);
});
