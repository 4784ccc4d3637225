import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Step } from '../../compose/run-steps.ts';
import { createAgeKeys, requestInside, restoreInto, runBackup } from './backup.ts';
import { createCertificate, helm, host, prepareNamespace, release } from './chart.ts';
import { deleteInTurn, evictAll, restartAll } from './disturbances.ts';
import type { Version } from './images.ts';
import { applyKeySecrets, createKeys, removeNamespaces, withKeyFolder } from './overlay.ts';
import { clientNamespace, WritingClient } from './writing-client/writing-client.ts';

const [namespace, restored] = ['secrets-chart', 'secrets-restored'];
const secret = 'restored-secret/data/greeting';

/** Key files, a certificate, and the keys of backups. */
interface Installation {
  keys: string;
  rootToken: string;
  certificate: ReturnType<typeof createCertificate>;
  age: Awaited<ReturnType<typeof createAgeKeys>>;
}

/** Installs the chart of an older version as documented, upgrades it, disturbs it, and restores its backup elsewhere. */
export async function checkChart(older: Version, current: Version, step: Step): Promise<void> {
  await withKeyFolder(async (keys) => {
    const first = existsSync(join(older.folder, 'k8s/chart')) ? older : current;
    const rootToken = await createKeys(keys, first);
    const installation = { keys, rootToken, certificate: createCertificate(), age: await createAgeKeys() };
    await install(installation, first, step);
    await disturb(installation, current, step);
    await move(installation, current, step);
  });
}

async function install(
  { keys, certificate, age }: Installation,
  version: Version,
  step: Step,
): Promise<void> {
  await step('start PostgreSQL and RabbitMQ', () => prepareNamespace(namespace, keys, certificate));
  await step(`install the chart, with images of the tag ${version.tag}`, () =>
    release('install', namespace, { ...version, recipient: age.recipient }),
  );
  await step('run `helm test`', () => helm(namespace, 'test', 'secrets'));
}

async function disturb(installation: Installation, current: Version, step: Step): Promise<void> {
  const { keys, rootToken, certificate, age } = installation;
  const client = await WritingClient.start({
    namespace,
    rootToken,
    image: `secrets-service-setup:${current.tag}`,
    certificate: { pem: certificate.pem, name: host },
  });
  const during = (sentence: string, work: () => Promise<unknown>) =>
    step(`${sentence} while a client writes`, () => client.during(work));
  await during('add new keys, and run `helm upgrade`', async () => {
    await createKeys(keys, current);
    await applyKeySecrets(keys, namespace);
    await release('upgrade', namespace, { ...current, recipient: age.recipient });
  });
  await step('run `helm test`', () => helm(namespace, 'test', 'secrets'));
  await during('replace all pods', () => restartAll(namespace));
  await during('delete each pod in turn', () => deleteInTurn(namespace));
  await during('evict all pods', () => evictAll(namespace));
}

/** Restores a backup of the installation in another namespace, and removes the first one. */
async function move(installation: Installation, current: Version, step: Step): Promise<void> {
  const { keys, rootToken, certificate, age } = installation;
  const request = (of: string, ...rest: [string, string, object?]) => requestInside(of, rootToken, ...rest);
  let archive = '';
  await step('run the backup of the CronJob', async () => {
    await request(namespace, 'POST', 'sys/mounts/restored-secret', { type: 'kv', options: { version: '2' } });
    await request(namespace, 'POST', secret, { data: { hello: 'world' } });
    archive = await runBackup(namespace);
    return archive;
  });
  await step('start PostgreSQL and RabbitMQ in an empty namespace', () =>
    prepareNamespace(restored, keys, certificate),
  );
  await step('restore the backup there', () => restoreInto(restored, namespace, archive, age.identity));
  await step('remove the first installation', () => removeNamespaces(clientNamespace, namespace));
  await step('install the chart where it was restored', () =>
    release('install', restored, { ...current, recipient: age.recipient }),
  );
  await step('read a secret from before, and run `helm test`', async () => {
    const { data } = await request(restored, 'GET', secret);
    if (data.data.hello !== 'world') throw new Error(`the secret is ${JSON.stringify(data)}`);
    return helm(restored, 'test', 'secrets');
  });
  await step('remove it', () => removeNamespaces(restored));
}
