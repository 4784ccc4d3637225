import { expect, test } from '@jest/globals';
import { endpointFetch } from './endpoint-fetch.ts';

const fetchOf = (bytes: number) =>
  endpointFetch('https://host.example/api/v3', async () => new Response('x'.repeat(bytes)));

test('a response that is no list has at most 64 KiB', async () => {
  const url = 'https://host.example/api/v3/repos/o/r';
  expect((await fetchOf(65_536)(url)).status).toBe(200);
  await expect(fetchOf(65_537)(url)).rejects.toMatchObject({ kind: 'unavailable' });
  expect((await fetchOf(65_537)(`${url}/actions/secrets?per_page=1`)).status).toBe(200);
});
