import { Problem } from '@secrets/domain';
import { fetchDocument } from '../directory/bounded-fetch.ts';
import { type DirectoryTenant, discoverKeys } from '../directory/discovery.ts';

/** One step of a check: `ok`, `failed: …` or `not checked: …`. */
interface CheckStep {
  step: string;
  result: string;
}

/** Tries what a login with a configuration of this tenant needs, and reports each step. */
export async function tryConfig(tenant: DirectoryTenant): Promise<{ ok: boolean; steps: CheckStep[] }> {
  const discovery = await attempt(() => discoverKeys(tenant));
  const keys =
    discovery.value === undefined
      ? { result: 'not checked: the discovery document is needed first' }
      : await attempt(() => requireUsableKeys(discovery.value!));
  const steps = [
    { step: 'the directory responds for the tenant and names its issuer', result: discovery.result },
    { step: "the directory's signing keys can be fetched", result: keys.result },
    { step: 'the credentials work', result: `not checked: ${noProvider}` },
    { step: 'the permissions suffice', result: `not checked: ${noProvider}` },
  ];
  return { ok: steps.every(({ result }) => !result.startsWith('failed')), steps };
}

const noProvider = "this version does not use the provider's API";

async function requireUsableKeys(location: URL): Promise<void> {
  const { keys } = (await (await fetchDocument(location.href)).json().catch(() => ({}))) as {
    keys?: unknown;
  };
  if (!Array.isArray(keys) || keys.length === 0)
    throw new Problem('bad_gateway', 'the directory publishes no key');
}

async function attempt<T>(work: () => Promise<T>): Promise<{ value?: T; result: string }> {
  try {
    return { value: await work(), result: 'ok' };
  } catch (error) {
    if (error instanceof Problem) return { result: `failed: ${error.sentences[0]}` };
    throw error;
  }
}
