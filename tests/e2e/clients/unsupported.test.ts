import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus } from '../../harness/http.ts';
import { useInstallation } from '../use-installation.ts';
import { unsupported } from './unsupported.ts';

const service = useInstallation();

beforeAll(async () => {
  expectStatus(await service.api('POST', 'sys/auth/azure', { type: 'azure' }), 204);
  expectStatus(await service.api('POST', 'sys/mounts/unsupported', { type: 'kv' }), 204);
});

test.each(Object.entries(unsupported))('does not work, as docs/clients.md says: %s', async (_, requests) => {
  const answers: unknown[] = [];
  for (const [, verb, path, body] of requests)
    answers.push([(await service.api(verb, path, body)).status, verb, path, body].filter(Boolean));
  expect(answers).toEqual(requests);
});
