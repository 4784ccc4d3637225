import { expect, test } from '@jest/globals';
import { ApiProblem } from '../../api/problem.ts';
import { explainFailure, isSessionEnd, ProviderRefusal } from './explain-failure.ts';

const problem = (status: number, ...errors: string[]) =>
  new ApiProblem(new Request('http://x/v1/auth/oidc/oidc/callback'), new Response('', { status }), {
    errors,
  });

test('a session that has ended is no failure of the user', () => {
  const asks = 'The provider wants to ask you something.';
  for (const [code, title] of [
    ['login_required', 'Your session at the provider has ended.'],
    ['interaction_required', asks],
    ['consent_required', asks],
  ] as const) {
    const refusal = new ProviderRefusal(code);
    expect([isSessionEnd(refusal), explainFailure(refusal).title]).toEqual([true, title]);
  }
  expect(isSessionEnd(new ProviderRefusal('access_denied'))).toBe(false);
});

test('a refusal names the check that failed', () => {
  expect(explainFailure(problem(403, 'the check groups failed'))).toEqual({
    title: 'You may not sign in here.',
    sentences: [
      'the check groups failed',
      'If you should have access, send your administrator the check that failed.',
    ],
  });
});

test('a provider that is down is not blamed on the user', () => {
  expect(explainFailure(problem(503, 'no response')).title).toBe('The provider does not respond.');
  expect(explainFailure(new TypeError('fetch')).title).toBe('The service did not respond.');
});

test('an unknown code of the provider is shown as far as it is one', () => {
  expect(explainFailure(new ProviderRefusal('odd_<b>code')).sentences).toEqual([
    'It has sent the error odd_bcode.',
  ]);
});
