import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretsRequest } from './operations.ts';
import type { Stage } from './stage.ts';

/** Requests something about secrets or their mounts. It may be refused. */
export async function requestOfSecrets(stage: Stage, request: SecretsRequest): Promise<void> {
  const { act, mount } = request;
  switch (act) {
    case 'write':
      return void (await stage.secrets('POST', `/${mount}/data/${request.path}`, { data: { v: '1' } }));
    case 'metadata': {
      const body = { custom_metadata: request.metadata };
      return void (await stage.secrets('POST', `/${mount}/metadata/${request.path}`, body));
    }
    case 'drop':
      return void (await stage.secrets('DELETE', `/${mount}/metadata/${request.path}`));
    case 'rewrite': {
      const at = { mount, path: request.path };
      await requestOfSecrets(stage, { act: 'drop', ...at });
      return requestOfSecrets(stage, { act: 'write', ...at });
    }
    case 'mount':
      return void (await stage.secrets('POST', `/sys/mounts/${mount}`, { type: 'kv' }));
    case 'unmount':
      return unmount(stage, mount);
    case 'move':
      return void (await stage.secrets('POST', '/sys/remount', { from: mount, to: request.to }));
    default: {
      const body = { versions: [request.version] };
      return void (await stage.secrets('POST', `/${mount}/${act}/${request.path}`, body));
    }
  }
}

/** The secrets of the mount are deleted after the response. */
async function unmount({ secrets, db }: Stage, mount: string): Promise<void> {
  await secrets('DELETE', `/sys/mounts/${mount}`);
  while ((await db.query('select from secrets.mounts where disabled_at is not null')).length > 0)
    await sleep(2);
}
