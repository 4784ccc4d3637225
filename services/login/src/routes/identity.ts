import { requireAdministrative } from '@secrets/caller';
import { type Endpoint, endpoint } from '@secrets/http';
import type { Context } from '../context.ts';
import { IssuerBody, issuerOf } from '../identity/issuer-settings.ts';
import { requireIssuer } from '../identity/require-issuer.ts';
import { documentSeconds, rotateKeys } from '../identity/rotate-keys.ts';
import { saveIssuer } from '../identity/save-issuer.ts';
import { algorithm } from '../identity/signing-key.ts';
import type { IssuerRow } from '../queries/identity-issuer.ts';
import { listPublicKeys } from '../queries/identity-keys.ts';

const configPath = '/identity/oidc/config';
const documentsPath = '/identity/oidc/plugins/.well-known';

/** `identity/oidc`: the issuer of identity tokens and its public documents (docs/conventions.md#211-identity-token-issuer). */
export const identityEndpoints = (context: Context): Endpoint[] => [
  readConfig(context),
  writeConfig(context),
  rotate(context),
  readDiscovery(context),
  readKeys(context),
];

const readConfig = (context: Context) =>
  endpoint({
    method: 'get',
    path: configPath,
    summary: 'Read the configuration of the identity token issuer',
    handle: async ({ caller }) => {
      requireAdministrative(caller);
      return { data: presentIssuer(await requireIssuer(context.db)) };
    },
  });

const writeConfig = (context: Context) =>
  endpoint({
    method: 'post',
    path: configPath,
    summary:
      'Create or update the configuration of the identity token issuer; omitted fields keep their values',
    needs: 'create or update',
    body: IssuerBody,
    handle: async ({ body, caller, warn }) => {
      requireAdministrative(caller);
      const row = await saveIssuer(context, caller, body);
      if (row.issuer.startsWith('http:')) warn('issuer is not https: most providers refuse such an issuer');
      return { data: presentIssuer(row) };
    },
  });

const rotate = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/identity/oidc/rotate',
    summary: 'Sign identity tokens with the next key from now on; the one before stays published',
    handle: async ({ caller }) => {
      requireAdministrative(caller);
      await rotateKeys(context);
      return undefined;
    },
  });

const readDiscovery = (context: Context) =>
  endpoint({
    method: 'get',
    path: `${documentsPath}/openid-configuration`,
    summary: 'Read the discovery document of the identity token issuer, without a token',
    handle: async () => ({
      document: {
        content: discoveryDocument(await requireIssuer(context.db)),
        maxAgeSeconds: documentSeconds,
      },
    }),
  });

const readKeys = (context: Context) =>
  endpoint({
    method: 'get',
    path: `${documentsPath}/keys`,
    summary: 'Read the public keys that verify identity tokens, without a token',
    handle: async () => {
      await requireIssuer(context.db);
      return {
        document: { content: { keys: await listPublicKeys(context.db) }, maxAgeSeconds: documentSeconds },
      };
    },
  });

const presentIssuer = ({ issuer, rotationSeconds, verificationSeconds }: IssuerRow) => ({
  issuer,
  rotation_period: rotationSeconds,
  verification_ttl: verificationSeconds,
  token_issuer: issuerOf({ issuer }),
});

/** https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata, as far as it concerns tokens without a sign-in. */
const discoveryDocument = (row: IssuerRow) => ({
  issuer: issuerOf(row),
  jwks_uri: `${issuerOf(row)}/.well-known/keys`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: [algorithm],
});
