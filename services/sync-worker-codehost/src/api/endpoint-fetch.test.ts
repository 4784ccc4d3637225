import { expect, test } from '@jest/globals';
import { endpointFetch } from './endpoint-fetch.ts';

test('a response that is no list has at most 64 KiB', async () => {
  const limits: (number | undefined)[] = [];
  const fetch = endpointFetch('https://host.example/api/v3', async (_, init) => {
    limits.push(init?.maxBytes);
    return new Response('{}');
  });
  for (const path of ['repos/o/r', 'repos/o/r/actions/secrets?per_page=1'])
    await fetch(`https://host.example/api/v3/${path}`);
  expect(limits).toEqual([65_536, 1_048_576]);
});
