import type { Step } from '../../compose/run-steps.ts';
import { deleteInTurn, evictAll, restartAll, scaleAll, stopDatabase } from './disturbances.ts';
import type { Version } from './images.ts';
import { kubectl } from './kubectl.ts';
import { createKeys, demo, installOverlay, namespace, removeNamespaces, withKeyFolder } from './overlay.ts';
import { clientNamespace, WritingClient } from './writing-client/writing-client.ts';

/** Installs the overlay `local` as documented and disturbs it while a client writes. */
export const checkOverlay = (version: Version, awaySeconds: number, step: Step): Promise<void> =>
  withKeyFolder(async (keys) => {
    const rootToken = await createKeys(keys, version);
    await step('install the overlay `local` as documented', async () => {
      await installOverlay(version, keys);
      return kubectl(['get', 'pods', '-n', namespace]);
    });
    await step('run the demo', () => demo(rootToken));
    const client = await WritingClient.start({
      namespace,
      rootToken,
      image: `secrets-service-setup:${version.tag}`,
    });
    const disturb = (sentence: string, work: () => Promise<string>) =>
      step(sentence, () => client.during(work));
    await disturb('replace all pods, of one replica each, while a client writes', () =>
      restartAll(namespace),
    );
    await disturb('delete each pod in turn, of one replica each, while a client writes', () =>
      deleteInTurn(namespace),
    );
    await step('scale to two replicas', () => scaleAll(namespace, 2));
    await disturb('evict all pods while a client writes', () => evictAll(namespace));
    await step('stop PostgreSQL', async () => {
      const { text } = await client.observe(() => stopDatabase(namespace, awaySeconds));
      return text;
    });
    await step('write again', () =>
      client.during(() => new Promise((resolve) => setTimeout(resolve, 10_000))),
    );
    await step('run the demo', () => demo(rootToken));
    await step('remove it', () => removeNamespaces(clientNamespace, namespace));
  });
