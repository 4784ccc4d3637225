import { Problem } from '@secrets/domain';
import type { Context } from '../context.ts';
import { fetchDocument } from './bounded-fetch.ts';
import type { ConfigSettings } from './config-settings.ts';
import { discoverKeys } from './discovery.ts';

/** One step of a check: `ok`, `failed: …` or `not checked: …`. */
export interface CheckStep {
  step: string;
  result: string;
}

/** Tries what a login would need of a configuration, one step after the other, and says how far it came. */
export async function checkConfig(
  context: Context,
  config: ConfigSettings,
): Promise<{ ok: boolean; steps: CheckStep[] }> {
  const tenant = context.directory.tenantOf(config);
  const discovery = await tried(() => discoverKeys(tenant));
  const keys =
    discovery.value === undefined
      ? { result: 'not checked: the discovery document is needed first' }
      : await tried(() => usableKeys(discovery.value!));
  const steps = [
    { step: 'directory answers for the tenant, and names its issuer', result: discovery.result },
    { step: "directory's signing keys can be fetched", result: keys.result },
    { step: 'credentials work', result: 'not checked: this version asks the provider nothing' },
    { step: 'permissions suffice', result: 'not checked: this version asks the provider nothing' },
  ];
  return { ok: steps.every(({ result }) => !result.startsWith('failed')), steps };
}

async function usableKeys(location: URL): Promise<void> {
  const { keys } = (await (await fetchDocument(location.href)).json().catch(() => ({}))) as {
    keys?: unknown;
  };
  if (!Array.isArray(keys) || keys.length === 0)
    throw new Problem('bad_gateway', 'the directory publishes no key');
}

async function tried<T>(work: () => Promise<T>): Promise<{ value?: T; result: string }> {
  try {
    return { value: await work(), result: 'ok' };
  } catch (error) {
    if (error instanceof Problem) return { result: `failed: ${error.sentences[0]}` };
    throw error;
  }
}
