import * as secretsManager from '@aws-sdk/client-secrets-manager';
import * as sts from '@aws-sdk/client-sts';
import { expect, test } from '@jest/globals';
import { refusals } from './refusals.ts';

/** Documented only for calls that the driver does not make. */
const ofOtherCalls = [
  'PublicPolicyException', // PutResourcePolicy
  'InvalidAuthorizationMessageException', // DecodeAuthorizationMessage
  'ExpiredTradeInTokenException', // GetDelegatedAccessToken
  'JWTPayloadSizeExceededException', // GetWebIdentityToken
  'OutboundWebIdentityFederationDisabledException',
  'SessionDurationEscalationException',
];

const codesOf = (client: object, base: string): string[] =>
  Object.keys(client).filter((name) => {
    const exported = (client as Record<string, { prototype?: unknown } | undefined>)[name];
    const parent = (client as Record<string, { prototype?: unknown } | undefined>)[base]?.prototype;
    return name !== base && Object.getPrototypeOf(exported?.prototype ?? {}) === parent;
  });

test('every error that the client declares for a call of the driver is a documented refusal', () => {
  const declared = [
    ...codesOf(secretsManager, 'SecretsManagerServiceException'),
    ...codesOf(sts, 'STSServiceException'),
  ].filter((name) => !ofOtherCalls.includes(name));
  const known = refusals.flatMap(({ code = [] }) => code);
  expect(declared.length).toBeGreaterThan(15);
  expect(declared.filter((name) => !known.includes(name))).toEqual([]);
});
