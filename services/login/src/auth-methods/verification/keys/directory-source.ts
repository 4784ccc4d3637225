import { Problem, parsedJson, repeatedName } from '@secrets/domain';
import { z } from 'zod';
import type { FetchDocument } from '../http/bounded-fetch.ts';
import type { KeySource } from './key-cache.ts';
import { isTrustedUrl } from './trusted-url.ts';

const Discovery = z.object({ issuer: z.string().max(2_048), jwks_uri: z.string().max(2_048) });
const KeySet = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().max(1_024).optional() })).max(200),
});

const unusable = (sentence: string): Problem => new Problem('bad_gateway', `the directory's ${sentence}`);

/** A directory that is known by its issuer, whose discovery document says where its keys are. */
export const discoveredSource = (fetchDocument: FetchDocument, issuer: string): KeySource => ({
  locate: async () => {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    return keysLocation(await (await fetchDocument(url)).text(), issuer);
  },
  fetch: async (url) => keySetIn(await (await fetchDocument(url)).text()),
});

/** A directory of which only the location of its keys is known. */
export const locatedSource = (fetchDocument: FetchDocument, location: string): KeySource => ({
  locate: async () => new URL(location),
  fetch: async (url) => keySetIn(await (await fetchDocument(url)).text()),
});

/**
 * The location of the keys in a discovery document. It must be of exactly the configured issuer (OpenID Connect Discovery 1.0,
 * section 4.3), and keys of a directory that is reached over TLS must be, too.
 */
function keysLocation(text: string, issuer: string): URL {
  const { data } = Discovery.safeParse(onlyOnce(text, 'discovery document'));
  if (data === undefined) throw unusable('discovery document is invalid');
  if (data.issuer !== issuer) throw unusable('discovery document names another issuer');
  const isDowngrade = issuer.startsWith('https:') && !data.jwks_uri.startsWith('https:');
  if (!isTrustedUrl(data.jwks_uri) || isDowngrade)
    throw unusable('discovery document points to keys that are not served over TLS');
  return new URL(data.jwks_uri);
}

/** A document with a name twice means something else to every parser. */
function onlyOnce(text: string, what: string): unknown {
  const parsed = parsedJson(text);
  if (parsed !== undefined && repeatedName(text) !== undefined)
    throw unusable(`${what} contains a name twice`);
  return parsed;
}

/** Members of a public key: https://www.rfc-editor.org/rfc/rfc7518#section-6. */
const publicMembers = ['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'x', 'y', 'n', 'e'];
const asymmetric = ['RSA', 'EC', 'OKP'];

/** The public keys in a key set, without anything else that it says about them, and without keys of which it has the secret. */
function keySetIn(text: string): Response {
  const { data } = KeySet.safeParse(onlyOnce(text, 'key set'));
  if (data === undefined) throw unusable('key set is invalid');
  const usable = data.keys.filter((key) => asymmetric.includes(key.kty) && !Object.hasOwn(key, 'd'));
  const keys = usable.map((key) =>
    Object.fromEntries(Object.entries(key).filter(([name]) => publicMembers.includes(name))),
  );
  if (keys.length === 0) throw unusable('key set has no public key');
  refuseRepeatedIds(usable);
  return Response.json({ keys });
}

/** Refuses two keys of one name, type and algorithm: the order would decide which of them is meant. */
function refuseRepeatedIds(keys: readonly { kid?: string | undefined; kty: string; alg?: unknown }[]): void {
  const ids = keys
    .filter(({ kid }) => kid !== undefined)
    .map(({ kid, kty, alg }) => JSON.stringify([kid, kty, alg]));
  if (new Set(ids).size < ids.length) throw unusable('key set has two keys of one name');
}
