import { type Endpoint, endpoint } from '@secrets/http';
import type { Context } from '../context.ts';
import { IssuerBody, issuerOf } from '../issuer/issuer-settings.ts';
import { requireIssuer } from '../issuer/require-issuer.ts';
import { documentSeconds, rotateKeys } from '../issuer/rotate-keys.ts';
import { removeIssuer, saveIssuer } from '../issuer/save-issuer.ts';
import { algorithm } from '../issuer/signing-key.ts';
import type { IssuerRow } from '../queries/identity-issuer.ts';
import { listPublicKeys } from '../queries/identity-keys.ts';

const configPath = '/identity/oidc/config';
const documentsPath = '/identity/oidc/plugins/.well-known';

/** `identity/oidc`: the issuer of identity tokens and its public documents (docs/conventions/access.md#identity-token-issuer). */
export const issuerEndpoints = (context: Context): Endpoint[] => [
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
    access: { isAdministrative: true },
    handle: async () => ({ data: presentIssuer(await requireIssuer(context.db)) }),
  });

const writeConfig = (context: Context) =>
  endpoint({
    method: 'post',
    path: configPath,
    summary:
      'Create or update the configuration of the identity token issuer; omitted fields keep their values',
    access: { isAdministrative: true },
    needs: 'create or update',
    body: IssuerBody,
    handle: async ({ body, caller, warn }) => {
      if (body.issuer === '') {
        await removeIssuer(context, caller);
        return undefined;
      }
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
    access: { needsSudo: true, isAdministrative: true },
    handle: async () => {
      await rotateKeys(context);
    },
  });

const readDiscovery = (context: Context) =>
  endpoint({
    method: 'get',
    path: `${documentsPath}/openid-configuration`,
    summary: 'Read the discovery document of the identity token issuer, without a token',
    access: { open: true },
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
    access: { open: true },
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

/**
 * https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata, the part about tokens without a
 * sign-in.
 */
const discoveryDocument = (row: IssuerRow) => ({
  issuer: issuerOf(row),
  jwks_uri: `${issuerOf(row)}/.well-known/keys`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: [algorithm],
});
