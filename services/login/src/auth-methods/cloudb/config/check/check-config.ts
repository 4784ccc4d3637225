import { Problem } from '@secrets/domain';
import { fetchDocument } from '../../../verification/http/bounded-fetch.ts';
import type { CloudBContext } from '../../cloudb-context.ts';
import { discoverKeys } from '../../directory/discovery.ts';
import type { MountClient } from '../../provider/mount-client.ts';
import type { MountIdentity } from '../../provider/mount-clients.ts';
import { listCheckScopes } from '../../queries/check-scopes.ts';
import type { ConfigSettings } from '../config-settings.ts';
import { checkIdentities, checkLookups, type LookupScope } from './check-permissions.ts';
import { checkRotation } from './check-rotation.ts';
import { attempt, type CheckStep, hasFailed, notChecked, type Outcome } from './check-steps.ts';

interface Checked {
  mount: MountIdentity;
  settings: ConfigSettings;
  /** Where the permissions are checked; by default, where the roles of the mount bind logins. */
  scope: LookupScope | undefined;
}

/** Tries what logins with a configuration need, and reports each step. Each takes at most 8 s. */
export async function checkConfig(
  context: CloudBContext,
  checked: Checked,
): Promise<{ ok: boolean; steps: CheckStep[] }> {
  const directory = directorySteps(context, checked.settings);
  const provider = providerSteps(context, checked);
  const steps = [...(await directory), ...(await provider)];
  return { ok: steps.every(({ result }) => !result.startsWith('failed')), steps };
}

async function directorySteps({ directory }: CloudBContext, settings: ConfigSettings): Promise<CheckStep[]> {
  const discovery = await attempt(() => discoverKeys(directory.tenantOf(settings)));
  const keys = hasFailed(discovery)
    ? notChecked('the discovery document is needed first')
    : await attempt(() => requireUsableKeys(discovery.value!));
  return [
    { step: 'the directory responds for the tenant and names its issuer', result: discovery.result },
    { step: "the directory's signing keys can be fetched", result: keys.result },
  ];
}

async function providerSteps(context: CloudBContext, checked: Checked): Promise<CheckStep[]> {
  const client = await attempt(() => connected(context, checked.mount));
  const [lookups, identities, rotation] = await permissionOutcomes(context, checked, client);
  return [
    { step: 'the credentials work', result: client.result },
    { step: 'the permissions suffice to look up virtual machines and scale sets', result: lookups.result },
    {
      step: 'the permissions suffice to look up user-assigned identities, as logins from flexible scale sets need',
      result: identities.result,
    },
    { step: 'the permissions suffice to rotate client_secret', result: rotation.result },
  ];
}

async function connected({ clients }: CloudBContext, mount: MountIdentity): Promise<MountClient> {
  const client = await clients.current(mount);
  client.tokens.forgetRefusals();
  await client.tokens.get(`${client.cloud.resourceManager}/.default`);
  return client;
}

async function permissionOutcomes(
  context: CloudBContext,
  { mount, scope }: Checked,
  client: Outcome<MountClient>,
): Promise<[Outcome<void>, Outcome<void>, Outcome<void>]> {
  if (hasFailed(client)) {
    const outcome = notChecked('working credentials are needed first');
    return [outcome, outcome, outcome];
  }
  const { resources } = client.value!;
  const scopes = scope === undefined ? await listCheckScopes(context.db, mount.mountId) : [scope];
  return Promise.all([
    checkLookups(resources, scopes),
    checkIdentities(resources, scopes),
    checkRotation(client.value!),
  ]);
}

async function requireUsableKeys(location: URL): Promise<void> {
  const { keys } = (await (await fetchDocument(location.href)).json().catch(() => ({}))) as {
    keys?: unknown;
  };
  if (!Array.isArray(keys) || keys.length === 0)
    throw new Problem('bad_gateway', 'the directory publishes no key');
}
