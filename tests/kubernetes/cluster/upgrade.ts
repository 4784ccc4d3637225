import { freePorts } from '../../../scripts/free-ports.ts';
import { OlderData } from '../../compose/older-data.ts';
import type { Step } from '../../compose/run-steps.ts';
import { sandboxTypes } from '../../harness/destination-types.ts';
import { untilRolledOut } from './disturbances.ts';
import type { Version } from './images.ts';
import { apply, kubectl, untilAvailable } from './kubectl.ts';
import {
  applyKeySecrets,
  createKeys,
  demo,
  installOverlay,
  namespace,
  reaching,
  removeNamespaces,
  renderOverlay,
  withKeyFolder,
} from './overlay.ts';
import { clientNamespace, WritingClient } from './writing-client/writing-client.ts';

const jobs = 'app.kubernetes.io/component in (setup-database, setup-broker)';

/** Upgrades the overlay from an older version as docs/kubernetes.md says, while a client writes. */
export const checkUpgrade = (older: Version, current: Version, step: Step): Promise<void> =>
  withKeyFolder(async (keys) => {
    const rootToken = await createKeys(keys, older);
    await step('install the overlay of the older version', () => installOverlay(older, keys));
    const ports = await freePorts(2);
    const [url, sandboxUrl] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string];
    const data = new OlderData({ url, sandboxUrl, rootToken }, sandboxTypes);
    await step('create data of every kind', () => reaching(rootToken, () => data.write(), ports));
    const image = `secrets-service-setup:${older.tag}`;
    const client = await WritingClient.start({ namespace, rootToken, image });
    await step('upgrade while a client writes', () => client.during(() => upgrade(current, keys)));
    await step('use the data from before', () => reaching(rootToken, () => data.check(), ports));
    await step('run the demo', () => demo(rootToken));
    await step('remove it', () => removeNamespaces(clientNamespace, namespace));
  });

/** The commands of docs/kubernetes.md#upgrading. */
async function upgrade(to: Version, keys: string): Promise<string> {
  await createKeys(keys, to);
  await applyKeySecrets(keys, namespace);
  const rendered = await renderOverlay(to);
  const applied = await apply(rendered, '--force', '-l', jobs);
  const complete = ['--for=condition=Complete', '--timeout=30m', 'job/setup-database', 'job/setup-broker'];
  await kubectl(['wait', '-n', namespace, ...complete]);
  await apply(rendered);
  await untilRolledOut(namespace);
  await untilAvailable(namespace);
  return applied.trim();
}
