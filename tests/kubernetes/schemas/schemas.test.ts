import { beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { type Manifest, overlays, render, renderText } from '../render.ts';
import { kubernetesVersion, modules } from '../versions.ts';
import { validate } from './validate.ts';

test(`the schemas are those of Kubernetes ${kubernetesVersion}`, () => {
  expect(modules.kubernetes.module).toContain(`@v${kubernetesVersion}.`);
});

describe.each(overlays)('the overlay %s', (overlay) => {
  let manifests: Manifest[];
  beforeAll(async () => {
    manifests = await render(overlay);
  });

  test('every object conforms to the schema of its kind', async () => {
    const resources = await validate(await renderText(overlay));
    expect(resources.filter(({ status }) => status !== 'statusValid')).toEqual([]);
    expect(resources.length).toBe(manifests.length);
  });

  test('an unknown field is refused in every kind', async () => {
    const changed = manifests.map(({ spec, ...rest }) =>
      spec === undefined ? { ...rest, unknownField: 1 } : { ...rest, spec: { ...spec, unknownField: 1 } },
    );
    const resources = await validate(changed.map((manifest) => stringify(manifest)).join('---\n'));
    expect(resources.filter(({ status }) => status !== 'statusInvalid')).toEqual([]);
    expect(resources.length).toBe(manifests.length);
  });
});
