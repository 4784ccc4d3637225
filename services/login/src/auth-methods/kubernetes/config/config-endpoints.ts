import { requireFound } from '@secrets/domain';
import { believedSettings } from '../../../rows/believed-settings.ts';
import { type MethodEndpoint, methodEndpoint } from '../../auth-method.ts';
import { configKey } from '../../targets/queries/stored-target.ts';
import type { KubernetesContext } from '../kubernetes-context.ts';
import { kubernetesTables } from '../kubernetes-tables.ts';
import { findKubernetesConfig } from '../queries/configs.ts';
import { KubernetesConfigBody, readKubernetesConfig, shownKubernetesConfig } from './config-settings.ts';
import { saveKubernetesConfig } from './save-config.ts';

const path = '/config';

/** `auth/<mount>/config` (docs/conventions/kubernetes.md#configuration). */
export const configEndpoints = (context: KubernetesContext): MethodEndpoint[] => [
  methodEndpoint({
    method: 'get',
    path,
    summary: 'Read the configuration of an auth mount, without the token of the reviewer',
    handle: async ({ mount }) => {
      const stored = requireFound(await findKubernetesConfig(context.db, mount.id));
      const settings = believedSettings(context.rows, configKey(kubernetesTables.configs, mount.id), stored);
      return { data: shownKubernetesConfig(readKubernetesConfig(settings)) };
    },
  }),
  methodEndpoint({
    method: 'post',
    path,
    summary: 'Replace the configuration of an auth mount',
    needs: 'create or update',
    body: KubernetesConfigBody,
    handle: async ({ mount, body, caller, warn }) =>
      (await saveKubernetesConfig(context, caller, mount.id, body)).forEach(warn),
  }),
];
