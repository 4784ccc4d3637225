import { describe, expect, test } from '@jest/globals';
import { errorWith, useCloudB } from './cloudb-harness.ts';

const dayMs = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs);

/** Matches a refusal by policy, which names the policy in its text. */
const denied = (policy: string) =>
  expect.objectContaining({
    statusCode: 403,
    message: expect.stringContaining(policy),
    details: {
      error: expect.objectContaining({
        innerError: expect.objectContaining({ code: 'ForbiddenByGovernancePolicy' }),
      }),
    },
  });

describe('a policy that requires a content type', () => {
  const cloudB = useCloudB({ policies: { requiresContentType: true } });

  test('denies a new version and an update without one, and neither a read nor a deletion', async () => {
    const without = cloudB.client().setSecret('typed', 'x');
    await expect(without).rejects.toEqual(denied('Secrets should have content type set'));
    await cloudB.client().setSecret('typed', 'x', { contentType: 'text/plain' });
    await cloudB.client().updateSecretProperties('typed', '', { tags: { a: 'b' } });
    const empty = cloudB.client().updateSecretProperties('typed', '', { contentType: '' });
    await expect(empty).rejects.toEqual(denied('Secrets should have content type set'));
    expect((await cloudB.client().getSecret('typed')).properties.contentType).toBe('text/plain');
    await cloudB.remove('typed');
  });
});

describe('policies for the expiry', () => {
  const cloudB = useCloudB({
    policies: { requiresExpiry: true, maximumValidityDays: 90, minimumDaysBeforeExpiry: 10 },
  });

  test.each([
    [undefined, 'should have an expiration date'],
    [91, 'should have the specified maximum validity period'],
    [9, 'should have more than the specified number of days before expiration'],
  ])('deny a secret that expires in %p days: %s', async (days, policy) => {
    const options = days === undefined ? {} : { expiresOn: inDays(days) };
    await expect(cloudB.client().setSecret('dated', 'x', options)).rejects.toEqual(denied(policy));
  });

  test('permit a secret that expires in between', async () => {
    await cloudB.client().setSecret('dated', 'x', { expiresOn: inDays(30) });
    expect((await cloudB.client().getSecret('dated')).value).toBe('x');
  });
});

describe('a firewall', () => {
  const cloudB = useCloudB({ permittedAddresses: ['203.0.113.7'] });

  test('refuses every call from an address that it does not permit, before the token counts', async () => {
    await expect(cloudB.client().getSecret('any')).rejects.toEqual(
      errorWith(403, 'Forbidden', 'ForbiddenByFirewall'),
    );
    const response = await fetch(`${cloudB.sandbox().cloudBUrl}/secrets/any?api-version=7.4`);
    expect(response.status).toBe(403);
  });
});
