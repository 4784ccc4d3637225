import { createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline';
import { describe, expect, test } from '@jest/globals';
import {
  CredentialsRefused,
  directoryIssuer,
  refusalReasons,
  SecretRefused,
  tokenProblem,
} from './token-problem.ts';

/** The problem of a response of the directory with this code. */
const problemOf = (code: number, status = 400) => {
  const request = createPipelineRequest({ url: 'https://login.microsoftonline.com/t/oauth2/v2.0/token' });
  const body = { error: 'canary', error_description: `AADSTS${code}: canary`, error_codes: [code, 1] };
  const bodyAsText = JSON.stringify(body);
  return tokenProblem(directoryIssuer, { request, status, headers: createHttpHeaders(), bodyAsText }, 0);
};

describe('a request for a token that the directory refuses', () => {
  const rows = [...refusalReasons, [50105, directoryIssuer.refusal] as const];

  test.each(rows)('with AADSTS%i is a fault of the configuration: %s', (code, reason) => {
    const problem = problemOf(code);
    expect(problem).toBeInstanceOf(CredentialsRefused);
    expect(problem).toMatchObject({ kind: 'bad_gateway', message: `${reason} (AADSTS${code})` });
  });

  test('is a refusal of the secret only if that is wrong or has expired', () => {
    const codes = rows.map(([code]) => code).filter((code) => problemOf(code) instanceof SecretRefused);
    expect(codes).toEqual([7000215, 7000222]);
  });

  test.each([
    [90055, 429],
    [90033, 503],
  ])('with AADSTS%i and status %i is tried again without a change of the configuration', (code, status) => {
    const message = `the directory returned status ${status}`;
    expect(problemOf(code, status)).toMatchObject({ kind: 'unavailable', message, retryAfterSeconds: 2 });
  });
});
