import { type Api, forEach } from '../../system/api-client.ts';
import { fields } from './bodies.ts';
import type { Named } from './sent.ts';

const secrets = 500;
const keys = 4_900;
const entities = 100;

/** Creates objects, and returns requests whose responses or work grow with them. */
export async function onObjects(api: Api): Promise<Named[]> {
  await api('POST', 'kv/data/large', JSON.parse(`{"data":${fields(keys, '1')}}`));
  const names = Array.from({ length: secrets }, (_, at) => `kv/data/folder/${'x'.repeat(200)}-${at}`);
  await forEach(names, 8, (path) => api('POST', path, { data: {} }));
  await forEach([...Array(entities).keys()], 8, (at) =>
    api('POST', 'identity/entity', { name: `e-${at}`, metadata: { text: 'x'.repeat(500) } }),
  );
  await api('POST', 'auth/token/roles/globs', {
    allowed_policies_glob: Array.from({ length: 50 }, (_, at) => `${'*a'.repeat(35)}*${at}`),
  });
  return [
    [`subkeys of ${keys} keys`, { method: 'GET', path: 'kv/subkeys/large' }],
    [`read of ${keys} keys`, { method: 'GET', path: 'kv/data/large' }],
    [`list of ${secrets} secrets`, { method: 'GET', path: 'kv/metadata/folder?list=true' }],
    [
      'list after a cursor of 2,000 characters',
      { method: 'GET', path: `kv/metadata/folder?list=true&after=${'x'.repeat(2_000)}&limit=1` },
    ],
    [`list of ${entities} entities`, { method: 'GET', path: 'identity/entity/id?list=true' }],
    [
      'token with 50 policies through a role with 50 patterns',
      {
        path: 'auth/token/create/globs',
        body: JSON.stringify({ policies: Array.from({ length: 50 }, (_, at) => `${'ab'.repeat(40)}${at}`) }),
      },
    ],
  ];
}
